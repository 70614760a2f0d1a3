//===- saved_values.h - values that somebody has left in files --*- C++ -*-===//
#ifndef FFRT_COMMON_SAVED_VALUES_H
#define FFRT_COMMON_SAVED_VALUES_H

#include "ffrt/tensor.h"

#include <memory>
#include <string>

namespace ffrt {

/// Parameters, and perhaps other values, by name.
class SavedValues {
public:
  virtual ~SavedValues() = default;
  /// Fills `t`, in the host's memory, with its box of a value of that name,
  /// converted to its type. Throws Error where there is none, or one of another
  /// shape.
  virtual void load(const std::string &name, bool parameter,
                    const Tensor &t) const = 0;
};

/// Parameters in `path`: the folder of a dump (param/*.npy), a safetensors
/// file, a folder of such files, a checkpoint, or the folder of a run's
/// checkpoints, of which the newest is taken. `averages`: of a checkpoint that
/// has running means, those in place of their parameters. Throws Error.
std::unique_ptr<SavedValues> open_parameters(const std::string &path,
                                             bool averages = false);

} // namespace ffrt

#endif // FFRT_COMMON_SAVED_VALUES_H
