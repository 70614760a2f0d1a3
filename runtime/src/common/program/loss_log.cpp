//===- loss_log.cpp - the losses of steps, read when asked for ------------===//
#include "common/program/loss_log.h"

#include "common/device/target.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ffrt {

namespace {

constexpr std::size_t kMost = 256;         ///< on their way
constexpr int64_t kMostReserved = 1 << 20; ///< losses

double value_of(const Tensor &t) {
  if (t.type == DType::f64)
    return *t.as<double>();
  return double(*t.as<float>());
}

} // namespace

LossLog::LossLog(int micro_batches, int64_t steps, std::vector<double> earlier)
    : micro_batches(micro_batches), memory(host_memory(kMost * sizeof(double))),
      arrived(std::move(earlier)) {
  coming.reserve(kMost);
  arrived.reserve(std::size_t(std::min(steps, kMostReserved)));
}

void LossLog::add(const Tensor &loss) {
  if (coming.size() == kMost)
    arrive();
  Tensor here = loss;
  here.data = static_cast<double *>(memory.get()) + coming.size();
  start_reading(here.data, loss.data, size_of(loss.type));
  coming.push_back(here);
}

const std::vector<double> &LossLog::of_steps() {
  arrive();
  return arrived;
}

void LossLog::arrive() {
  finish_target();
  for (const Tensor &loss : coming) {
    sum += value_of(loss) / micro_batches;
    if (++added < micro_batches)
      continue;
    arrived.push_back(sum);
    if (bad == 0 && !std::isfinite(sum))
      bad = int64_t(arrived.size());
    sum = 0;
    added = 0;
  }
  coming.clear();
}

} // namespace ffrt
