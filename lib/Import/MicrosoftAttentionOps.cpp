//===- MicrosoftAttentionOps.cpp - attention as ONNX Runtime fuses it -----===//
//
// In terms of ONNX's Attention and RotaryEmbedding.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include <numeric>

using namespace ffc;
using namespace ffc::importer;
using llvm::Twine;
using onnx::TensorProto;

namespace {
/// Queries, keys and values, and what is known of them.
struct Parts {
  GraphValue *q = nullptr, *k = nullptr, *v = nullptr;
  GraphValue *pastKey = nullptr, *pastValue = nullptr;
  GraphValue *mask = nullptr, *lengths = nullptr;
  int64_t queryHeads = 0, keyHeads = 0;
  double scale = 0, cap = 0;
  bool isCausal = false;
  int64_t window = -1; ///< positions before one's own that are looked at
};

class FusedAttention {
public:
  explicit FusedAttention(NodeImporter &node) : node(node), made(node) {}

  /// Of one product for all three.
  void runPacked();
  void runMultiHead();
  void runGroupQuery();

private:
  NodeImporter &node;
  Expression made;
  Parts parts;

  int64_t readHeads(const char *name, int64_t width);
  void readMask(int i);
  void addMask(GraphValue *allowed);
  void addBias(int i);
  void split(GraphValue *joined, int64_t first, int64_t second);
  void turn(GraphValue *&x, int64_t heads, int cosines, GraphValue *positions);
  void finish(int presentKey, int presentValue, bool isJoined);
  /// 0, 1, ...
  GraphValue *range(int64_t count, llvm::ArrayRef<int64_t> shape) {
    std::vector<int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return made.constant(TensorProto::INT64, shape, std::move(numbers));
  }
};
} // namespace

/// Attribute `name`, a number of heads that share `width`.
int64_t FusedAttention::readHeads(const char *name, int64_t width) {
  const int64_t heads = node.integer(name, 0);
  if (heads < 1 || width % heads != 0)
    node.error("expected an attribute '" + llvm::StringRef(name) +
               "' that divides a width of " + Twine(width) + ", found " +
               Twine(heads));
  return node.failed() ? 1 : heads;
}

/// Of three dimensions, `joined` is cut behind `first` and `second` columns.
void FusedAttention::split(GraphValue *joined, int64_t first, int64_t second) {
  if (!joined)
    return;
  const int64_t width = joined->shape[2];
  parts.q = made.slice(joined, 2, 0, first);
  parts.k = made.slice(joined, 2, first, first + second);
  parts.v = made.slice(joined, 2, first + second, width);
}

/// Positions where `allowed`, of bools that broadcast to [batch, heads, rows,
/// columns], does not hold get no weight.
void FusedAttention::addMask(GraphValue *allowed) {
  if (!allowed || node.failed())
    return;
  if (!parts.mask) {
    parts.mask = allowed;
  } else if (parts.mask->type == TensorProto::BOOL) {
    parts.mask = made.apply("And", {parts.mask, allowed});
  } else {
    parts.mask =
        made.where(allowed, parts.mask, made.numberLike(parts.mask, -1e30));
  }
}

/// Operand i is added to scores.
void FusedAttention::addBias(int i) {
  if (!node.has(i) || node.failed())
    return;
  GraphValue *allowed = parts.mask;
  parts.mask = &node.operand(i);
  addMask(allowed);
}

/// Operand i says which keys there are: 0 or 1 for every key [batch, keys], or
/// for every pair [batch, queries, keys], or how many [batch].
void FusedAttention::readMask(int i) {
  if (!node.has(i) || node.failed())
    return;
  GraphValue *given = &node.operand(i);
  const Shape shape(given->shape);
  const int64_t batch = parts.q->shape[0];
  const int64_t keys =
      parts.k->shape[1] + (parts.pastKey ? parts.pastKey->shape[2] : 0);
  auto isTrue = [&](GraphValue *x) {
    return made.apply("Greater", {x, made.numberLike(x, 0)});
  };
  if (shape == Shape{batch})
    return addMask(
        made.apply("Less", {range(keys, {1, 1, 1, keys}),
                            made.cast(made.reshape(given, {batch, 1, 1, 1}),
                                      TensorProto::INT64)}));
  if (shape == Shape{batch, keys})
    return addMask(isTrue(made.reshape(given, {batch, 1, 1, keys})));
  if (shape == Shape{batch, parts.q->shape[1], keys})
    return addMask(
        isTrue(made.reshape(given, {batch, 1, parts.q->shape[1], keys})));
  node.error("expected a mask of " + Twine(batch) + " samples and " +
             Twine(keys) + " keys as operand " + Twine(i) + ", found shape " +
             shapeText(shape));
}

/// The results; of Attention the present keys and values are one, result 1.
void FusedAttention::finish(int presentKey, int presentValue, bool isJoined) {
  if (node.failed() || !parts.q || !parts.k || !parts.v)
    return;
  // Keys and values with those before them.
  auto present = [&](GraphValue *now, GraphValue *past) -> GraphValue * {
    const int64_t heads = parts.keyHeads;
    if (!now)
      return nullptr;
    if (now->shape.size() == 3) {
      const Shape from(now->shape);
      now = made.transpose(
          made.reshape(now, {from[0], from[1], heads, from[2] / heads}),
          {0, 2, 1, 3});
    }
    return past ? made.concat({past, now}, 2) : now;
  };
  GraphValue *keys = present(parts.k, parts.pastKey),
             *values = present(parts.v, parts.pastValue);
  const Shape from(parts.q->shape);
  GraphValue *q =
      made.transpose(made.reshape(parts.q, {from[0], from[1], parts.queryHeads,
                                            from[2] / parts.queryHeads}),
                     {0, 2, 1, 3});
  if (!keys || !values || !q)
    return;
  if (parts.isCausal) {
    const int64_t rows = from[1], columns = keys->shape[2];
    GraphValue *row =
        made.add(range(rows, {rows, 1}), static_cast<double>(columns - rows));
    GraphValue *column = range(columns, {1, columns});
    GraphValue *allowed = made.apply("LessOrEqual", {column, row});
    if (parts.window >= 0)
      allowed = made.apply(
          "And",
          {allowed,
           made.apply("Greater", {column, made.sub(row, static_cast<double>(
                                                            parts.window))})});
    addMask(allowed);
  }
  MadeNode attention("Attention");
  if (parts.scale != 0)
    attention.real("scale", parts.scale);
  if (parts.cap != 0)
    attention.real("softcap", parts.cap);
  llvm::SmallVector<GraphValue *> in = {q, keys, values};
  if (parts.mask)
    in.push_back(parts.mask);
  GraphValue *y = made.make(std::move(attention), in);
  if (!y)
    return;
  const Shape shape(y->shape);
  made.define(made.reshape(made.transpose(y, {0, 2, 1, 3}),
                           {shape[0], shape[2], shape[1] * shape[3]}));
  if (node.failed())
    return;
  if (!isJoined) {
    if (node.isUsed(presentKey))
      node.define(presentKey, keys);
    if (node.isUsed(presentValue))
      node.define(presentValue, values);
    return;
  }
  if (!node.isUsed(presentKey))
    return;
  auto one = [&](GraphValue *x) {
    Shape wide(x->shape);
    wide.insert(wide.begin(), 1);
    return made.reshape(x, wide);
  };
  made.define(made.concat({one(keys), one(values)}, 0), presentKey);
}

void FusedAttention::runPacked() {
  enum { X, W, Bias, Mask, Past, ScoreBias };
  node.expectRank(X, 3);
  node.expectRank(W, 2);
  if (node.failed())
    return;
  const int64_t width = node.shape(W)[1];
  Shape widths =
      node.integers("qkv_hidden_sizes").value_or(Shape(3, width / 3));
  if (widths.size() != 3 || widths[0] < 1 || widths[0] != widths[1] ||
      widths[2] < 1 || widths[0] + widths[1] + widths[2] != width)
    node.error("expected three widths of together " + Twine(width) +
               " for queries, keys and values, found [" + shapeText(widths) +
               "]");
  parts.queryHeads = parts.keyHeads =
      readHeads("num_heads", widths.empty() ? 1 : widths[0]);
  parts.isCausal = node.integer("unidirectional", 0) != 0;
  parts.scale = node.real("scale", 0);
  node.ignore("mask_filter_value"); // nothing is left of what is masked
  node.ignore("past_present_share_buffer");
  if (const int64_t turns = node.integer("do_rotary", 0); turns != 0)
    node.error("expected attribute 'do_rotary' 0, found " + Twine(turns) +
               ": turn queries and keys by RotaryEmbedding before it");
  node.ignore("rotary_embedding_dim");
  if (node.failed())
    return;
  GraphValue *joined =
      made.apply("MatMul", {&node.operand(X), &node.operand(W)});
  if (node.has(Bias))
    joined = made.add(joined, &node.operand(Bias));
  split(joined, widths[0], widths[1]);
  if (node.has(Past)) {
    node.expectRank(Past, 5);
    if (node.failed())
      return;
    auto half = [&](int64_t i) -> GraphValue * {
      GraphValue *one = made.slice(&node.operand(Past), 0, i, i + 1);
      return one ? made.reshape(
                       one,
                       Shape(llvm::ArrayRef<int64_t>(one->shape).drop_front()))
                 : nullptr;
    };
    parts.pastKey = half(0);
    parts.pastValue = half(1);
  }
  if (node.failed())
    return;
  readMask(Mask);
  addBias(ScoreBias);
  finish(1, 1, /*isJoined=*/true);
}

void FusedAttention::runMultiHead() {
  enum { Q, K, V, Bias, Mask, ScoreBias, PastKey, PastValue };
  if (!node.has(K) || !node.has(V))
    node.error("expected keys and values as operands 1 and 2");
  for (int i : {Q, K, V})
    if (!node.failed())
      node.expectRank(i, 3);
  for (int i : {8, 9})
    if (node.has(i))
      node.error("expected no operand " + Twine(i) +
                 ": caches that are written in place are not supported");
  if (node.failed())
    return;
  const int64_t width = node.shape(Q)[2];
  parts.queryHeads = parts.keyHeads = readHeads("num_heads", width);
  parts.isCausal = node.integer("unidirectional", 0) != 0;
  parts.scale = node.real("scale", 0);
  node.ignore("mask_filter_value");
  parts.q = &node.operand(Q);
  parts.k = &node.operand(K);
  parts.v = &node.operand(V);
  if (parts.k->shape[2] % parts.keyHeads != 0 ||
      parts.v->shape[2] % parts.keyHeads != 0)
    node.error("expected keys and values of widths that " +
               Twine(parts.keyHeads) + " heads share, found shapes " +
               shapeText(parts.k->shape) + " and " + shapeText(parts.v->shape));
  if (node.has(Bias) && !node.failed()) {
    const int64_t all = 2 * width + parts.v->shape[2];
    if (node.shape(Bias) != llvm::ArrayRef<int64_t>{all})
      return node.error("expected a bias of shape " + Twine(all) + ", found " +
                        shapeText(node.shape(Bias)));
    GraphValue *bias = &node.operand(Bias);
    parts.q = made.add(parts.q, made.slice(bias, 0, 0, width));
    parts.k = made.add(parts.k, made.slice(bias, 0, width, 2 * width));
    parts.v = made.add(parts.v, made.slice(bias, 0, 2 * width, all));
  }
  if (node.has(PastKey) != node.has(PastValue))
    node.error("expected both of past_key and past_value, found one");
  if (node.failed())
    return;
  if (node.has(PastKey)) {
    node.expectRank(PastKey, 4);
    node.expectRank(PastValue, 4);
    parts.pastKey = &node.operand(PastKey);
    parts.pastValue = &node.operand(PastValue);
  }
  if (node.failed())
    return;
  readMask(Mask);
  addBias(ScoreBias);
  finish(1, 2, /*isJoined=*/false);
}

/// Turns the heads of `x` by rows of the tables `cosines` and the one after.
void FusedAttention::turn(GraphValue *&x, int64_t heads, int cosines,
                          GraphValue *positions) {
  if (!x)
    return;
  const int64_t width = x->shape[2] / heads,
                turned = 2 * node.shape(cosines).back();
  if (turned > width) {
    node.error("expected tables of at most half the width of a head, " +
               Twine(width) + ", found shape " +
               shapeText(node.shape(cosines)));
    return;
  }
  x = made.make(
      MadeNode("RotaryEmbedding")
          .integer("interleaved", node.integer("rotary_interleaved", 0))
          .integer("num_heads", heads)
          .integer("rotary_embedding_dim", turned),
      {x, &node.operand(cosines), &node.operand(cosines + 1), positions});
}

void FusedAttention::runGroupQuery() {
  enum {
    Q,
    K,
    V,
    PastKey,
    PastValue,
    Lengths,
    Total,
    Cosines,
    Sines,
    PositionIds,
    ScoreBias
  };
  node.expectRank(Q, 3);
  if (node.failed())
    return;
  const int64_t queries = node.integer("num_heads", 0),
                keys = node.integer("kv_num_heads", 0);
  const bool isPacked = !node.has(K);
  if (queries < 1 || keys < 1 || queries % keys != 0 ||
      node.shape(Q)[2] % (isPacked ? queries + 2 * keys : queries) != 0)
    node.error("expected attributes 'kv_num_heads' and 'num_heads', a multiple "
               "of it, that share a width of " +
               Twine(node.shape(Q)[2]) + ", found " + Twine(keys) + " and " +
               Twine(queries));
  parts.queryHeads = queries;
  parts.keyHeads = keys;
  parts.isCausal = true;
  parts.scale = node.real("scale", 0);
  parts.cap = node.real("softcap", 0);
  parts.window = node.integer("local_window_size", -1);
  const bool turns = node.integer("do_rotary", 0) != 0;
  node.integer("rotary_interleaved", 0);
  if (const int64_t smooth = node.integer("smooth_softmax", 0); smooth > 0)
    node.error("expected attribute 'smooth_softmax' 0, found " + Twine(smooth));
  for (int i = ScoreBias + 1; i < node.node.input_size(); ++i)
    if (node.has(i))
      node.error("expected no operand " + Twine(i) +
                 ": sinks and narrow caches are not supported");
  if (turns && (!node.has(Cosines) || !node.has(Sines)))
    node.error("expected tables of cosines and sines as operands 7 and 8 with "
               "do_rotary");
  if (node.failed())
    return;
  if (isPacked) {
    const int64_t width = node.shape(Q)[2] / (queries + 2 * keys);
    split(&node.operand(Q), queries * width, keys * width);
  } else {
    node.expectRank(K, 3);
    node.expectRank(V, 3);
    parts.q = &node.operand(Q);
    parts.k = &node.operand(K);
    parts.v = &node.operand(V);
    if (!node.failed() &&
        (node.shape(K)[2] % keys != 0 || node.shape(V)[2] % keys != 0))
      node.error("expected keys and values of widths that " + Twine(keys) +
                 " heads share, found shapes " + shapeText(node.shape(K)) +
                 " and " + shapeText(node.shape(V)));
  }
  if (node.failed())
    return;
  if (node.has(PastKey) && node.shape(PastKey).size() == 4 &&
      node.shape(PastKey)[2] > 0)
    return node.unsupported(" with past keys, which it overwrites");
  const Shape from(parts.q->shape);
  if (turns) {
    GraphValue *positions =
        node.has(PositionIds)
            ? &node.operand(PositionIds)
            : made.expand(range(from[1], {1, from[1]}), {from[0], from[1]});
    turn(parts.q, queries, Cosines, positions);
    turn(parts.k, keys, Cosines, positions);
  }
  if (!parts.k || node.failed())
    return;
  // Operand 5 is the number of each sample's last position.
  if (node.has(Lengths) && node.operand(Lengths).shape.size() <= 2) {
    const int64_t columns = parts.k->shape[1];
    GraphValue *last =
        made.cast(made.reshape(&node.operand(Lengths), {from[0], 1, 1, 1}),
                  TensorProto::INT64);
    addMask(
        made.apply("LessOrEqual", {range(columns, {1, 1, 1, columns}), last}));
  }
  addBias(ScoreBias);
  finish(1, 2, /*isJoined=*/false);
}

static void importPacked(NodeImporter &node) {
  FusedAttention(node).runPacked();
}

static void importMultiHead(NodeImporter &node) {
  FusedAttention(node).runMultiHead();
}

static void importGroupQuery(NodeImporter &node) {
  FusedAttention(node).runGroupQuery();
}

void ffc::importer::registerMicrosoftAttentionOps() {
  registerOp("com.microsoft.Attention", {importPacked, 2, 6, 0b110});
  registerOp("com.microsoft.GroupQueryAttention", {importGroupQuery, 1, 14});
  registerOp("com.microsoft.MultiHeadAttention",
             {importMultiHead, 1, 10, 0b1000});
}
