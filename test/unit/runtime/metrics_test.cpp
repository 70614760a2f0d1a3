//===- metrics_test.cpp - how good a model is, over a set -----------------===//
#include "common/evaluate/metrics.h"
#include "common/program/validation.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace ffrt;

namespace {

/// Row-major, owned by `values`.
template <class T>
Tensor tensor(DType type, std::initializer_list<int64_t> shape,
              std::vector<T> &values) {
  Tensor t;
  t.data = values.data();
  t.type = type;
  t.rank = int(shape.size());
  int d = 0;
  for (int64_t extent : shape)
    t.shape[d++] = extent;
  t.global = t.shape;
  return t;
}

MetricValues of(const MetricSums &sums, EvaluationRows rows) {
  std::vector<std::string> all;
  for (const char *metric : metrics_of(rows))
    all.push_back(metric);
  return sums.values(all);
}

double value(const MetricValues &values, const std::string &metric) {
  for (const auto &[name, number] : values)
    if (name == metric)
      return number;
  ADD_FAILURE() << metric;
  return 0;
}

TEST(Metrics, ClassesWithoutWhatFillsTheBatch) {
  std::vector<float> loss = {1, 2, 3, 100};
  std::vector<int64_t> top = {0, 1, 2, 1, 1, 0, 7, 7};
  std::vector<int32_t> target = {0, 1, 2, 7};
  EvaluatedBatch batch;
  batch.loss = tensor(DType::f32, {4}, loss);
  batch.top = tensor(DType::i64, {4, 2}, top);
  batch.target = tensor(DType::i32, {4}, target);
  MetricSums sums(EvaluationRows::classes);
  sums.add(batch, 3, 4);
  const MetricValues found = of(sums, EvaluationRows::classes);
  EXPECT_DOUBLE_EQ(value(found, "loss"), 2);
  EXPECT_DOUBLE_EQ(value(found, "perplexity"), std::exp(2.0));
  EXPECT_DOUBLE_EQ(value(found, "accuracy"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(value(found, "top5"), 2.0 / 3);
  // Classes 0, 1 and 2: 1, 0 (predicted, and there, apart), 0.
  EXPECT_DOUBLE_EQ(value(found, "f1"), 1.0 / 3);
}

TEST(Metrics, RowsOfASample) {
  std::vector<float> loss = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> top = {0, 0, 0, 0, 0, 0};
  std::vector<int32_t> target = {0, 0, 0, 1, 1, 1};
  EvaluatedBatch batch;
  batch.loss = tensor(DType::f32, {2, 3}, loss);
  batch.top = tensor(DType::i64, {2, 3, 1}, top);
  batch.target = tensor(DType::i32, {2, 3}, target);
  MetricSums sums(EvaluationRows::classes);
  sums.add(batch, 1, 2);
  EXPECT_DOUBLE_EQ(value(of(sums, EvaluationRows::classes), "loss"), 2);
  EXPECT_DOUBLE_EQ(value(of(sums, EvaluationRows::classes), "accuracy"), 1);
}

TEST(Metrics, NumbersFarFromZero) {
  std::vector<double> prediction = {1e9 + 1, 1e9 + 2, 1e9 + 6},
                      target = {1e9, 1e9 + 2, 1e9 + 4};
  EvaluatedBatch batch;
  batch.prediction = tensor(DType::f64, {3, 1}, prediction);
  batch.target = tensor(DType::f64, {3, 1}, target);
  MetricSums sums(EvaluationRows::numbers);
  sums.add(batch, 3, 3);
  const MetricValues found = of(sums, EvaluationRows::numbers);
  EXPECT_DOUBLE_EQ(value(found, "loss"), 5.0 / 3);
  EXPECT_DOUBLE_EQ(value(found, "mse"), 5.0 / 3);
  EXPECT_DOUBLE_EQ(value(found, "rmse"), std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(value(found, "mae"), 1);
  EXPECT_DOUBLE_EQ(value(found, "r2"), 1 - 5.0 / 8);
}

TEST(Metrics, YesAndNoWithEqualScores) {
  std::vector<float> x = {2, 1, 1, -1}, target = {1, 1, 0, 0};
  EvaluatedBatch batch;
  batch.prediction = tensor(DType::f32, {4}, x);
  batch.target = tensor(DType::f32, {4}, target);
  MetricSums sums(EvaluationRows::logits);
  sums.add(batch, 2, 4);
  // All of these are yes.
  EXPECT_TRUE(std::isnan(value(of(sums, EvaluationRows::logits), "auc")));
  MetricSums both(EvaluationRows::logits);
  both.add(batch, 4, 4);
  const MetricValues found = of(both, EvaluationRows::logits);
  EXPECT_DOUBLE_EQ(value(found, "accuracy"), 0.75);
  EXPECT_DOUBLE_EQ(value(found, "f1"), 0.8);
  EXPECT_DOUBLE_EQ(value(found, "auc"), 3.5 / 4);
  const auto loss = [](double z) { return std::log1p(std::exp(z)); };
  EXPECT_NEAR(value(found, "loss"),
              (loss(-2) + loss(-1) + loss(1) + loss(-1)) / 4, 1e-7);
}

TEST(Metrics, LossesOfBatches) {
  std::vector<float> loss = {4};
  EvaluatedBatch batch;
  batch.loss = tensor(DType::f32, {}, loss);
  MetricSums sums(EvaluationRows::losses);
  sums.add(batch, 8, 8);
  loss[0] = 2;
  sums.add(batch, 8, 8);
  EXPECT_DOUBLE_EQ(value(of(sums, EvaluationRows::losses), "loss"), 3);
}

TEST(Metrics, WhatIsShown) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(default_metrics(EvaluationRows::classes, 1),
            (Names{"loss", "accuracy"}));
  EXPECT_EQ(default_metrics(EvaluationRows::classes, 64),
            (Names{"loss", "perplexity"}));
  EXPECT_TRUE(is_error("perplexity"));
  EXPECT_FALSE(is_error("r2"));
  Validated validated;
  validated.step = 938;
  validated.metrics = {{"loss", 0.5}, {"accuracy", 0.75}};
  validated.samples = 10000;
  validated.seconds = 0.41;
  EXPECT_EQ(to_string(validated),
            "validation after step 938: loss 0.5  accuracy 0.75  (10000 "
            "samples in 0.41 s)");
  validated.is_best = true;
  EXPECT_NE(to_string(validated).find("; the best so far)"), std::string::npos);
}

} // namespace
