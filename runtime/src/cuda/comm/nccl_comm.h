//===- nccl_comm.h - communication over NCCL --------------------*- C++ -*-===//
#ifndef FFRT_CUDA_NCCL_COMM_H
#define FFRT_CUDA_NCCL_COMM_H

#include "common/device/target.h"

namespace ffrt::cuda {

/// Communication between GPUs on a stream of its own, beside computation.
/// Collective; `host`, which make_comm() has made, must outlive it. Groups are
/// split off one communicator in the same order on all ranks; messages go over
/// that one. Groups share memory where NCCL can (nccl_windows.h).
///
/// A thread watches what is under way: an error of NCCL, or an operation or
/// a replay that takes longer than the deadline of `host`, ends all ranks with
/// a message that names rank and task. Where an exception of this rank
/// destroys it, it does not wait for the others, as NCCL would: the exception
/// is to end them.
///
/// `share_gpus`: two ranks have the same GPU, and pass for ranks of several
/// machines.
DeviceComm make_nccl_comm(Comm &host, const Group &world, bool share_gpus);

} // namespace ffrt::cuda

#endif // FFRT_CUDA_NCCL_COMM_H
