//===- metrics.h - how good a model is, over a set --------------*- C++ -*-===//
#ifndef FFRT_COMMON_METRICS_H
#define FFRT_COMMON_METRICS_H

#include "ffrt/program.h"
#include "ffrt/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// Metrics and their values, in the order in which they were asked for.
using MetricValues = std::vector<std::pair<std::string, double>>;

/// What can be said of rows of this kind:
///
///   classes  loss (cross-entropy), accuracy, top5, perplexity, f1
///   numbers  loss, mse (the same), rmse, mae, r2
///   logits   loss (binary cross-entropy), accuracy, f1, auc
///   losses   loss
///
/// A prediction of yes is a logit above 0, a target of yes one above 0.5. f1
/// of classes is the mean of all classes that are targets or predictions
/// ("macro"). auc is the area under the curve of true and false positives, with
/// ties by halves; NaN where all targets are the same. r2 is 1 - squares of
/// errors / squares of distances from the mean target.
const std::vector<const char *> &metrics_of(EvaluationRows rows);
/// What is shown if nothing is asked for: of classes the accuracy, or, with
/// `rows_per_sample` over 1, the perplexity.
std::vector<std::string> default_metrics(EvaluationRows rows,
                                         int64_t rows_per_sample);
/// True for those of which less is better.
bool is_error(const std::string &metric);

/// The tensors of a batch, whole and row-major; others have no data.
struct EvaluatedBatch {
  Tensor loss, top, target, prediction;
};

/// Adds up over batches, in double precision.
class MetricSums {
public:
  explicit MetricSums(EvaluationRows rows);
  ~MetricSums();
  MetricSums(const MetricSums &) = delete;
  MetricSums &operator=(const MetricSums &) = delete;

  /// The first `samples` of a batch of `batch_size`.
  void add(const EvaluatedBatch &batch, int64_t samples, int64_t batch_size);
  MetricValues values(const std::vector<std::string> &metrics) const;

private:
  class Sums;
  class ClassSums;
  class NumberSums;
  class LogitSums;
  class LossSums;
  std::unique_ptr<Sums> sums;
};

} // namespace ffrt

#endif // FFRT_COMMON_METRICS_H
