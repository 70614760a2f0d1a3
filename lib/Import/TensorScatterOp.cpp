//===- TensorScatterOp.cpp - TensorScatter --------------------------------===//
//
// Every position of a cache asks whether a position of the update is its own.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "Positions.h"
#include "TypedNode.h"

#include "llvm/ADT/Sequence.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::Twine;
using onnx::TensorProto;

static void importTensorScatter(NodeImporter &node) {
  enum { Cache, Update, Starts };
  const llvm::StringRef mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    node.error("expected mode linear or circular, found '" + mode + "'");
  const int64_t rank = node.rank(Cache);
  const int64_t axis = node.check(resolveAxis(node.integer("axis", -2), rank));
  expectOneType(node, {Cache, Update});
  node.expectRank(Update, rank);
  if (!node.failed() && axis == 0)
    node.error("expected an axis behind the batch");
  if (node.failed())
    return;
  const Shape cache(node.shape(Cache)), update(node.shape(Update));
  for (int64_t d = 0; d < rank; ++d)
    if (d == axis ? update[d] > cache[d] : update[d] != cache[d])
      return node.error("expected an update of the cache's shape, and at most "
                        "as long in dimension " +
                        Twine(axis) + ", found " + shapeText(update) + " and " +
                        shapeText(cache));
  const int64_t batch = cache[0], positions = cache[axis], count = update[axis];
  if (node.has(Starts) && node.shape(Starts) != llvm::ArrayRef<int64_t>{batch})
    return node.error("expected a position per sample as operand 2, found "
                      "shape " +
                      shapeText(node.shape(Starts)));
  node.expectPositions(batch * positions);
  if (node.failed())
    return;
  Expression made(node);
  std::vector<int64_t> numbers(positions);
  for (int64_t i = 0; i < positions; ++i)
    numbers[i] = i;
  GraphValue *place =
      made.constant(TensorProto::INT64, {1, positions}, std::move(numbers));
  GraphValue *start =
      node.has(Starts)
          ? made.reshape(made.cast(&node.operand(Starts), TensorProto::INT64),
                         {batch, 1})
          : made.constant(TensorProto::INT64, {batch, 1},
                          std::vector<int64_t>(batch, 0));
  GraphValue *from = made.sub(place, start);
  if (mode == "circular") // the modulus has the divisor's sign
    from = made.apply(
        "Mod", {from, made.numberLike(from, static_cast<double>(positions))});
  GraphValue *cut = made.clamp(from, 0, static_cast<double>(count - 1));
  GraphValue *isOwn = made.apply("Equal", {cut, from});
  // [batch, positions, rest] of both.
  Shape perm = {0, axis};
  for (int64_t d = 1; d < rank; ++d)
    if (d != axis)
      perm.push_back(d);
  auto moved = [&](GraphValue *x) {
    return llvm::equal(perm, llvm::seq(rank)) ? x : made.transpose(x, perm);
  };
  GraphValue *old = moved(&node.operand(Cache)),
             *rows = moved(&node.operand(Update));
  if (!old || !rows)
    return;
  const Shape shape(old->shape);
  const int64_t width = product(shape) / (batch * positions);
  GraphValue *picked = made.make(MadeNode("GatherND").integer("batch_dims", 1),
                                 {made.reshape(rows, {batch, count, width}),
                                  made.reshape(cut, {batch, positions, 1})});
  GraphValue *y = made.where(made.reshape(isOwn, {batch, positions, 1}), picked,
                             made.reshape(old, {batch, positions, width}));
  y = made.reshape(y, shape);
  Shape back(rank, 0);
  for (auto [to, d] : llvm::enumerate(perm))
    back[d] = static_cast<int64_t>(to);
  made.define(llvm::equal(back, llvm::seq(rank)) ? y : made.transpose(y, back));
}

void ffc::importer::registerTensorScatterOp() {
  registerOp("TensorScatter", {importTensorScatter, 2, 3});
}
