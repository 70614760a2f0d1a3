//===- stored_tensors.h - the tensors of several files ----------*- C++ -*-===//
#ifndef FFRT_COMMON_STORED_TENSORS_H
#define FFRT_COMMON_STORED_TENSORS_H

#include "common/checkpoint/safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace ffrt {

/// Throws Error unless a value that is stored in `where` has the shape of the
/// global value that `t` is a box of.
void expect_stored_shape(const Tensor &t, const std::vector<int64_t> &stored,
                         const std::string &where);

/// As load_box(), where floats of any width become those of `t`. Throws Error
/// for other types than that of `t`.
void load_stored(const Tensor &t, const unsigned char *data, DType type,
                 const std::string &where);

/// Safetensors files, whose names differ.
class StoredTensors {
public:
  /// Throws Error naming the path of a file that is damaged, or has a tensor
  /// that another one has.
  explicit StoredTensors(const std::vector<std::string> &paths);

  /// Fills a box. Throws Error naming the tensor.
  void load(const std::string &name, const Tensor &t) const;

  /// All of a tensor, row-major; null: there is none of that name.
  const unsigned char *find(const std::string &name,
                            StoredTensor *tensor) const;

private:
  struct Place {
    std::size_t file;
    StoredTensor tensor;
  };
  std::vector<std::string> paths;
  std::vector<SafetensorsFile> files;
  std::map<std::string, Place> places;
};

} // namespace ffrt

#endif // FFRT_COMMON_STORED_TENSORS_H
