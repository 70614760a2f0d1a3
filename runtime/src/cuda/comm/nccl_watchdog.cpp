//===- nccl_watchdog.cpp - who waits for whom -----------------------------===//
//
// A graph runs without the host, so the device itself says where it is: a copy
// of a number to the host's memory stands before every task.
//
//===----------------------------------------------------------------------===//
#include "cuda/comm/nccl_watchdog.h"

#include "common/device/target.h"
#include "ffrt/cuda/check.h"

#include <numeric>
#include <utility>

namespace ffrt::cuda {

namespace {

/// How often it looks.
constexpr std::chrono::milliseconds kPeriod(100);
/// Later tasks have no number of their own.
constexpr int kTasks = 1 << 16;
/// Work that may be under way: with more the host waits.
constexpr std::size_t kRing = 64;

} // namespace

Watchdog::Watchdog(double deadline_seconds, Fail fail, Late late)
    : deadline(deadline_seconds), fail(std::move(fail)), late(std::move(late)),
      counted(kTasks * sizeof(int)), task_memory(host_memory(sizeof(int))),
      task_now(static_cast<volatile int *>(task_memory.get())), ring(kRing) {
  *task_now = -1;
  std::vector<int> values(kTasks);
  std::iota(values.begin(), values.end(), 0);
  write_target(counted.as<int>(), values.data(), values.size() * sizeof(int));
  for (Work &work : ring)
    check(cudaEventCreateWithFlags(&work.done, cudaEventDisableTiming),
          "cudaEventCreate");
  thread = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  stopped.notify_all();
  thread.join();
  for (const Work &work : ring)
    cudaEventDestroy(work.done);
}

void Watchdog::add(ncclComm_t communicator) {
  const std::lock_guard<std::mutex> lock(mutex);
  communicators.push_back(communicator);
}

void Watchdog::begins(const char *task, cudaStream_t stream) {
  int number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto added = numbers.emplace(task, int(names.size()));
    number = added.first->second;
    if (added.second)
      names.push_back(task);
  }
  if (number < kTasks)
    check(cudaMemcpyAsync(task_memory.get(), counted.as<int>() + number,
                          sizeof(int), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
}

void Watchdog::started(cudaStream_t stream) {
  std::unique_lock<std::mutex> lock(mutex);
  forget();
  if (last - first == ring.size()) {
    const cudaEvent_t oldest = ring[first % ring.size()].done;
    lock.unlock();
    check(cudaEventSynchronize(oldest), "cudaEventSynchronize");
    lock.lock();
    forget();
  }
  Work &work = ring[last++ % ring.size()];
  check(cudaEventRecord(work.done, stream), "cudaEventRecord");
  work.start = Clock::now();
}

void Watchdog::forget() {
  while (first < last &&
         cudaEventQuery(ring[first % ring.size()].done) == cudaSuccess) {
    // The next one had to wait for it.
    ++first;
    ring[first % ring.size()].start = Clock::now();
  }
}

std::string Watchdog::error() const {
  for (ncclComm_t communicator : communicators) {
    ncclResult_t status = ncclSuccess;
    ncclCommGetAsyncError(communicator, &status);
    if (status != ncclSuccess && status != ncclInProgress)
      return std::string("NCCL: ") + ncclGetErrorString(status);
  }
  return "";
}

bool Watchdog::is_late() const {
  return first < last &&
         Clock::now() - ring[first % ring.size()].start > deadline;
}

void Watchdog::run() {
  device().use_in_thread();
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopped.wait_for(lock, kPeriod, [this] { return stop; })) {
    forget();
    const std::string cause = error();
    if (cause.empty() && !is_late())
      continue;
    const int now = *task_now;
    const char *task = now < 0 ? "communication" : names[std::size_t(now)];
    // Communicators are not aborted: that waits for graphs with their work.
    if (cause.empty())
      late(task);
    else
      fail(task, cause.c_str());
  }
}

} // namespace ffrt::cuda
