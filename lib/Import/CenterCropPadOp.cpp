//===- CenterCropPadOp.cpp - CenterCropPad --------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include "llvm/ADT/Sequence.h"

using namespace ffc;
using namespace ffc::importer;

static void importCenterCropPad(NodeImporter &node) {
  const int64_t rank = node.rank(0);
  Shape axes =
      node.integers("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(rank)));
  const Shape wanted = node.constantList(1);
  for (int64_t &axis : axes)
    axis = node.check(resolveAxis(axis, rank));
  if (!node.failed() && wanted.size() != axes.size())
    node.error("expected " + llvm::Twine(axes.size()) +
               " extents as operand 1, found " + llvm::Twine(wanted.size()));
  if (node.failed())
    return;
  Expression made(node);
  GraphValue *x = &node.operand(0);
  std::vector<int64_t> pads(2 * rank, 0);
  for (auto [axis, extent] : llvm::zip_equal(axes, wanted)) {
    const int64_t from = node.shape(0)[axis];
    if (extent < 1)
      return node.error("expected positive extents as operand 1, found " +
                        llvm::Twine(extent));
    if (extent != from && node.isChangedBatch(0, axis))
      return node.error("crops or pads the batch and stands in the way of "
                        "--batch-size");
    if (extent <= from) {
      const int64_t start = (from - extent) / 2;
      x = made.slice(x, axis, start, start + extent);
      continue;
    }
    pads[axis] = (extent - from) / 2;
    pads[axis + rank] = extent - from - pads[axis];
  }
  if (llvm::any_of(pads, [](int64_t pad) { return pad != 0; }))
    x = made.apply(
        "Pad", {x, made.constant(onnx::TensorProto::INT64, {2 * rank}, pads)});
  made.define(x);
}

void ffc::importer::registerCenterCropPadOp() {
  registerOp("CenterCropPad", {importCenterCropPad, 2, 2, 0, true});
}
