//===- nccl_alone.cpp - NCCL with one rank, captured in a graph -----------===//
#include "measure.h"

#include <nccl.h>

int main() {
  constexpr std::size_t kCount = 1 << 20;
  int version = 0, device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  CHECK(ncclGetVersion(&version));
  CHECK(cudaSetDevice(device));
  CHECK(ncclCommInitAll(&comm, 1, &device));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Buffer from(kCount * sizeof(float)), to(kCount * sizeof(float));
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    values[i] = float(i % 1000);
  CHECK(cudaMemcpy(from.as<void>(), values.data(), kCount * sizeof(float),
                   cudaMemcpyHostToDevice));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(ncclAllReduce(from.as<void>(), to.as<void>(), kCount, ncclFloat32,
                      ncclSum, comm, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  for (int i = 0; i < 3; ++i)
    CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> found(kCount);
  CHECK(cudaMemcpy(found.data(), to.as<void>(), kCount * sizeof(float),
                   cudaMemcpyDeviceToHost));
  if (found != values) {
    std::fprintf(stderr, "error: expected what was sent, found other values\n");
    return 1;
  }
  std::printf("{\"what\": \"nccl\", \"version\": %d, \"nodes\": %zu}\n",
              version, nodes);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(ncclCommDestroy(comm));
  return 0;
}
