//===- ElementKernels.cpp - what constants are computed with --------------===//

#include "ffc/IR/ElementKernels.h"

#include "ElementFamilies.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

const ReferenceKernels &ff::elementKernels() {
  static const ReferenceKernels kernels = [] {
    ReferenceKernels all;
    addElementwiseKernels(all);
    addShapeKernels(all);
    return all;
  }();
  return kernels;
}

static TensorValue zeros(const plan::Shape &shape) {
  return {shape, std::vector<double>(plan::numElements(shape))};
}

/// A kernel only writes its results; operands are shared with others.
static View viewOf(const TensorValue *value) {
  if (!value)
    return {};
  return View(const_cast<double *>(value->data.data()),
              plan::Region(plan::Box::whole(value->shape)), value->shape);
}

FailureOr<std::vector<TensorValue>>
ff::evaluateOperator(PartitionableInterface op,
                     ArrayRef<const TensorValue *> operands,
                     const ReferenceContext &context,
                     llvm::function_ref<ReferenceKernel(StringRef)> find) {
  plan::OpRules rules = op.getRules();
  // Nothing is split, so the first schedule fits. Slots: operands, results,
  // internal tensors.
  const plan::Schedule &schedule = rules.schedules.front();
  SmallVector<const TensorValue *> slots(operands);
  std::vector<TensorValue> results, internals;
  SmallVector<bool> present;
  for (Value result : op.getResultSlots()) {
    present.push_back(bool(result));
    if (result)
      results.push_back(zeros(tensorTypeOf(result.getType()).shape));
  }
  for (const plan::TensorType &type : rules.internals)
    internals.push_back(zeros(type.shape));
  const TensorValue *next = results.data();
  for (bool exists : present)
    slots.push_back(exists ? next++ : nullptr);
  for (const TensorValue &internal : internals)
    slots.push_back(&internal);

  plan::Tile tile(static_cast<int>(rules.dims.size()));
  for (size_t d = 0; d < rules.dims.size(); ++d)
    tile[d] = {0, rules.dims[d].extent};
  for (const plan::Phase &phase : schedule.phases) {
    ReferenceKernel kernel = find(phase.kernel);
    if (!kernel)
      return op->emitOpError("kernel '")
             << phase.kernel << "' has no reference implementation";
    std::vector<View> ins, outs;
    for (const plan::SlotRead &read : phase.reads)
      ins.push_back(viewOf(slots[read.slot]));
    for (const plan::SlotWrite &write : phase.writes)
      outs.push_back(viewOf(slots[write.slot]));
    kernel({context, op.getPhaseArgs(phase.kind), tile, ins, outs,
            tensorTypeOf(op->getResult(0).getType()).type});
  }
  return results;
}
