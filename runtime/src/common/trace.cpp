//===- trace.cpp - when the tasks of a step ran ---------------------------===//
#include "ffrt/trace.h"

#include "common/target.h"
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

void Trace::prepare(std::vector<TaskId> tasks) {
  names = std::move(tasks);
  // At most one wait for every task.
  for (Step &each : kept)
    each.records.reserve(2 * names.size());
}

void Trace::begin_step(int64_t number) {
  step = kept + number % kSteps;
  step->number = number;
  begin_pass();
  step->start = clock();
}

void Trace::begin_pass() {
  step->records.clear();
  next = 0;
}

void Trace::end_step() {
  step->end = clock();
  if (next != names.size())
    throw Error("trace: expected " + std::to_string(names.size()) +
                " tasks in a step, found " + std::to_string(next));
}

std::size_t Trace::add(Kind kind, std::size_t task) {
  step->records.push_back({0, 0, int32_t(task), kind});
  Record &record = step->records.back();
  record.start = record.end = clock();
  return step->records.size() - 1;
}

std::size_t Trace::start(Kind kind) { return add(kind, next++); }

std::size_t Trace::start_wait(std::size_t record) {
  return add(Kind::wait, std::size_t(step->records[record].task));
}

void Trace::stop(std::size_t record) {
  finish_target();
  step->records[record].end = clock();
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
