//===- SharedState.h - two steps on one state -------------------*- C++ -*-===//
//
// A program may have a second step that reads what the first one updates, as an
// evaluation reads the parameters that are trained. It reads them where they
// are: no rank has them twice, and nothing is copied between the two. Graphs
// agree on states by their names.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SHAREDSTATE_H
#define FFC_PLAN_SHAREDSTATE_H

#include "ffc/Plan/Program.h"

namespace ffc::plan {

/// Notes in `graph` where the states of its own are that `owner` writes, by the
/// program of that graph. To be called before the other step is planned.
void keepStatesOf(const Graph &owner, const Program &ownersProgram,
                  Graph &graph);

/// Lays the states of `program` out anew: what is a state of the same name,
/// type and part in `ownersProgram` has its bytes, and what is not lies behind
/// all of these. There is no symmetric part in the state of `program` then.
/// Requires that states which `owner` writes are kept where it has them.
void shareState(const Graph &owner, const Program &ownersProgram,
                const Graph &graph, Program &program);

} // namespace ffc::plan

#endif // FFC_PLAN_SHAREDSTATE_H
