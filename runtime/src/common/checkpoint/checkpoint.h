//===- checkpoint.h - what a run goes on from -------------------*- C++ -*-===//
#ifndef FFRT_COMMON_CHECKPOINT_H
#define FFRT_COMMON_CHECKPOINT_H

#include "common/checkpoint/global_state.h"
#include "common/checkpoint/record.h"
#include "common/checkpoint/saved_values.h"
#include "common/checkpoint/stored_tensors.h"

#include <string>
#include <vector>

namespace ffrt {

/// A complete checkpoint. The strategy, the number of ranks and the target of
/// the program that wrote it do not matter. Members throw Error.
class Checkpoint final : public SavedValues {
public:
  explicit Checkpoint(const std::string &path);

  const std::string &path() const { return folder; }
  const Record &record() const { return read; }
  /// Of all steps so far.
  std::vector<double> losses() const;

  /// Fails with the first difference, in the order of `values`, unless it has
  /// these values and no others.
  void expect_values(const std::vector<GlobalValue> &values) const;
  /// Fails where values are not what was written. Every rank of `ranks` looks
  /// at some.
  void verify(int rank, int ranks) const;
  void load(const std::string &name, bool parameter,
            const Tensor &t) const override;

private:
  const StoredTensors &tensors_of(const std::string &name,
                                  bool parameter) const;

  const std::string folder;
  const Record read;
  const StoredTensors parameters, averages, others;
};

} // namespace ffrt

#endif // FFRT_COMMON_CHECKPOINT_H
