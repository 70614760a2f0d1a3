//===- machine.h - what a profile was measured on ---------------*- C++ -*-===//
#ifndef FFRT_COMMON_MACHINE_H
#define FFRT_COMMON_MACHINE_H

#include "ffrt/comm.h"

#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// "AMD EPYC, 2 cores", "NVIDIA H200, 8 GPUs".
std::string machine_name();

/// Names and versions of what kernels and communication are made of.
std::vector<std::pair<std::string, std::string>> library_versions();

/// The GPU that this rank computes on, "GPU-" and its UUID; empty on CPUs.
/// Throws Error where there is none.
std::string own_gpu();

/// Cores, or GPUs, that the ranks may run on, of all machines together.
/// Collective.
int count_cores(Comm &comm, const Group &world);

} // namespace ffrt

#endif // FFRT_COMMON_MACHINE_H
