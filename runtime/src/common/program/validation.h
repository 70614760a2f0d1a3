//===- validation.h - evaluating while training -----------------*- C++ -*-===//
#ifndef FFRT_COMMON_VALIDATION_H
#define FFRT_COMMON_VALIDATION_H

#include "common/checkpoint/best.h"
#include "common/data/source.h"
#include "common/evaluate/batch_rows.h"
#include "common/evaluate/metrics.h"
#include "common/program/instance.h"
#include "common/program/progress.h"
#include "common/program/validation_flags.h"

#include <memory>

namespace ffrt {

/// What a validation has found, on rank 0.
struct Validated {
  int64_t step = 0; ///< after which
  double epoch = 0;
  MetricValues metrics;
  int64_t samples = 0;
  double seconds = 0;
  bool is_best = false; ///< so far
};

/// Evaluates what is trained between two steps: every sample of a set once.
class Validation {
public:
  /// Collective. `dataset` is that of the training, of which a share may be
  /// held out. `best`: of an earlier run, if it has one. What is given must
  /// outlive this. Throws Stop.
  Validation(Comm &comm, const Group &world, const Evaluation &evaluation,
             Instance &training, const Context &context,
             const ValidationFlags &flags, const std::string &dataset,
             const Saved &saved, const Progress &progress, const Best &best);

  /// Is there one after this step, which counts from 1?
  bool is_due(int64_t step, int64_t last_step) const;
  /// Collective, when no step is running. On all ranks it says whether this is
  /// the best one. Throws Stop, or Error where data cannot be read.
  Validated run(int64_t step);

  const Best &best() const { return so_far; }
  /// Where the run goes back to.
  void set_best(const Best &best) {
    so_far = best.metric == flags.best ? best : Best();
    so_far.metric = flags.best;
  }
  /// True when it was best too long ago.
  bool gives_up() const {
    return flags.patience > 0 && so_far.since >= flags.patience;
  }

private:
  void evaluate(MetricSums &sums);
  /// Is this better than what was best? On all ranks as on rank 0.
  bool compare(int64_t step, const MetricSums &sums);

  Comm &comm;
  const Group &world;
  const Evaluation &evaluation;
  const ValidationFlags flags;
  const Progress &progress;
  Context context;
  BatchRows rows;
  std::unique_ptr<Source> source;
  std::unique_ptr<Instance> instance;
  std::vector<std::string> metrics;
  int64_t samples = 0; ///< whole batches only, where rows are no samples
  Best so_far;
};

/// For --info: how much memory --validate takes besides; empty where the
/// program does not train. `evaluation`: null if it has none.
std::string describe_evaluation(const ProgramInfo &info,
                                const Evaluation *evaluation);

/// "validation after step 938: loss 0.0712  accuracy 0.9781  (10000 samples in
/// 0.41 s)", and whether it is the best so far.
std::string to_string(const Validated &validated);

} // namespace ffrt

#endif // FFRT_COMMON_VALIDATION_H
