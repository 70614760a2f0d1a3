//===- Meetings.h - collectives with all their members ----------*- C++ -*-===//
#ifndef FFC_LIB_PLAN_MEETINGS_H
#define FFC_LIB_PLAN_MEETINGS_H

#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// A collective: its action on every member that has it.
using Meeting = std::vector<ActionRef>;

/// All collectives of `program`. The n-th one of a group on one of its members
/// is the n-th one on all.
std::vector<Meeting> meetingsOf(const Program &program);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_MEETINGS_H
