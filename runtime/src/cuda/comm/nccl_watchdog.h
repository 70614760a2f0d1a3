//===- nccl_watchdog.h - who waits for whom ---------------------*- C++ -*-===//
#ifndef FFRT_CUDA_NCCL_WATCHDOG_H
#define FFRT_CUDA_NCCL_WATCHDOG_H

#include "ffrt/cuda/device.h"

#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ffrt::cuda {

/// A thread that looks after communicators and streams. All members may be
/// called while it runs.
class Watchdog {
public:
  /// The thread calls fail(task, cause) when NCCL has an error, and late(task)
  /// when a task has not ended in time; neither returns. The device of this
  /// process has been chosen.
  using Fail = std::function<void(const char *task, const char *cause)>;
  using Late = std::function<void(const char *task)>;
  Watchdog(double deadline_seconds, Fail fail, Late late);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  void add(ncclComm_t communicator);
  /// The stream comes to a task, now or whenever it is replayed; `task` lives
  /// as long as this.
  void begins(const char *task, cudaStream_t stream);
  /// What the stream was given is to end within the deadline. Not to be
  /// captured.
  void started(cudaStream_t stream);

private:
  using Clock = std::chrono::steady_clock;
  /// Work that has a deadline.
  struct Work {
    cudaEvent_t done = nullptr;
    Clock::time_point start;
  };

  void run();
  /// An error of NCCL, or nothing.
  std::string error() const;
  bool is_late() const;
  /// Forgets work that has ended.
  void forget();

  const std::chrono::duration<double> deadline;
  const Fail fail;
  const Late late;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::vector<ncclComm_t> communicators;

  /// The tasks, by the order in which they first came.
  std::vector<const char *> names;
  std::unordered_map<const char *, int> numbers;
  DeviceMemory counted;              ///< 0, 1, 2, ...
  std::shared_ptr<void> task_memory; ///< of the host: see task_now
  volatile int *task_now = nullptr;  ///< that the stream came to last; or -1

  std::vector<Work> ring;          ///< events are used again
  std::size_t first = 0, last = 0; ///< of what is under way, modulo the ring
  std::thread thread;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_NCCL_WATCHDOG_H
