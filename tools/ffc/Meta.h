//===- Meta.h - what the emitted text says about the graph ------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_META_H
#define FFC_TOOLS_FFC_META_H

#include "Options.h"

#include "ffc/Codegen/ProgramMeta.h"
#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Topology.h"

namespace ffc {

/// Names, shapes, splits and figures of `graph` under the complete `strategy`.
/// Hashes and predictions are left to the caller.
codegen::ProgramMeta describeProgram(const Options &options,
                                     const plan::Graph &graph,
                                     const plan::Strategy &strategy);

/// Floating-point operations of all points of an operator.
double flopsOf(const plan::Op &op, const plan::Configuration &config);

/// "search: 8 by n, 3 by c, 2 whole; 4 micro-batches, 1f1b", of the forward
/// operators.
std::string describeStrategy(const std::string &origin,
                             const plan::Graph &graph,
                             const plan::Strategy &strategy,
                             const plan::PipelineSchedule &schedule);

/// What a program says of its devices, which compute for `busySeconds` of a
/// step each.
void describeRanks(codegen::ProgramMeta &meta, const Options &options,
                   const plan::Topology &topology,
                   const std::vector<double> &busySeconds);

} // namespace ffc

#endif // FFC_TOOLS_FFC_META_H
