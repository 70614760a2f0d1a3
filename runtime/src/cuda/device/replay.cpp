//===- replay.cpp - CUDA graphs of steps ----------------------------------===//
//
// The first time, work is started as it is, because kernels may be loaded and
// chosen when they first run; the second time it is captured.
//
//===----------------------------------------------------------------------===//
#include "common/device/replay.h"

#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"

namespace ffrt {

using cuda::check;

struct Replay::Impl {
  bool warm = false;
  cudaGraphExec_t graph = nullptr;

  ~Impl() {
    if (graph)
      cudaGraphExecDestroy(graph);
  }

  void capture(const std::function<void()> &work) {
    const cudaStream_t stream = cuda::device().stream();
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    work();
    cuda::device().start_deferred();
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&graph, captured, 0);
    cudaGraphDestroy(captured);
    check(status, "cudaGraphInstantiate");
  }
};

Replay::Replay() : impl(std::make_unique<Impl>()) {}
Replay::~Replay() = default;
Replay::Replay(Replay &&) noexcept = default;

void Replay::run(const Context &cx, const std::function<void()> &work) {
  // Nothing may be uploaded during a capture.
  cuda::device().scalars(cx);
  if (!impl->warm) {
    impl->warm = true;
    return work();
  }
  if (!impl->graph)
    impl->capture(work);
  check(cudaGraphLaunch(impl->graph, cuda::device().stream()),
        "cudaGraphLaunch");
}

} // namespace ffrt
