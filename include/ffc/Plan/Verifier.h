//===- Verifier.h - proof that a program is safe to run ---------*- C++ -*-===//
//
// Runs all devices of a program symbolically, independent of how the planner
// made it: what every byte of every buffer stands for is followed from the
// kernel that wrote it to the kernel that reads it. Proved, for every execution
// that respects the contracts in ProgramWalk:
//
//   1. every message meets its partner with equal tag, bytes and content;
//      collectives are entered by exactly their members in one order with equal
//      kinds, algorithms and sizes, and can run by these;
//   2. no deadlock: all devices get to their end;
//   3. every kernel reads exactly the part of the value its tile needs: it is
//      written, complete (all partial sums added, each once) and not yet
//      overwritten; at the end every state holds what is stored in it, all of
//      every output was offered, and all communication was waited for;
//   4. it has all operands and results that it cannot do without, each of the
//      type, the rank, the part and the order in memory that it takes;
//   5. buffers whose lifetimes overlap share no bytes, except a result that
//      lies exactly where an operand is that it may overwrite; all lie in
//      their section;
//   6. the sections fit into the device's memory.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_VERIFIER_H
#define FFC_PLAN_VERIFIER_H

#include "ffc/Plan/Program.h"
#include "ffc/Plan/Topology.h"

#include <optional>
#include <string>

namespace ffc::plan {

/// The first thing that is wrong, naming device and task, or nothing.
std::optional<std::string> verifyProgram(const Graph &graph,
                                         const Strategy &strategy,
                                         const Program &program,
                                         const Topology &topology);

/// The same of devices that nothing is known of: their memory suffices, and
/// every collective can run.
std::optional<std::string> verifyProgram(const Graph &graph,
                                         const Strategy &strategy,
                                         const Program &program);

} // namespace ffc::plan

#endif // FFC_PLAN_VERIFIER_H
