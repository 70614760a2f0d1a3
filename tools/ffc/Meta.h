//===- Meta.h - what the emitted text says about the graph ------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_META_H
#define FFC_TOOLS_FFC_META_H

#include "Options.h"

#include "ffc/Codegen/ProgramMeta.h"
#include "ffc/Plan/Configuration.h"

namespace ffc {

/// Names, shapes, splits and figures of `graph` under the complete `strategy`.
/// Hashes and predictions are left to the caller.
codegen::ProgramMeta describeProgram(const Options &options,
                                     const plan::Graph &graph,
                                     const plan::Strategy &strategy);

/// Floating-point operations of all points of an operator.
double flopsOf(const plan::Op &op, const plan::Configuration &config);

} // namespace ffc

#endif // FFC_TOOLS_FFC_META_H
