//===- device_comm.cpp - how GPUs talk to each other ----------------------===//
#include "comm/staged_comm.h"
#include "common/device/target.h"
#include "common/program/together.h"
#include "cuda/comm/nccl_comm.h"
#include "ffrt/cuda/check.h"
#include "ffrt/cuda/device.h"
#include "ffrt/hash.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <string_view>
#include <vector>

namespace ffrt {

/// A number of the GPU of this rank, which no other GPU has.
static int64_t gpu_id() {
  cuda::device();
  int number = 0;
  cuda::check(cudaGetDevice(&number), "cudaGetDevice");
  cudaDeviceProp properties;
  cuda::check(cudaGetDeviceProperties(&properties, number),
              "cudaGetDeviceProperties");
  return int64_t(hash_name({properties.uuid.bytes, sizeof(cudaUUID_t)}));
}

/// True if two ranks have the same GPU. What launchers say of ranks and GPUs of
/// a machine is not asked: ranks may see one GPU each, or several the same one.
/// Collective.
static bool share_gpus(Comm &host, const Group &world) {
  int64_t mine = 0;
  together(host, world, "start", [&] { mine = gpu_id(); });
  std::vector<int64_t> all(std::size_t(host.size()));
  host.wait(host.all_gather("start", world, flat(&mine, DType::i64, 1),
                            flat(all.data(), DType::i64, host.size())));
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

DeviceComm make_device_comm(Comm &host, const Group &world) {
  const Transport transport = chosen_transport();
  if (transport == Transport::nccl ||
      (transport == Transport::automatic && host.size() > 1)) {
    const bool shared = share_gpus(host, world);
    if (transport == Transport::nccl || !shared)
      return cuda::make_nccl_comm(host, world, shared);
  }
  // A single rank does not communicate in a step.
  return {std::make_unique<StagedComm>(host), host.size() == 1, nullptr,
          nullptr};
}

} // namespace ffrt
