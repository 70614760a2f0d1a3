//===- feeder.h - the inputs of the next step -------------------*- C++ -*-===//
#ifndef FFRT_COMMON_FEEDER_H
#define FFRT_COMMON_FEEDER_H

#include "common/data/source.h"
#include "common/device/input_buffers.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace ffrt {

/// Refills the input buffers before every step. A thread prepares the next
/// batch of a data set in buffers of its own while a step runs; batches too
/// small to be worth it, and data that are computed, are filled in place where
/// the host can reach it, and data that never change are kept. Calls of next()
/// allocate nothing.
class Feeder {
public:
  /// `inputs[i]` is the index of slot i in info.inputs. `source` and the slots
  /// must outlive the feeder, which reads the steps [first, steps).
  Feeder(Source &source, const std::vector<InputSlot> &slots,
         const std::vector<std::size_t> &inputs, int64_t first, int64_t steps);
  ~Feeder();
  Feeder(const Feeder &) = delete;
  Feeder &operator=(const Feeder &) = delete;

  /// Fills the slots with the data of the next step, the first at first.
  /// Throws Error, also for what the thread met.
  void next();

  /// Seconds that next() has waited for what is read from a data set.
  double waited() const { return seconds; }

private:
  void fill(const std::vector<Tensor> &tensors, int64_t step);
  /// The thread: stages one step after the other, each when the one before has
  /// been taken.
  void stage_all();

  Source &source;
  std::vector<std::size_t> inputs;
  std::vector<Tensor> slots;
  std::optional<InputBuffers> buffers; ///< absent: slots are filled in place
  double seconds = 0;
  const int64_t first, steps;
  int64_t taken; ///< steps given to next(), and those before the first

  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  int64_t ready; ///< steps staged, at most one more than taken
  bool stop = false;
  std::string cause; ///< what the thread met
};

} // namespace ffrt

#endif // FFRT_COMMON_FEEDER_H
