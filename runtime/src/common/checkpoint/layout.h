//===- layout.h - the files that hold the state -----------------*- C++ -*-===//
#ifndef FFRT_COMMON_LAYOUT_H
#define FFRT_COMMON_LAYOUT_H

#include "common/checkpoint/global_state.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// A safetensors file of a checkpoint.
struct StateFile {
  std::string name;
  std::string head;  ///< its first bytes
  std::size_t bytes; ///< of the whole file
};

/// Where a value lies.
struct Placement {
  std::size_t file;   ///< into Layout::files
  std::size_t offset; ///< of its elements in the file, in bytes
};

/// Is the value the running mean of a parameter? Its name is the parameter's
/// with "/ema".
bool is_average(const std::string &name, bool parameter);
/// What a value is called in its file: a running mean as the parameter.
std::string stored_name(const std::string &name, bool parameter);

/// The files of a checkpoint, the same on all ranks: parameters in
/// model.safetensors, running means of them in ema.safetensors, all else in
/// optimizer.safetensors, or, where one of them
/// would be larger than `most` bytes, in files NAME-00001-of-00003.safetensors
/// with NAME.safetensors.index.json, which says what is where, as Hugging
/// Face's libraries read them.
struct Layout {
  std::vector<StateFile> files;
  std::vector<Placement> places; ///< by value
  /// Names and texts.
  std::vector<std::pair<std::string, std::string>> indices;
};
Layout make_layout(const std::vector<GlobalValue> &values,
                   std::size_t most = std::size_t(4) << 30);

} // namespace ffrt

#endif // FFRT_COMMON_LAYOUT_H
