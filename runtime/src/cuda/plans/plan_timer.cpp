//===- plan_timer.cpp - how long work takes on the device -----------------===//
#include "cuda/plans/plan_timer.h"

#include "cuda/profiling/timed_event.h"
#include "ffrt/cuda/check.h"

#include <algorithm>
#include <cmath>

namespace ffrt::cuda {

void *TimedOperands::add(std::size_t bytes) {
  // A small number, of f32 and of two bf16 or f16.
  constexpr int kByte = 0x3c;
  memory.emplace_back(bytes);
  void *const data = memory.back().as<void>();
  check(cudaMemsetAsync(data, kByte, bytes, device().stream()),
        "cudaMemsetAsync");
  return data;
}

void TimedTensors::place() {
  if (is_placed)
    return;
  for (std::vector<Tensor> *tensors : {&operands, &results})
    for (Tensor &tensor : *tensors)
      if (tensor.data)
        tensor.data =
            memory.add(std::size_t(tensor.span()) * size_of(tensor.type));
  is_placed = true;
}

double TimedTensors::seconds_of(
    const std::function<void(const Tensor *, const Tensor *)> &work) {
  place();
  return cuda::seconds_of([&] { work(in(), out()); });
}

double seconds_of(const std::function<void()> &work) {
  TimedEvent begin, end;
  auto measure = [&](int times) {
    begin.record();
    for (int i = 0; i < times; ++i)
      work();
    end.record();
    device().finish();
    return end.seconds_since(begin) / times;
  };
  // Code is loaded by the first call.
  measure(1);
  // As many calls as take a millisecond, but a few at least and not too many.
  constexpr double kTime = 1e-3;
  const int times = int(std::clamp(std::ceil(kTime / measure(1)), 1.0, 20.0));
  double least = measure(times);
  for (int round = 0; round < 2; ++round)
    least = std::min(least, measure(times));
  return least;
}

} // namespace ffrt::cuda
