//===- device_program.cpp - what tests must see of a GPU ------------------===//
//
// The argument says what happens: "read" the host reads memory of the device,
// "late" work takes longer than its deadline, "queued" only what waits for
// other work does. "threads" and "blocks" print what kernels find that read
// what others of their block or grid write, without waiting for them.
//
//===----------------------------------------------------------------------===//
#include "common/device/target.h"
#include "cuda/comm/nccl_watchdog.h"
#include "ffrt/cuda/launch.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr double kDeadline = 3;

[[noreturn]] void fail(const char *task, const char *cause) {
  std::printf("%s: %s\n", task, cause);
  std::fflush(stdout);
  std::_Exit(1);
}

[[noreturn]] void late(const char *task) { fail(task, "late"); }

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
  Watchdog watchdog(kDeadline, fail, late);
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

__global__ void threads_kernel(int *to) {
  __shared__ int before[64];
  const int i = int(threadIdx.x);
  before[i] = i;
  to[i] = before[i / 2];
}

__global__ void blocks_kernel(int *to) {
  const int i = int(blockIdx.x);
  to[i] = i ? to[i / 2] + 1 : 1;
}

/// The sum of what a kernel of 64 threads or blocks leaves.
int found(unsigned blocks, unsigned threads, void (*kernel)(int *)) {
  const auto memory = ffrt::allocate(64 * sizeof(int));
  int *const to = static_cast<int *>(memory.get());
  ffrt::cuda::launch(blocks, threads, kernel, to);
  std::vector<int> here(64);
  ffrt::read_target(here.data(), to, 64 * sizeof(int));
  return std::accumulate(here.begin(), here.end(), 0);
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "read")
    return *static_cast<char *>(ffrt::allocate(1).get());
  if (what == "threads" || what == "blocks") {
    std::printf("found %d\n", what == "threads" ? found(1, 64, threads_kernel)
                                                : found(64, 1, blocks_kernel));
    return 0;
  }
  work(what == "late" ? 2 * kDeadline : 0.6 * kDeadline);
  std::puts("ended");
  return 0;
}
