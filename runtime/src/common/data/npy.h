//===- npy.h - NumPy array files --------------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_NPY_H
#define FFRT_COMMON_NPY_H

#include "common/data/file.h"
#include "ffrt/tensor.h"

#include <string>
#include <vector>

namespace ffrt {

/// A mapped .npy file of version 1 to 3: little-endian, row-major, of a type in
/// DType. Throws Error naming the path.
class NpyFile {
public:
  explicit NpyFile(const std::string &path);
  DType type;
  std::vector<int64_t> shape;
  const unsigned char *data() const { return file.data() + offset; }
  const MappedFile &mapped() const { return file; }

private:
  MappedFile file;
  std::size_t offset = 0;
};

/// "[2, 3, 4]", of the shape of a file.
std::string to_string(const std::vector<int64_t> &shape);

/// What comes before the elements of a row-major array.
std::string npy_head(DType type, int rank, const Index &shape);

/// Writes a row-major array; `path` appears whole or not at all.
void write_npy(const std::string &path, DType type, int rank,
               const Index &shape, const void *data);

} // namespace ffrt

#endif // FFRT_COMMON_NPY_H
