//===- machine_id.h - which machine a rank runs on --------------*- C++ -*-===//
#ifndef FFRT_COMMON_MACHINE_ID_H
#define FFRT_COMMON_MACHINE_ID_H

#include <cstdint>

namespace ffrt {

/// A number of this start of the machine that this rank runs on. Tests of
/// several nodes on one machine set FFRT_RANKS_PER_NODE.
int64_t machine_id(int rank);

} // namespace ffrt

#endif // FFRT_COMMON_MACHINE_ID_H
