//===- safetensors.h - files of named tensors -------------------*- C++ -*-===//
//
// The format of Hugging Face: 8 bytes with the length of the head, the head,
// which is a JSON object with type, shape and place of every tensor, and their
// elements, row-major and little-endian.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_SAFETENSORS_H
#define FFRT_COMMON_SAFETENSORS_H

#include "common/data/file.h"
#include "ffrt/tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ffrt {

/// A tensor in a file.
struct StoredTensor {
  std::string type; ///< as the format names it: "F32", "BF16"...
  std::vector<int64_t> shape;
  std::size_t begin = 0, end = 0; ///< bytes, from the end of the head on
};

/// The format's name of an element type.
const char *stored_type(DType type);
/// The reverse. Throws Error for a type that programs do not have, which names
/// `what`.
DType type_of(const StoredTensor &tensor, const std::string &what);

/// A mapped file. Throws Error naming the path where it is damaged: every
/// tensor lies within the file and has the bytes of its type and shape.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::string &path);
  const std::map<std::string, StoredTensor> &tensors() const { return index; }
  const unsigned char *data(const StoredTensor &tensor) const {
    return file.data() + head + tensor.begin;
  }

private:
  MappedFile file;
  std::size_t head = 0; ///< bytes before the elements
  std::map<std::string, StoredTensor> index;
};

/// Everything before the elements of a file with these tensors: a multiple of 8
/// bytes.
std::string
safetensors_head(const std::map<std::string, StoredTensor> &tensors);

} // namespace ffrt

#endif // FFRT_COMMON_SAFETENSORS_H
