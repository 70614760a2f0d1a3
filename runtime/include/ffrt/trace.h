//===- trace.h - when the tasks of a step ran -------------------*- C++ -*-===//
//
// With --trace, a program notes when each of its kernels, copies and
// communications starts and ends. Without it there is no Trace, and a task
// costs a comparison with null. Tasks have no names in the text of a step: the
// n-th one that starts is the n-th of RankProgram::tasks().
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_TRACE_H
#define FFRT_TRACE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ffrt {

/// What a task is called in all ranks and in the predicted trace of ffc, which
/// prints it as "conv2#0@3.1".
struct TaskId {
  const char *op; ///< operator that is computed or served
  int phase, point, instance;
};

/// The times of one rank's tasks in its last steps. Notes without allocating.
class Trace {
public:
  enum class Kind : uint8_t { kernel, copy, exchange, collective, wait };

  struct Record {
    int64_t start, end; ///< nanoseconds of the clock
    int32_t task;       ///< index into tasks(); of a wait, what it waits for
    Kind kind;
  };
  struct Step {
    int64_t number = -1; ///< from 0; -1: none
    int64_t start = 0, end = 0;
    std::vector<Record> records;
  };

  /// Steps that are kept, the last ones.
  static constexpr int kSteps = 10;

  using Clock = int64_t (*)();
  /// Nanoseconds of this machine's monotonic clock.
  static int64_t now();
  /// Nanoseconds for which the threads of this process ran, all together.
  static int64_t processor_time();

  explicit Trace(Clock clock = now) : clock(clock) {}

  /// Before the first step: what runs in every step, in its order.
  void prepare(std::vector<TaskId> tasks);
  void begin_step(int64_t number);
  /// Of the passes of a step the last one is kept.
  void begin_pass();
  /// Throws Error if other tasks ran than prepare() has been told.
  void end_step();

  /// Starts the next task of the step, and gives the number of its record.
  std::size_t start(Kind kind);
  /// Starts to wait for a task.
  std::size_t start_wait(std::size_t record);
  /// Waits for the device: on a GPU tasks that are timed run one by one.
  void stop(std::size_t record);

  const std::vector<TaskId> &tasks() const { return names; }
  /// In the order of time. The first step of a run, which warms up, is only
  /// among them if there is no other one.
  std::vector<const Step *> steps() const;

private:
  std::size_t add(Kind kind, std::size_t task);

  const Clock clock;
  std::vector<TaskId> names;
  Step kept[kSteps];
  Step *step = kept;
  std::size_t next = 0; ///< task
};

/// Notes a task from its construction to its destruction.
class TracedTask {
public:
  TracedTask(Trace *trace, Trace::Kind kind)
      : trace(trace), record(trace ? trace->start(kind) : 0) {}
  ~TracedTask() {
    if (trace)
      trace->stop(record);
  }
  TracedTask(const TracedTask &) = delete;
  TracedTask &operator=(const TracedTask &) = delete;

private:
  Trace *const trace;
  const std::size_t record;
};

} // namespace ffrt

#endif // FFRT_TRACE_H
