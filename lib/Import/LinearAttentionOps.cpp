//===- LinearAttentionOps.cpp - LinearAttention, CausalConvWithState ------===//
//
// Sequences with a state: of linear attention one that is updated from position
// to position, which are unrolled; of a convolution the last positions.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include <cmath>

using namespace ffc;
using namespace ffc::importer;
using llvm::StringRef;
using llvm::Twine;

namespace {
class LinearAttentionImporter {
public:
  LinearAttentionImporter(NodeImporter &node) : node(node), made(node) {}
  void run();

private:
  enum { Query, Key, Value, Past, Decay, Beta };
  bool readAttributes();
  GraphValue *heads(int i, int64_t count);
  GraphValue *at(GraphValue *heads, int64_t position);
  GraphValue *step(GraphValue *state, int64_t position);

  NodeImporter &node;
  Expression made;
  bool isGated = false, isDelta = false;
  int64_t queryHeads = 0, keyHeads = 0;
  int64_t batch = 0, length = 0, keyWidth = 0, valueWidth = 0;
  double scale = 0;
  GraphValue *q = nullptr, *k = nullptr, *v = nullptr, *decay = nullptr,
             *beta = nullptr;
};
} // namespace

bool LinearAttentionImporter::readAttributes() {
  const StringRef rule = node.text("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" &&
      rule != "gated_delta")
    node.error("expected update_rule linear, gated, delta or gated_delta, "
               "found '" +
               rule + "'");
  isGated = rule.starts_with("gated");
  isDelta = rule.ends_with("delta");
  node.ignore("chunk_size"); // how others compute the same
  queryHeads = node.integer("q_num_heads", 0);
  keyHeads = node.integer("kv_num_heads", 0);
  scale = node.real("scale", 0);
  takeNumberType(node, Query, /*integers=*/false);
  for (int i : {Query, Key, Value})
    node.expectRank(i, 3);
  if (keyHeads < 1 || queryHeads < 1 || queryHeads % keyHeads != 0)
    node.error("expected attributes 'kv_num_heads' and 'q_num_heads', a "
               "multiple of it, found " +
               Twine(keyHeads) + " and " + Twine(queryHeads));
  if (isGated != node.has(Decay))
    node.error("expected " + Twine(isGated ? "an" : "no") +
               " operand 4 (decay) by update_rule " + rule);
  if (isDelta != node.has(Beta))
    node.error("expected " + Twine(isDelta ? "an" : "no") +
               " operand 5 (beta) by update_rule " + rule);
  if (node.failed())
    return false;
  batch = node.shape(Query)[0];
  length = node.shape(Query)[1];
  if (length > kMaxUnrolled)
    node.error("expected at most " + Twine(kMaxUnrolled) +
               " positions, which are unrolled, found " + Twine(length));
  for (int i : {Key, Value})
    if (node.shape(i)[0] != batch || node.shape(i)[1] != length)
      node.error("expected queries, keys and values of one batch and length, "
                 "found " +
                 shapeText(node.shape(Query)) + " and " +
                 shapeText(node.shape(i)));
  node.expectNoChangedBatch(Query, 1);
  return !node.failed();
}

/// Operand i as [batch, heads, length, width].
GraphValue *LinearAttentionImporter::heads(int i, int64_t count) {
  const Shape from(node.shape(i));
  if (from.size() != 3 || from[0] != batch || from[1] != length ||
      from[2] % count != 0) {
    node.error("expected operand " + Twine(i) + " of " + Twine(batch) +
               " samples, " + Twine(length) + " positions and a width that " +
               Twine(count) + " heads share, found shape " + shapeText(from));
    return nullptr;
  }
  return made.transpose(
      made.reshape(&node.operand(i), {batch, length, count, from[2] / count}),
      {0, 2, 1, 3});
}

/// [batch, heads, 1, width].
GraphValue *LinearAttentionImporter::at(GraphValue *heads, int64_t position) {
  return made.slice(heads, 2, position, position + 1);
}

/// [batch, heads, width of keys, width of values], behind `position`.
GraphValue *LinearAttentionImporter::step(GraphValue *state, int64_t position) {
  GraphValue *key = made.transpose(at(k, position), {0, 1, 3, 2}),
             *value = at(v, position);
  if (isGated) // once per head, or per key's dimension
    state = made.mul(
        state,
        made.apply("Exp", {made.transpose(at(decay, position), {0, 1, 3, 2})}));
  if (isDelta) {
    GraphValue *known = made.apply("MatMul", {at(k, position), state});
    value = made.mul(at(beta, position), made.sub(value, known));
  }
  return made.add(state, made.mul(key, value));
}

void LinearAttentionImporter::run() {
  if (!readAttributes())
    return;
  q = heads(Query, queryHeads);
  k = heads(Key, keyHeads);
  v = heads(Value, keyHeads);
  if (node.failed())
    return;
  keyWidth = k->shape[3];
  valueWidth = v->shape[3];
  if (q->shape[3] != keyWidth)
    return node.error("expected keys as wide as queries, found " +
                      Twine(keyWidth) + " and " + Twine(q->shape[3]));
  if (scale == 0)
    scale = 1 / std::sqrt(static_cast<double>(keyWidth));
  const Shape shape = {batch, keyHeads, keyWidth, valueWidth};
  if (isGated) {
    decay = heads(Decay, keyHeads);
    if (decay && decay->shape[3] != 1 && decay->shape[3] != keyWidth)
      node.error("expected a decay per head or per dimension of keys as "
                 "operand 4, found shape " +
                 shapeText(node.shape(Decay)));
  }
  if (isDelta) {
    beta = heads(Beta, node.shape(Beta).back() == 1 ? 1 : keyHeads);
    if (beta && beta->shape[3] != 1)
      node.error("expected a number per head, or one, as operand 5, found "
                 "shape " +
                 shapeText(node.shape(Beta)));
  }
  GraphValue *state = nullptr;
  if (node.has(Past)) {
    state = &node.operand(Past);
    if (state->shape != shape)
      node.error("expected a state of shape " + shapeText(shape) +
                 " as operand 3, found " + shapeText(state->shape));
  } else {
    state = made.filled(node.operand(Query).type, shape, 0);
  }
  const int64_t group = queryHeads / keyHeads;
  llvm::SmallVector<GraphValue *> results;
  for (int64_t i = 0; i < length && !node.failed(); ++i) {
    state = step(state, i);
    // Queries that share a head of keys are rows of one product.
    GraphValue *query =
        made.reshape(at(q, i), {batch, keyHeads, group, keyWidth});
    GraphValue *y = made.apply("MatMul", {query, state});
    results.push_back(made.reshape(y, {batch, 1, queryHeads * valueWidth}));
  }
  if (node.failed())
    return;
  made.define(made.mul(made.concat(results, 1), scale));
  if (node.isUsed(1))
    made.define(state, 1);
}

static void importLinearAttention(NodeImporter &node) {
  LinearAttentionImporter(node).run();
}

/// A convolution of every channel with what is before a position.
static void importCausalConv(NodeImporter &node) {
  enum { X, W, Bias, Past };
  const StringRef activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    node.error("expected activation none, silu or swish, found '" + activation +
               "'");
  takeNumberType(node, X, /*integers=*/false);
  node.expectRank(X, 3);
  node.expectRank(W, 3);
  if (node.failed())
    return;
  const Shape from(node.shape(X)), weights(node.shape(W));
  if (weights[0] != from[1] || weights[1] != 1)
    return node.error("expected weights of shape " + Twine(from[1]) +
                      " x 1 x (kernel), found " + shapeText(weights));
  node.expectNoChangedBatch(X, 2);
  Expression made(node);
  const int64_t before = weights[2] - 1;
  const Shape past = {from[0], from[1], before};
  if (node.has(Past) && node.operand(Past).shape != past)
    node.error("expected a state of shape " + shapeText(past) +
               " as operand 3, found " + shapeText(node.shape(Past)));
  if (node.failed())
    return;
  GraphValue *x = &node.operand(X);
  if (before > 0)
    x = made.concat(
        {node.has(Past) ? &node.operand(Past) : made.filled(x->type, past, 0),
         x},
        2);
  llvm::SmallVector<GraphValue *> in = {x, &node.operand(W)};
  if (node.has(Bias))
    in.push_back(&node.operand(Bias));
  GraphValue *y = made.make(MadeNode("Conv").integer("group", from[1]), in);
  made.define(activation == "none" ? y : made.apply("Swish", {y}));
  if (!node.isUsed(1) || node.failed())
    return;
  if (before == 0)
    return node.defineEmpty(1, past);
  made.define(made.slice(x, 2, from[2], from[2] + before), 1);
}

void ffc::importer::registerLinearAttentionOps() {
  registerOp("CausalConvWithState", {importCausalConv, 2, 4, 0b110});
  registerOp("LinearAttention", {importLinearAttention, 3, 6});
}
