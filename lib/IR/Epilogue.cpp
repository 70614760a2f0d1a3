//===- Epilogue.cpp - what follows a sum within its operator --------------===//

#include "Epilogue.h"

#include "Clamp.h"
#include "RuleHelpers.h"
#include "ffc/IR/ScalarProgram.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Null where nothing is cut.
static DenseF64ArrayAttr boundsOf(Operation *op) {
  auto clamping = dyn_cast<ClampingInterface>(op);
  return clamping ? clamping.getClampAttr() : nullptr;
}

plan::OpRules ff::sumRules(std::vector<plan::IterDim> dims, plan::Phase phase,
                           std::vector<int> unsplit, ArrayRef<int> reductions,
                           PartitionableInterface op) {
  Value result = op->getResult(0);
  if (!boundsOf(op) && !isNarrow(result))
    return onePhaseRules(std::move(dims), std::move(phase), std::move(unsplit));

  const int sumSlot = static_cast<int>(op.getOperandSlots().size() +
                                       op.getResultSlots().size());
  plan::Phase sums = phase;
  sums.kind = plan::PhaseKind::PartialSums;
  sums.writes.front().slot = sumSlot;

  plan::SlotWrite whole = phase.writes.front();
  whole.reduction = plan::Reduction::None;
  // It walks along memory.
  if (whole.access.pitches == plan::Pitches::Any)
    whole.access.pitches = plan::Pitches::Same;
  plan::Phase epilogue;
  epilogue.kernel = "fused";
  epilogue.kind = plan::PhaseKind::Epilogue;
  epilogue.reads = {{sumSlot, whole.access}};
  epilogue.writes = {whole};
  // Of an element, whatever was added up.
  epilogue.flopsPerPoint = 1;
  for (int d : reductions)
    epilogue.flopsPerPoint /= static_cast<double>(dims[d].extent);

  std::vector<int> unsplitSums = unsplit;
  unsplitSums.insert(unsplitSums.end(), reductions.begin(), reductions.end());
  plan::OpRules rules =
      onePhaseRules(std::move(dims), std::move(phase), std::move(unsplitSums));
  rules.schedules.push_back(
      {std::move(unsplit), {std::move(sums), std::move(epilogue)}});
  rules.internals = {tensorTypeOf(wideType(result.getType()))};
  return rules;
}

/// The scalar program of the epilogue.
static std::string programOf(DenseF64ArrayAttr bounds, Value result) {
  ScalarProgram program;
  program.inputs = 1;
  ScalarProgram::Value value{/*isInput=*/true, 0};
  if (bounds) {
    const double upper =
        bounds.size() > 1 ? bounds[1] : std::numeric_limits<double>::infinity();
    program.steps.push_back({"clip", {bounds[0], upper}, {value}});
    value = {/*isInput=*/false, 0};
  }
  program.results = {value};
  // In double precision nothing is narrow.
  program.types = {isNarrow(result) ? tensorTypeOf(result.getType()).type
                                    : plan::ElementType::F32};
  return program.str();
}

DictionaryAttr ff::sumArgs(PartitionableInterface op, plan::PhaseKind part) {
  Builder builder(op->getContext());
  DenseF64ArrayAttr bounds = boundsOf(op);
  switch (part) {
  case plan::PhaseKind::All:
    return op.getKernelArgs();
  case plan::PhaseKind::PartialSums: {
    NamedAttrList args(op.getKernelArgs());
    if (bounds)
      args.set(kClampArg, builder.getDenseF64ArrayAttr({}));
    return args.getDictionary(op->getContext());
  }
  case plan::PhaseKind::Epilogue:
    return builder.getDictionaryAttr(builder.getNamedAttr(
        "program", builder.getStringAttr(programOf(bounds, op->getResult(0)))));
  }
  llvm_unreachable("unknown part of an operator");
}
