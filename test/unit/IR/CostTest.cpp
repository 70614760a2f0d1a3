//===- CostTest.cpp - declared costs are the work that is done ------------===//
//
// The reference kernels touch their operands once for every multiplication or
// function they compute, so the accesses they make are a count of the work that
// is independent of the rules' flops per point.
//
//===----------------------------------------------------------------------===//

#include "Examples.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::ff::testing;

namespace {

struct Work {
  double flops = 0;
  int64_t reads = 0, writes = 0;
  int64_t points = 0;   ///< of the iteration space
  int64_t elements = 0; ///< of the largest tensor
};

/// Runs the most fused schedule on one tile.
Work workOf(const Examples &examples, PartitionableInterface op) {
  plan::OpRules rules = op.getRules();
  std::vector<TensorValue> slots;
  for (const TensorValue *operand : examples.operandsOf(op))
    slots.push_back(operand ? *operand : TensorValue());
  auto addSlot = [&](const plan::TensorType &type) {
    TensorValue value;
    value.shape = type.shape;
    value.data.assign(plan::numElements(type.shape), 0.0);
    slots.push_back(std::move(value));
  };
  for (Value result : op.getResultSlots()) {
    if (result)
      addSlot(tensorTypeOf(result.getType()));
    else
      slots.emplace_back();
  }
  for (const plan::TensorType &type : rules.internals)
    addSlot(type);
  auto viewOf = [&](int slot) {
    TensorValue &value = slots[slot];
    if (value.data.empty())
      return View();
    return View(value.data.data(), plan::Region(plan::Box::whole(value.shape)),
                value.shape);
  };

  Work work;
  plan::Tile whole(static_cast<int>(rules.dims.size()));
  work.points = 1;
  for (int d = 0; d < whole.rank(); ++d) {
    whole[d] = {0, rules.dims[d].extent};
    work.points *= rules.dims[d].extent;
  }
  for (const TensorValue &slot : slots)
    work.elements =
        std::max(work.elements, static_cast<int64_t>(slot.data.size()));
  for (const plan::Phase &phase : rules.schedules.front().phases) {
    std::vector<View> ins, outs;
    for (const plan::SlotRead &read : phase.reads)
      ins.push_back(viewOf(read.slot));
    for (const plan::SlotWrite &write : phase.writes)
      outs.push_back(viewOf(write.slot));
    ReferenceKernel kernel = lookupReference(phase.kernel);
    if (!kernel)
      continue;
    kernel({examples.reference(), op.getKernelArgs(), whole, ins, outs});
    work.flops += plan::flopsOf(phase, whole);
    // Of the points of a lookup, one row of the table each counts.
    for (const plan::SlotRead &read : phase.reads)
      if (read.touchedPerPoint != 0)
        work.points = std::llround(read.touchedPerPoint *
                                   static_cast<double>(work.points));
    for (const View &in : ins)
      work.reads += in.accesses();
    for (const View &out : outs)
      work.writes += out.accesses();
  }
  return work;
}

TEST(OperatorExamples, CostsAreCountedWork) {
  Examples examples;
  ASSERT_TRUE(examples.isGood());
  int contractions = 0;
  for (PartitionableInterface op : examples.operators()) {
    Work work = workOf(examples, op);
    SCOPED_TRACE(describe(op) + ": " + std::to_string(work.flops) + " flops, " +
                 std::to_string(work.reads) + " reads, " +
                 std::to_string(work.writes) + " writes");
    EXPECT_GT(work.reads + work.writes, 0);
    // Moving data costs nothing; a function costs at most some tens of flops.
    EXPECT_LE(work.flops, 40.0 * (work.reads + work.writes));
    if (work.points <= 2 * work.elements)
      continue;
    // A sum of products: two flops for every pair that is read.
    ++contractions;
    EXPECT_GE(work.flops, 0.5 * work.reads);
    EXPECT_LE(work.flops, 2.0 * work.reads);
  }
  EXPECT_GT(contractions, 5);
}

} // namespace
