//===- RewriteBatchProducts.cpp - small products side by side -------------===//
//
// Experts, or the layers of several towers, are products of equal shapes that
// do not depend on each other. Where they are small, starting them takes longer
// than computing them. One batch of them is one start, and devices that split
// the batch have some of the experts each. It costs copies of operands and
// results.
//
//===----------------------------------------------------------------------===//

#include "RewriteRules.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/DenseSet.h"

#include <array>
#include <map>
#include <numeric>
#include <vector>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

/// Elements of operands and results up to which a product is small.
static constexpr int64_t kSmall = int64_t(1) << 20;

/// Is it a product of rows with one matrix, plus a row or not?
static bool isSmallLayer(MatMulOp op) {
  auto elements = [](Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
  };
  return shapeOf(op.getB()).size() == 2 && !op.getAddend() &&
         op.getTransA() == 0 && !op.getDimNamesAttr() &&
         (!op.getC() || shapeOf(op.getC()) == shapeOf(op.getY()).take_back()) &&
         elements(op.getA()) + elements(op.getB()) + elements(op.getY()) <=
             kSmall;
}

/// How many products there are in a row up to each operator. Those of equal
/// number do not depend on each other.
static DenseMap<Operation *, size_t> depthsOf(Block &block) {
  DenseMap<Operation *, size_t> depths;
  for (Operation &op : block) {
    size_t depth = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        depth = std::max(depth, depths.lookup(producer));
    depths[&op] = depth + isa<MatMulOp>(op);
  }
  return depths;
}

/// What products of a batch have in common, all of it unique.
using Key = std::array<const void *, 10>;

static Key keyOf(MatMulOp op, size_t depth) {
  // What is trained needs gradients, which the rest had better not get.
  auto kindOf = [](Value value) -> const void * {
    auto state = value ? value.getDefiningOp<StateOp>() : StateOp();
    return state ? state.getKindAttr().getAsOpaquePointer() : nullptr;
  };
  return {reinterpret_cast<const void *>(depth),
          op.getA().getType().getAsOpaquePointer(),
          op.getB().getType().getAsOpaquePointer(),
          op.getC() ? op.getC().getType().getAsOpaquePointer() : nullptr,
          op.getAlphaAttr().getAsOpaquePointer(),
          op.getBetaAttr().getAsOpaquePointer(),
          op.getTransBAttr().getAsOpaquePointer(),
          op.getClampAttr().getAsOpaquePointer(),
          kindOf(op.getB()),
          kindOf(op.getC())};
}

namespace {

/// Products that may become one, in the order of the model.
struct Batch {
  SmallVector<MatMulOp, 1> products;
  DenseSet<Value> operands;
};

} // namespace

/// Values of one shape as a batch of matrices.
static Value stack(Maker &maker, const Twine &name, ArrayRef<Value> values,
                   ArrayRef<int64_t> matrix) {
  SmallVector<Value> parts;
  for (auto [number, value] : llvm::enumerate(values))
    parts.push_back(maker.reshape(name + ".matrix" + Twine(number), value,
                                  {1, matrix[0], matrix[1]}));
  return maker.concat(name, parts, 0);
}

static void batch(Maker &maker, ArrayRef<MatMulOp> products) {
  MatMulOp first = products.front(), last = products.back();
  // Whatever reads a result, or makes an operand, is put in order afterwards.
  maker.insertBefore(last);
  SmallVector<Value> a, b, c;
  for (MatMulOp op : products) {
    a.push_back(op.getA());
    b.push_back(op.getB());
    if (op.getC())
      c.push_back(op.getC());
  }
  const int64_t depth = shapeOf(first.getA()).back(),
                columns = shapeOf(first.getY()).back();
  int64_t rows = 1;
  for (int64_t extent : shapeOf(first.getA()).drop_back())
    rows *= extent;
  const std::string name = (nameOf(first) + ".batch").str();
  Value left = stack(maker, name + ".left", a, {rows, depth});
  Value right = stack(maker, name + ".right", b, shapeOf(b.front()));
  Value row =
      c.empty() ? Value() : stack(maker, name + ".bias", c, {1, columns});
  const auto count = static_cast<int64_t>(products.size());
  Value y = MatMulOp::create(
      maker.builder, maker.named(name),
      shaped(first.getY(), {count, rows, columns}), left, right, row, Value(),
      first.getAlphaAttr(), first.getBetaAttr(), ArrayAttr(),
      first.getTransAAttr(), first.getTransBAttr(), first.getClampAttr());
  int64_t number = 0;
  for (MatMulOp op : products) {
    const std::string part = (nameOf(op) + ".part").str();
    Value own = maker.slice(part, y, {number++, 0, 0}, {1, rows, columns});
    maker.replace(op, maker.reshape(part + ".rows", own, shapeOf(op.getY())));
  }
}

size_t rewriting::batchProducts(func::FuncOp main) {
  Block &block = main.front();
  const DenseMap<Operation *, size_t> depths = depthsOf(block);
  std::map<Key, size_t> numbers;
  std::vector<Batch> batches;
  for (MatMulOp op : block.getOps<MatMulOp>()) {
    if (!isSmallLayer(op))
      continue;
    const auto [known, isNew] =
        numbers.insert({keyOf(op, depths.lookup(op)), batches.size()});
    if (isNew)
      batches.emplace_back();
    Batch &own = batches[known->second];
    // Those of one operand are for another rule.
    if (own.operands.insert(op.getA()).second)
      own.products.push_back(op);
  }
  Maker maker(main);
  size_t places = 0;
  for (const Batch &each : batches)
    if (each.products.size() > 1) {
      batch(maker, each.products);
      ++places;
    }
  if (places == 0)
    return 0;
  const SmallVector<OutputOp> outputs(block.getOps<OutputOp>());
  sortTopologically(&block);
  // They stay in the model's order: the loss is of the first one.
  for (OutputOp output : outputs)
    output->moveBefore(block.getTerminator());
  return places;
}
