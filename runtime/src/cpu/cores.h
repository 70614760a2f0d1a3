//===- cores.h - cores that the ranks share ---------------------*- C++ -*-===//
#ifndef FFRT_CPU_CORES_H
#define FFRT_CPU_CORES_H

#include "ffrt/comm.h"

namespace ffrt {

/// Cores that the ranks may run on, of all machines together. Collective.
int count_cores(Comm &comm, const Group &world);

} // namespace ffrt

#endif // FFRT_CPU_CORES_H
