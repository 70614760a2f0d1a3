//===- nccl_watchdog.h - who waits for whom ---------------------*- C++ -*-===//
#ifndef FFRT_CUDA_NCCL_WATCHDOG_H
#define FFRT_CUDA_NCCL_WATCHDOG_H

#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ffrt::cuda {

/// A thread that looks after communicators. All members may be called while it
/// runs.
class Watchdog {
public:
  /// fail(task, cause), which is called by the thread, does not return.
  using Fail = std::function<void(const char *task, const char *cause)>;
  Watchdog(double deadline_seconds, Fail fail);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  void add(ncclComm_t communicator);
  /// `done` happens when the task is complete; it must live until then.
  void started(const char *task, cudaEvent_t done);

private:
  using Clock = std::chrono::steady_clock;
  struct UnderWay {
    const char *task;
    cudaEvent_t done;
    Clock::time_point start;
  };

  void run();
  /// Why the ranks must end, or nothing.
  std::string look();

  const std::chrono::duration<double> deadline;
  const Fail fail;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::vector<ncclComm_t> communicators;
  std::deque<UnderWay> tasks; ///< in the order of their ends
  std::thread thread;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_NCCL_WATCHDOG_H
