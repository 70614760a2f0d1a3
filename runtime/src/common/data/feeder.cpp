//===- feeder.cpp - the inputs of the next step ---------------------------===//
#include "common/data/feeder.h"

#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "ffrt/error.h"

#include <chrono>
#include <omp.h>

namespace ffrt {

namespace {

/// From here on a thread is worth its switches.
constexpr int64_t kThreadBytes = 64 << 10;

} // namespace

Feeder::Feeder(Source &source, const std::vector<InputSlot> &input_slots,
               const std::vector<std::size_t> &inputs, int64_t first,
               int64_t steps)
    : source(source), inputs(inputs), first(first), steps(steps), taken(first),
      ready(first) {
  int64_t bytes = 0;
  for (const InputSlot &slot : input_slots) {
    slots.push_back(slot.tensor);
    bytes += bytes_of(slot.tensor);
  }
  const bool threaded =
      source.samples() > 0 && bytes >= kThreadBytes && steps > first + 1;
  if (!source.constant() && !threaded && target_is_host())
    return;
  buffers.emplace(slots);
  if (threaded && !source.constant())
    thread = std::thread([this] { stage_all(); });
}

Feeder::~Feeder() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  changed.notify_all();
  thread.join();
}

void Feeder::fill(const std::vector<Tensor> &tensors, int64_t step) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    source.fill(step, inputs[i], tensors[i]);
}

void Feeder::stage_all() {
  // The cores belong to the step.
  omp_set_num_threads(1);
  for (int64_t step = first; step < steps; ++step) {
    std::string failure;
    try {
      fill(buffers->host(), step);
    } catch (const std::exception &e) {
      failure = e.what();
    }
    std::unique_lock<std::mutex> lock(mutex);
    cause = failure;
    ready = step + 1;
    changed.notify_all();
    changed.wait(lock, [&] { return stop || taken == ready; });
    if (stop || !cause.empty())
      return;
  }
}

void Feeder::next() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto has_data = [&] {
    if (source.samples() > 0)
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (!buffers) {
    fill(slots, taken++);
    return has_data();
  }
  if (source.constant() && taken > first) {
    buffers->send_again();
    return;
  }
  std::unique_lock<std::mutex> lock(mutex);
  if (thread.joinable())
    changed.wait(lock, [&] { return ready > taken; });
  else
    fill(buffers->host(), taken);
  has_data();
  if (!cause.empty())
    throw Error(cause);
  buffers->send();
  ++taken;
  changed.notify_all();
}

} // namespace ffrt
