//===- LinkShares.h - what a program's flows take of links ------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_LINKSHARES_H
#define FFC_LIB_PLAN_LINKSHARES_H

#include "ffc/Plan/SharedLinks.h"

namespace ffc::plan {

/// By part of `tasks`, which are those of `program` (SharedLinks.h).
std::vector<LinkShares> linkSharesOf(const Program &program,
                                     const TimedTasks &tasks,
                                     const Topology &topology,
                                     const CostModel &cost);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_LINKSHARES_H
