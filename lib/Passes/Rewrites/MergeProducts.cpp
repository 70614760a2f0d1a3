//===- MergeProducts.cpp - one product for several of one operand ---------===//
//
// Queries, keys and values are products of one operand with three matrices, and
// so are the two halves of a gated layer. One product with the matrices side by
// side reads the operand once; its gradient is one product where there would be
// a sum of three, each of which devices that share the layer would have to add
// up. It costs copies: of the matrices, and of the parts of the result.
//
// The columns are not one matrix after the other but dealt out in groups,
//
//   q0 k0 v0 q1 k1 v1 ...,
//
// so that devices that split the columns have the same heads of all parts, as
// Megatron-LM has them (Shoeybi et al., 2019).
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

/// Groups of columns at most: more would only let more devices split them, and
/// make the pieces that are copied shorter.
static constexpr int64_t kMostGroups = 64;

/// Queries, keys and values are three times as wide as their operand, or less;
/// the halves of gated layers five to seven times.
static constexpr int64_t kNarrow = 4;

/// The columns of a product.
static int64_t columnsOf(MatMulOp op) { return shapeOf(op.getY()).back(); }

/// Is it a layer: an operand times a parameter, and a row or not?
static bool isLayer(MatMulOp op) {
  auto weights = op.getB().getDefiningOp<StateOp>();
  if (!weights || shapeOf(weights).size() != 2 || op.getAddend() ||
      op.getTransA() != 0 || op.getA() == op.getB())
    return false;
  auto bias = op.getC() ? op.getC().getDefiningOp<StateOp>() : StateOp();
  // A row that is broadcast to all columns is not one of them.
  return !op.getC() ||
         (bias && shapeOf(bias) == ArrayRef<int64_t>(columnsOf(op)));
}

/// What products that become one have in common, all of it unique: operand,
/// numbers and flags, and the kinds of states, since what is trained needs
/// gradients, which the rest had better not get.
using Key = SmallVector<const void *, 8>;

static Key keyOf(MatMulOp op) {
  auto kindOf = [](Value state) {
    return state ? state.getDefiningOp<StateOp>().getKindAttr() : StringAttr();
  };
  return {op.getA().getAsOpaquePointer(),
          op.getAlphaAttr().getAsOpaquePointer(),
          op.getC() ? op.getBetaAttr().getAsOpaquePointer() : nullptr,
          op.getDimNamesAttr().getAsOpaquePointer(),
          op.getTransBAttr().getAsOpaquePointer(),
          op.getClampAttr().getAsOpaquePointer(),
          kindOf(op.getB()).getAsOpaquePointer(),
          kindOf(op.getC()).getAsOpaquePointer()};
}

/// The largest divisor of all widths up to kMostGroups.
static int64_t groupsOf(ArrayRef<MatMulOp> products) {
  int64_t common = 0;
  for (MatMulOp op : products)
    common = std::gcd(common, columnsOf(op));
  int64_t groups = std::min(common, kMostGroups);
  while (common % groups != 0)
    --groups;
  return groups;
}

/// `shape` with dimension `d` as groups of equally many.
static SmallVector<int64_t> grouped(ArrayRef<int64_t> shape, size_t d,
                                    int64_t groups) {
  SmallVector<int64_t> result(shape);
  result[d] /= groups;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(d), groups);
  return result;
}

/// The columns of states, which are dimension `d`, dealt out in groups.
static Value deal(Maker &maker, const Twine &name, ArrayRef<Value> states,
                  size_t d, int64_t groups) {
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(shapeOf(states.front()));
  shape[d] = 0;
  for (auto [number, state] : llvm::enumerate(states)) {
    shape[d] += shapeOf(state)[d];
    parts.push_back(maker.reshape(name + ".groups" + Twine(number), state,
                                  grouped(shapeOf(state), d, groups)));
  }
  return maker.reshape(
      name, maker.concat(name + ".parts", parts, static_cast<int64_t>(d) + 1),
      shape);
}

static void merge(Maker &maker, ArrayRef<MatMulOp> products) {
  MatMulOp first = products.front();
  maker.insertBefore(first);
  SmallVector<Value> weights, biases;
  int64_t columns = 0;
  for (MatMulOp op : products) {
    weights.push_back(maker.before(first, op.getB()));
    if (op.getC())
      biases.push_back(maker.before(first, op.getC()));
    columns += columnsOf(op);
  }
  const int64_t groups = groupsOf(products);
  const std::string name = (nameOf(first) + ".merged").str();
  Value b = deal(maker, name + ".weights", weights,
                 first.getTransB() != 0 ? 0 : 1, groups);
  Value c = biases.empty()
                ? Value()
                : deal(maker, name + ".bias", biases, 0, groups);
  auto type = cast<RankedTensorType>(first.getY().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  Value y = MatMulOp::create(
      maker.builder, maker.named(name), type.clone(shape), first.getA(), b, c,
      Value(), first.getAlphaAttr(), first.getBetaAttr(),
      first.getDimNamesAttr(), first.getTransAAttr(), first.getTransBAttr(),
      first.getClampAttr());

  const size_t last = shape.size() - 1;
  Value dealt =
      maker.reshape(name + ".groups", y, grouped(shape, last, groups));
  SmallVector<int64_t> starts(shape.size() + 1, 0);
  SmallVector<Value> results;
  for (MatMulOp op : products) {
    SmallVector<int64_t> own = grouped(shapeOf(op.getY()), last, groups);
    Value part =
        maker.slice(nameOf(op) + ".part", dealt, starts, own);
    starts.back() += own.back();
    results.push_back(ReshapeOp::create(maker.builder, op.getLoc(),
                                        op.getY().getType(), part));
  }
  for (auto [op, result] : llvm::zip_equal(products, results))
    maker.replace(op, result);
}

/// Are the results of all, which are copied, at most kNarrow times as large as
/// the operand, which is read once?
static bool isNarrow(ArrayRef<MatMulOp> products) {
  int64_t columns = 0;
  for (MatMulOp op : products)
    columns += columnsOf(op);
  MatMulOp first = products.front();
  return columns <= kNarrow * shapeOf(first.getA()).back();
}

/// Of narrow products, or of all others.
static size_t mergeProducts(func::FuncOp main, bool narrow) {
  llvm::MapVector<Value, SmallVector<std::pair<Key, SmallVector<MatMulOp>>>>
      byOperand;
  for (MatMulOp op : main.front().getOps<MatMulOp>()) {
    if (!isLayer(op))
      continue;
    auto &groups = byOperand[op.getA()];
    const Key key = keyOf(op);
    auto known = llvm::find_if(
        groups, [&](const auto &group) { return group.first == key; });
    if (known == groups.end())
      known = groups.insert(groups.end(), {key, {}});
    known->second.push_back(op);
  }
  Maker maker(main);
  size_t places = 0;
  for (auto &[operand, groups] : byOperand)
    for (auto &[key, products] : groups)
      if (products.size() > 1 && isNarrow(products) == narrow) {
        merge(maker, products);
        ++places;
      }
  return places;
}

size_t rewriting::mergeNarrowProducts(func::FuncOp main) {
  return mergeProducts(main, /*narrow=*/true);
}

size_t rewriting::mergeWideProducts(func::FuncOp main) {
  return mergeProducts(main, /*narrow=*/false);
}
