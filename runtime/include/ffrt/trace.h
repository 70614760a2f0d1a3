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
#include <memory>
#include <utility>
#include <vector>

namespace ffrt {

/// What a task is called in all ranks and in the predicted trace of ffc, which
/// prints it as "conv2#0@3.1".
struct TaskId {
  const char *op; ///< operator that is computed or served
  int phase, point, instance;
};

class Timestamps;

/// The times of one rank's tasks in its last steps. Notes without allocating.
/// Tasks are noted as they are started; when they ran is known when the device
/// is done with the step. What is replayed is noted once.
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

  /// The clock of a host that runs tasks; a GPU has its own.
  explicit Trace(Clock clock = now);
  ~Trace();

  /// Before the first step: what runs in every step, in its order.
  void prepare(std::vector<TaskId> tasks);
  /// Of kernels and copies, in their order: those that a GPU starts together
  /// have shares of their time by these numbers. Else the shares are equal.
  void weigh(std::vector<double> numbers) { weights = std::move(numbers); }
  void begin_step();
  /// Part of what is replayed. Of the micro-batches of a step the last one is
  /// noted.
  void begin_micro_batch();
  /// Behind the last task, part of what is replayed. Throws Error if other
  /// tasks ran than prepare() has been told.
  void end_step();
  /// Waits for the device. The step, of this number from 0 on, was started or
  /// replayed as it was noted last.
  void keep(int64_t number);

  /// Starts the next task of the step, and gives the number of its record.
  std::size_t start(Kind kind);
  /// Starts to wait for a task.
  std::size_t start_wait(std::size_t record);
  void stop(std::size_t record);

  const std::vector<TaskId> &tasks() const { return names; }
  /// In the order of time. The first step of a run, which warms up, is only
  /// among them if there is no other one.
  std::vector<const Step *> steps() const;

private:
  /// A record, by numbers of timestamps.
  struct Noted {
    int start, end;
    int32_t task;
    Kind kind;
    double weight;
  };
  double next_weight();
  std::size_t add(Kind kind, std::size_t task, double weight);

  const std::unique_ptr<Timestamps> timestamps;
  std::vector<TaskId> names;
  std::vector<Noted> noted;
  std::vector<double> weights;
  std::size_t next = 0;  ///< task
  std::size_t local = 0; ///< kernels and copies before it
  int last = 0;          ///< timestamp of the step
  Step kept[kSteps];
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
