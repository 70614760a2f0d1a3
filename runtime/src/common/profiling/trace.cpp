//===- trace.cpp - when the tasks of a step ran ---------------------------===//
#include "ffrt/trace.h"

#include "common/profiling/timestamps.h"
#include "ffrt/error.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>

namespace ffrt {

int64_t Trace::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

int64_t Trace::processor_time() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

Trace::Trace(Clock clock) : timestamps(std::make_unique<Timestamps>(clock)) {}
Trace::~Trace() = default;

void Trace::prepare(std::vector<TaskId> tasks) {
  names = std::move(tasks);
  // At most one wait for every task, after which that ends again.
  noted.reserve(2 * names.size());
  timestamps->reserve(5 * names.size() + 3);
  for (Step &each : kept)
    each.records.reserve(2 * names.size());
}

void Trace::begin_step() {
  timestamps->restart(0);
  timestamps->record();
}

void Trace::begin_micro_batch() {
  timestamps->restart(1);
  timestamps->record();
  noted.clear();
  next = local = 0;
}

void Trace::end_step() {
  last = timestamps->record();
  if (next != names.size())
    throw Error("trace: expected " + std::to_string(names.size()) +
                " tasks in a step, found " + std::to_string(next));
}

void Trace::keep(int64_t number) {
  const std::vector<int64_t> &times = timestamps->times();
  auto time = [&](int timestamp) { return times[std::size_t(timestamp)]; };
  Step &step = kept[number % kSteps];
  step.number = number;
  step.start = time(0);
  step.end = time(last);
  step.records.clear();
  for (const Noted &each : noted)
    step.records.push_back(
        {time(each.start), time(each.end), each.task, each.kind});
}

double Trace::next_weight() {
  const std::size_t i = local++;
  return i < weights.size() ? weights[i] : 1;
}

std::size_t Trace::add(Kind kind, std::size_t task, double weight) {
  const int timestamp = timestamps->begin();
  noted.push_back({timestamp, timestamp, int32_t(task), kind, weight});
  return noted.size() - 1;
}

std::size_t Trace::start(Kind kind) {
  const bool is_local = kind == Kind::kernel || kind == Kind::copy;
  return add(kind, next++, is_local ? next_weight() : 0);
}

std::size_t Trace::start_wait(std::size_t record) {
  return add(Kind::wait, std::size_t(noted[record].task), 0);
}

void Trace::stop(std::size_t record) {
  noted[record].end = timestamps->record(noted[record].weight);
}

std::vector<const Trace::Step *> Trace::steps() const {
  std::vector<const Step *> result;
  for (const Step &each : kept)
    if (each.number >= 0)
      result.push_back(&each);
  std::sort(result.begin(), result.end(),
            [](const Step *a, const Step *b) { return a->number < b->number; });
  if (result.size() > 1 && result.front()->number == 0)
    result.erase(result.begin());
  return result;
}

} // namespace ffrt
