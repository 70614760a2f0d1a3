//===- device_program.cpp - what ends a process with a GPU ----------------===//
//
// The argument says what happens: "read" the host reads memory of the device,
// "late" work takes longer than its deadline, "queued" only what waits for
// other work does.
//
//===----------------------------------------------------------------------===//
#include "common/target.h"
#include "cuda/nccl_watchdog.h"
#include "ffrt/cuda/device.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

constexpr double kDeadline = 3;

[[noreturn]] void fail(const char *task, const char *cause) {
  std::printf("%s: %s\n", task, cause);
  std::fflush(stdout);
  std::_Exit(1);
}

cudaEvent_t record(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, stream);
  return event;
}

/// Two pieces of work, each of which ends so many seconds after what was
/// before. They run when their events are waited for.
void work(double seconds) {
  using namespace ffrt::cuda;
  Watchdog watchdog(kDeadline, fail);
  const cudaStream_t stream = device().stream();
  watchdog.begins("some work", stream);
  cudaEventSynchronize(record(stream));
  watchdog.started(stream);
  const cudaEvent_t first = record(stream);
  watchdog.started(stream);
  const cudaEvent_t second = record(stream);
  for (cudaEvent_t event : {first, second}) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    cudaEventSynchronize(event);
  }
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "read")
    return *static_cast<char *>(ffrt::allocate(1).get());
  work(what == "late" ? 2 * kDeadline : 0.6 * kDeadline);
  std::puts("ended");
  return 0;
}
