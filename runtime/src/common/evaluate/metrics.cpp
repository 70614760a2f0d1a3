//===- metrics.cpp - how good a model is, over a set ----------------------===//
#include "common/evaluate/metrics.h"

#include "common/kernels/check.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace ffrt {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Element i of a tensor of numbers of any type.
double number(const Tensor &t, int64_t i) {
  switch (t.type) {
  case DType::f32:
    return t.as<float>()[i];
  case DType::f64:
    return t.as<double>()[i];
  case DType::i32:
    return t.as<int32_t>()[i];
  case DType::i64:
    return double(t.as<int64_t>()[i]);
  case DType::u8:
  case DType::boolean:
    return t.as<uint8_t>()[i];
  default:
    break;
  }
  throw Error(std::string("evaluation: expected numbers, found ") +
              name_of(t.type));
}

/// How often a class was predicted rightly, was predicted, and was there.
struct Hits {
  int64_t right = 0, predicted = 0, there = 0;
  double f1() const {
    return predicted + there > 0
               ? 2.0 * double(right) / double(predicted + there)
               : 0.0;
  }
};

} // namespace

const std::vector<const char *> &metrics_of(EvaluationRows rows) {
  static const std::vector<const char *> classes = {"loss", "accuracy", "top5",
                                                    "perplexity", "f1"},
                                         numbers = {"loss", "mse", "rmse",
                                                    "mae", "r2"},
                                         logits = {"loss", "accuracy", "f1",
                                                   "auc"},
                                         losses = {"loss"};
  switch (rows) {
  case EvaluationRows::classes:
    return classes;
  case EvaluationRows::numbers:
    return numbers;
  case EvaluationRows::logits:
    return logits;
  case EvaluationRows::losses:
    break;
  }
  return losses;
}

std::vector<std::string> default_metrics(EvaluationRows rows,
                                         int64_t rows_per_sample) {
  switch (rows) {
  case EvaluationRows::classes:
    return {"loss", rows_per_sample > 1 ? "perplexity" : "accuracy"};
  case EvaluationRows::numbers:
    return {"loss", "mae"};
  case EvaluationRows::logits:
    return {"loss", "accuracy", "auc"};
  case EvaluationRows::losses:
    break;
  }
  return {"loss"};
}

bool is_error(const std::string &metric) {
  for (const char *error : {"loss", "perplexity", "mse", "rmse", "mae"})
    if (metric == error)
      return true;
  return false;
}

class MetricSums::Sums {
public:
  virtual ~Sums() = default;
  /// The first so many rows.
  virtual void add(const EvaluatedBatch &batch, int64_t rows) = 0;
  virtual double value(const std::string &metric) const = 0;
  /// One row of which all are made.
  virtual const Tensor &rows_of(const EvaluatedBatch &batch) const {
    return batch.target;
  }

protected:
  double mean() const { return count > 0 ? loss / double(count) : kNaN; }
  double loss = 0; ///< of all rows
  int64_t count = 0;
};

class MetricSums::ClassSums final : public Sums {
public:
  void add(const EvaluatedBatch &batch, int64_t rows) override {
    const int64_t k = batch.top.shape[batch.top.rank - 1];
    for (int64_t row = 0; row < rows; ++row) {
      const auto target = int64_t(number(batch.target, row));
      loss += number(batch.loss, row);
      const int64_t *top = batch.top.as<int64_t>() + row * k;
      first += top[0] == target;
      among += std::find(top, top + k, target) != top + k;
      Hits &there = by_class[target];
      ++there.there;
      there.right += top[0] == target;
      ++by_class[top[0]].predicted;
    }
    count += rows;
  }

  double value(const std::string &metric) const override {
    if (metric == "loss")
      return mean();
    if (metric == "perplexity")
      return std::exp(mean());
    if (metric == "accuracy")
      return double(first) / double(count);
    if (metric == "top5")
      return double(among) / double(count);
    double sum = 0;
    for (const auto &entry : by_class)
      sum += entry.second.f1();
    return sum / double(by_class.size());
  }

private:
  int64_t first = 0, among = 0;
  std::map<int64_t, Hits> by_class;
};

class MetricSums::NumberSums final : public Sums {
public:
  void add(const EvaluatedBatch &batch, int64_t rows) override {
    for (int64_t row = 0; row < rows; ++row) {
      const double target = number(batch.target, row),
                   error = number(batch.prediction, row) - target;
      loss += error * error;
      absolute += std::abs(error);
      // Welford's: targets may be far from 0.
      ++count;
      const double step = target - average;
      average += step / double(count);
      spread += step * (target - average);
    }
  }

  double value(const std::string &metric) const override {
    if (metric == "rmse")
      return std::sqrt(mean());
    if (metric == "mae")
      return absolute / double(count);
    if (metric == "r2")
      return spread > 0 ? 1 - loss / spread : kNaN;
    return mean();
  }

private:
  double absolute = 0, average = 0, spread = 0;
};

class MetricSums::LogitSums final : public Sums {
public:
  void add(const EvaluatedBatch &batch, int64_t rows) override {
    for (int64_t row = 0; row < rows; ++row) {
      const double x = number(batch.prediction, row),
                   target = number(batch.target, row);
      loss +=
          std::max(x, 0.0) - x * target + std::log1p(std::exp(-std::abs(x)));
      const bool is = target > 0.5, said = x > 0;
      right += is == said;
      yes.there += is;
      yes.predicted += said;
      yes.right += is && said;
      scores.emplace_back(float(x), is);
    }
    count += rows;
  }

  double value(const std::string &metric) const override {
    if (metric == "loss")
      return mean();
    if (metric == "accuracy")
      return double(right) / double(count);
    return metric == "f1" ? yes.f1() : auc();
  }

private:
  /// By the sum of the ranks of positives (Mann and Whitney).
  double auc() const {
    std::vector<std::pair<float, bool>> sorted = scores;
    std::sort(sorted.begin(), sorted.end());
    double ranks = 0;
    for (std::size_t first = 0, last; first < sorted.size(); first = last) {
      std::size_t positives = 0;
      for (last = first;
           last < sorted.size() && sorted[last].first == sorted[first].first;
           ++last)
        positives += sorted[last].second;
      // Equal scores share the mean of their ranks, which count from 1.
      ranks += double(positives) * (double(first) + double(last) + 1) / 2;
    }
    const auto there = double(yes.there), not_there = double(count) - there;
    return (ranks - there * (there + 1) / 2) / (there * not_there);
  }

  int64_t right = 0;
  Hits yes;
  std::vector<std::pair<float, bool>> scores;
};

class MetricSums::LossSums final : public Sums {
public:
  void add(const EvaluatedBatch &batch, int64_t) override {
    loss += number(batch.loss, 0);
    ++count;
  }
  double value(const std::string &) const override { return mean(); }
  const Tensor &rows_of(const EvaluatedBatch &batch) const override {
    return batch.loss;
  }
};

MetricSums::MetricSums(EvaluationRows rows) {
  switch (rows) {
  case EvaluationRows::classes:
    sums = std::make_unique<ClassSums>();
    break;
  case EvaluationRows::numbers:
    sums = std::make_unique<NumberSums>();
    break;
  case EvaluationRows::logits:
    sums = std::make_unique<LogitSums>();
    break;
  case EvaluationRows::losses:
    sums = std::make_unique<LossSums>();
    break;
  }
}

MetricSums::~MetricSums() = default;

void MetricSums::add(const EvaluatedBatch &batch, int64_t samples,
                     int64_t batch_size) {
  const int64_t rows = sums->rows_of(batch).elements();
  sums->add(batch, rows / batch_size * samples);
}

MetricValues MetricSums::values(const std::vector<std::string> &metrics) const {
  MetricValues result;
  for (const std::string &metric : metrics)
    result.emplace_back(metric, sums->value(metric));
  return result;
}

} // namespace ffrt
