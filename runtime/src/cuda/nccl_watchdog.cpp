//===- nccl_watchdog.cpp - who waits for whom -----------------------------===//
#include "cuda/nccl_watchdog.h"

#include <utility>

namespace ffrt::cuda {

/// How often it looks.
static constexpr std::chrono::milliseconds kPeriod(100);

Watchdog::Watchdog(double deadline_seconds, Fail fail)
    : deadline(deadline_seconds), fail(std::move(fail)),
      thread([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  stopped.notify_all();
  thread.join();
}

void Watchdog::add(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(mutex);
  communicators.push_back(communicator);
}

void Watchdog::started(const char *task, cudaEvent_t done) {
  const std::lock_guard<std::mutex> lock(mutex);
  while (!tasks.empty() && cudaEventQuery(tasks.front().done) == cudaSuccess)
    tasks.pop_front();
  tasks.push_back({task, done, Clock::now()});
}

std::string Watchdog::look() {
  while (!tasks.empty() && cudaEventQuery(tasks.front().done) == cudaSuccess)
    tasks.pop_front();
  for (ncclComm_t communicator : communicators) {
    ncclResult_t status = ncclSuccess;
    ncclCommGetAsyncError(communicator, &status);
    if (status != ncclSuccess && status != ncclInProgress)
      return std::string("NCCL: ") + ncclGetErrorString(status);
  }
  if (!tasks.empty() && Clock::now() - tasks.front().start > deadline)
    return "expected an end within " +
           std::to_string(int64_t(deadline.count())) + " s, found none";
  return "";
}

void Watchdog::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopped.wait_for(lock, kPeriod, [this] { return stop; })) {
    const std::string cause = look();
    if (cause.empty())
      continue;
    // The oldest task that has not ended is the one that ranks wait in.
    const char *task = tasks.empty() ? "communication" : tasks.front().task;
    for (ncclComm_t communicator : communicators)
      ncclCommAbort(communicator);
    fail(task, cause.c_str());
  }
}

} // namespace ffrt::cuda
