//===- find_cause.h - where values began not to be finite -------*- C++ -*-===//
#ifndef FFRT_COMMON_FIND_CAUSE_H
#define FFRT_COMMON_FIND_CAUSE_H

#include "common/program/finite_watch.h"
#include "common/program/repeat.h"

namespace ffrt {

/// Collective. Ends the run (throws Stop) with an error about a bad step, which
/// names the first input, parameter or operator's result that is not finite. To
/// find it the steps from `from` to the bad one are run again; the state is
/// what it was there, and it would take about so many `seconds`. What is not
/// finite in the first of them already, unless that is the bad one, is taken to
/// be as it should.
[[noreturn]] void end_with_cause(Comm &comm, const Group &world,
                                 const BadStep &bad, Instance &instance,
                                 Repeat &repeat, Place from, int64_t batch,
                                 std::function<void(int64_t)> begin_step,
                                 double seconds);

} // namespace ffrt

#endif // FFRT_COMMON_FIND_CAUSE_H
