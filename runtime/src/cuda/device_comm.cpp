//===- device_comm.cpp - how GPUs talk to each other ----------------------===//
#include "comm/staged_comm.h"
#include "common/target.h"
#include "common/together.h"
#include "cuda/nccl_comm.h"
#include "ffrt/mpi.h"

#include <cuda_runtime.h>

namespace ffrt {

/// True if every rank has a GPU of its own. Collective.
static bool have_own_gpus(Comm &host, const Group &world) {
  int gpus = 0;
  const bool enough =
      cudaGetDeviceCount(&gpus) == cudaSuccess && gpus >= launched_local_size();
  int64_t shared = !enough;
  host.wait(host.all_reduce("start", world, flat(&shared, DType::i64, 1),
                            ReduceOp::max));
  return !shared;
}

DeviceComm make_device_comm(Comm &host, const Group &world) {
  const Transport transport = chosen_transport();
  if (transport == Transport::nccl ||
      (transport == Transport::automatic && host.size() > 1 &&
       have_own_gpus(host, world)))
    return cuda::make_nccl_comm(host, world);
  // A single rank does not communicate in a step.
  return {std::make_unique<StagedComm>(host), host.size() == 1, nullptr,
          nullptr};
}

} // namespace ffrt
