//===- AttentionOp.cpp - Attention ----------------------------------------===//
//
// Products, masks and a softmax, as exporters of older sets of operators spell
// attention out; recognize-patterns joins them, and others' parts like them.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

namespace {
/// The operands, and the results after the first.
enum { Q, K, V, Mask, PastKey, PastValue, Lengths };
enum { PresentKey = 1, PresentValue, Scores };
/// What result `Scores` is.
enum { Raw, Capped, Masked, Probabilities };

/// Lower scores than all others, of positions that get no weight. It is finite,
/// so that rows of nothing else have numbers, too.
constexpr double kHidden = std::numeric_limits<float>::lowest();

class AttentionImporter {
public:
  explicit AttentionImporter(NodeImporter &node) : node(node), made(node) {}

  void run();

private:
  bool readAttributes();
  GraphValue *heads(int i, int64_t count);
  GraphValue *withPast(GraphValue *now, int past);
  GraphValue *repeated(GraphValue *heads);
  GraphValue *range(int64_t count, ArrayRef<int64_t> shape);
  void limit(StringRef comparison, GraphValue *a, GraphValue *b);
  void readPositions();
  void readMask();
  bool hidesRows();
  GraphValue *visibleRows();
  GraphValue *masked(GraphValue *scores, double hidden);
  void checkShapes();

  NodeImporter &node;
  Expression made;
  int32_t type = TensorProto::FLOAT;
  int64_t queryHeads = 0, keyHeads = 0;
  double scale = 0, cap = 0;
  bool isCausal = false, isFlat = false;
  int64_t left = -1, right = -1, shown = Raw;
  GraphValue *q = nullptr, *k = nullptr, *v = nullptr;
  int64_t rows = 0, positions = 0, past = 0;
  /// Where it is true a position may be looked at; what is added to scores.
  GraphValue *allowed = nullptr, *added = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

bool AttentionImporter::readAttributes() {
  takeNumberType(node, Q, /*integers=*/false);
  type = node.operand(Q).type;
  isFlat = node.rank(Q) == 3;
  for (int i : {Q, K, V})
    if (node.rank(i) != node.rank(Q) || (node.rank(i) != 4 && !isFlat))
      node.error("expected operands of 3 or 4 dimensions, found shape " +
                 shapeText(node.shape(i)));
  queryHeads = node.integer("q_num_heads", 0);
  keyHeads = node.integer("kv_num_heads", 0);
  if (isFlat && (queryHeads < 1 || keyHeads < 1))
    node.error("expected attributes 'q_num_heads' and 'kv_num_heads' with "
               "operands of 3 dimensions");
  scale = node.real("scale", 0);
  cap = node.real("softcap", 0);
  isCausal = node.integer("is_causal", 0) != 0;
  left = node.integer("left_window_size", -1);
  right = node.integer("right_window_size", -1);
  shown = node.integer("qk_matmul_output_mode", Raw);
  if (shown < Raw || shown > Probabilities)
    node.error(
        "expected attribute 'qk_matmul_output_mode' from 0 to 3, found " +
        Twine(shown));
  node.ignore("softmax_precision"); // f32 at least
  if (node.has(PastKey) != node.has(PastValue))
    node.error("expected both of past_key and past_value, found one");
  for (int i : {PastKey, PastValue})
    if (node.has(i))
      node.expectRank(i, 4);
  if (node.has(Lengths) && node.has(PastKey))
    node.error("expected no past_key beside nonpad_kv_seqlen");
  return !node.failed();
}

/// Operand i as [samples, heads, positions, width].
GraphValue *AttentionImporter::heads(int i, int64_t count) {
  GraphValue *value = &node.operand(i);
  if (!isFlat)
    return value;
  const Shape from(value->shape);
  if (from[2] % count != 0) {
    node.error("expected operand " + Twine(i) + " of a width that " +
               Twine(count) + " heads share, found shape " + shapeText(from));
    return nullptr;
  }
  return made.transpose(
      made.reshape(value, {from[0], from[1], count, from[2] / count}),
      {0, 2, 1, 3});
}

/// Keys or values behind those of operand `past`.
GraphValue *AttentionImporter::withPast(GraphValue *now, int past) {
  if (!now || !node.has(past) || node.failed() || node.shape(past)[2] == 0)
    return now;
  return made.concat({&node.operand(past), now}, 2);
}

/// Keys or values once for every head of the queries that looks at them.
GraphValue *AttentionImporter::repeated(GraphValue *heads) {
  if (!heads || heads->shape[1] == queryHeads)
    return heads;
  const Shape from(heads->shape);
  const int64_t group = queryHeads / from[1];
  heads = made.reshape(heads, {from[0], from[1], 1, from[2], from[3]});
  heads = made.expand(heads, {from[0], from[1], group, from[2], from[3]});
  return made.reshape(heads, {from[0], queryHeads, from[2], from[3]});
}

void AttentionImporter::checkShapes() {
  if (node.failed() || !q || !k || !v)
    return;
  const Shape &a = q->shape, &b = k->shape, &c = v->shape;
  if (b[0] != a[0] || c[0] != a[0] || b[1] != c[1] || b[2] != c[2] ||
      b[3] != a[3] || a[1] % b[1] != 0)
    node.error("expected queries, keys and values of one batch, keys as wide "
               "as queries, a value per key, and heads of queries in multiples "
               "of those of keys, found " +
               shapeText(a) + ", " + shapeText(b) + " and " + shapeText(c));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// 0, 1, ... `count` - 1.
GraphValue *AttentionImporter::range(int64_t count, ArrayRef<int64_t> shape) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return made.constant(TensorProto::INT64, shape, std::move(numbers));
}

/// Only positions where the comparison holds are allowed.
void AttentionImporter::limit(StringRef comparison, GraphValue *a,
                              GraphValue *b) {
  GraphValue *holds = made.apply(comparison, {a, b});
  allowed = allowed ? made.apply("And", {allowed, holds}) : holds;
}

/// What is allowed by the positions alone.
void AttentionImporter::readPositions() {
  GraphValue *column = range(positions, {1, positions});
  auto number = [&](int64_t value) {
    return made.constant(TensorProto::INT64, {}, {value});
  };
  GraphValue *lengths = nullptr;
  if (node.has(Lengths)) {
    lengths = made.reshape(&node.operand(Lengths), {node.shape(Q)[0], 1, 1, 1});
    limit("Less", column, lengths);
  }
  if (!isCausal && left < 0 && right < 0)
    return;
  // The position of the first row's own key.
  GraphValue *first =
      lengths ? made.apply("Sub", {lengths, number(rows)}) : number(past);
  GraphValue *row = made.apply("Add", {range(rows, {rows, 1}), first});
  if (isCausal)
    limit("LessOrEqual", column, row);
  if (left >= 0)
    limit("GreaterOrEqual", column, made.apply("Sub", {row, number(left)}));
  if (right >= 0)
    limit("LessOrEqual", column, made.apply("Add", {row, number(right)}));
}

/// The operand, which hides the positions that it is too short for.
void AttentionImporter::readMask() {
  if (!node.has(Mask))
    return;
  GraphValue *mask = &node.operand(Mask);
  const bool isBool = mask->type == TensorProto::BOOL;
  if ((!isBool && mask->type != type) || mask->shape.empty() ||
      mask->shape.size() > 4)
    return node.error("expected a mask of bool or " + elementTypeName(type) +
                      " of at most 4 dimensions, found " +
                      elementTypeName(mask->type) + " of shape " +
                      shapeText(mask->shape));
  const int64_t missing = positions - mask->shape.back();
  if (mask->shape.back() != 1 && missing > 0) {
    Shape shape(mask->shape);
    const auto axis = static_cast<int64_t>(shape.size()) - 1;
    shape.back() = missing;
    GraphValue *rest =
        isBool ? made.expand(made.constant(TensorProto::BOOL, {}, {0}), shape)
               : made.filled(type, shape,
                             -std::numeric_limits<double>::infinity());
    mask = made.concat({mask, rest}, axis);
  }
  if (!isBool)
    added = mask;
  else
    allowed = allowed ? made.apply("And", {mask, allowed}) : mask;
}

/// May all positions of a row be hidden? No if that is known.
bool AttentionImporter::hidesRows() {
  if (!added && !node.has(Mask) && !node.has(Lengths) && left < 0)
    return false; // a row's own position is not
  GraphValue *mask = added ? added : allowed;
  if (!mask)
    return false;
  if (mask->kind != GraphValue::Kind::Constant)
    return true;
  const Constant &known = mask->constant;
  const int64_t columns = known.shape.back();
  for (int64_t row = 0; row < known.size(); row += columns)
    if (llvm::none_of(llvm::seq(row, row + columns), [&](int64_t i) {
          return added ? known.floats[i] >= kHidden : known.ints[i] != 0;
        }))
      return true;
  return false;
}

/// Rows that look at something, as bools [..., rows, 1].
GraphValue *AttentionImporter::visibleRows() {
  GraphValue *mask = added ? added : allowed;
  Value numbers = node.check(node.importer.floatsOf(*mask));
  if (node.failed())
    return nullptr;
  Shape shape(mask->shape);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  shape.back() = 1;
  GraphValue *most = made.computed(
      added ? type : int32_t(TensorProto::FLOAT),
      node.part<ff::ReduceMaxOp>("most", shape, numbers, node.list({last}),
                                 node.importer.builder.getI64IntegerAttr(1)));
  return made.apply("GreaterOrEqual",
                    {most, made.number(most->type, added ? kHidden : 1)});
}

GraphValue *AttentionImporter::masked(GraphValue *scores, double hidden) {
  if (added)
    return made.apply("Add", {scores, added});
  if (allowed)
    return made.apply("Where", {allowed, scores, made.number(type, hidden)});
  return scores;
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

void AttentionImporter::run() {
  if (!readAttributes())
    return;
  q = heads(Q, queryHeads);
  k = withPast(heads(K, keyHeads), PastKey);
  v = withPast(heads(V, keyHeads), PastValue);
  checkShapes();
  if (node.failed())
    return;
  if (node.isUsed(PresentKey))
    node.define(PresentKey, k);
  if (node.isUsed(PresentValue))
    node.define(PresentValue, v);
  queryHeads = q->shape[1];
  rows = q->shape[2];
  positions = k->shape[2];
  past = node.has(PastKey) ? node.shape(PastKey)[2] : 0;
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<double>(q->shape[3]));
  k = repeated(k);
  v = repeated(v);
  readPositions();
  readMask();
  if (added && allowed)
    added = made.apply(
        "Where", {allowed, added,
                  made.number(type, -std::numeric_limits<double>::infinity())});

  GraphValue *scores =
      made.apply("MatMul", {q, made.transpose(k, {0, 1, 3, 2})});
  scores = made.apply("Mul", {scores, made.number(type, scale)});
  GraphValue *result = shown == Raw ? scores : nullptr;
  if (cap != 0) {
    scores = made.apply("Mul", {scores, made.number(type, 1 / cap)});
    scores = made.apply("Tanh", {scores});
    scores = made.apply("Mul", {scores, made.number(type, cap)});
  }
  if (shown == Capped)
    result = scores;
  else if (shown == Masked && node.isUsed(Scores))
    result = masked(scores, -std::numeric_limits<double>::infinity());
  GraphValue *visible = !node.failed() && hidesRows() ? visibleRows() : nullptr;
  // Of a row of infinities neither the softmax nor its gradient is a number.
  if (visible && added)
    added =
        made.apply("Max", {added, made.number(type, type == TensorProto::FLOAT16
                                                        ? -65504
                                                        : kHidden / 2)});
  GraphValue *weights =
      made.apply("Softmax", {masked(scores, kHidden)}, "axis", 3);
  if (visible)
    weights = made.apply("Where", {visible, weights, made.number(type, 0)});
  if (shown == Probabilities)
    result = weights;
  GraphValue *y = made.apply("MatMul", {weights, v});
  if (isFlat && y) {
    const Shape shape(y->shape);
    y = made.reshape(made.transpose(y, {0, 2, 1, 3}),
                     {shape[0], shape[2], shape[1] * shape[3]});
  }
  if (node.failed())
    return;
  node.define(0, y);
  if (node.isUsed(Scores))
    node.define(Scores, result);
}

static void importAttention(NodeImporter &node) {
  AttentionImporter(node).run();
}

void ffc::importer::registerAttentionOp() {
  registerOp("Attention", {importAttention, 3, 7});
}
