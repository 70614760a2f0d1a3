//===- FlexAttentionOp.cpp - attention with graphs for its scores ---------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include <cmath>

using namespace ffc;
using namespace ffc::importer;
using onnx::AttributeProto;

/// What the graph in an attribute makes of `value`, which stays if there is
/// none.
static GraphValue *modified(NodeImporter &node, const char *attribute,
                            GraphValue *value) {
  const AttributeProto *found =
      node.attribute(attribute, AttributeProto::GRAPH);
  if (!found || !value || node.failed())
    return value;
  const onnx::GraphProto &graph = found->g();
  if (graph.input_size() != 1 || graph.output_size() != 1) {
    node.error("attribute '" + llvm::StringRef(attribute) +
               "': expected a graph of one input and one output, found " +
               llvm::Twine(graph.input_size()) + " and " +
               llvm::Twine(graph.output_size()));
    return nullptr;
  }
  Scope scope = node.innerScope();
  scope.values[graph.input(0).name()] = value;
  const Shape shape(value->shape);
  llvm::SmallVector<GraphValue *> results = node.importGraph(graph, scope);
  if (results.empty())
    return nullptr;
  if (results.front()->kind == GraphValue::Kind::Unsupported) {
    node.skip();
    return nullptr;
  }
  if (results.front()->shape != shape) {
    node.error("attribute '" + llvm::StringRef(attribute) +
               "': expected a result of shape " + shapeText(shape) +
               ", found " + shapeText(results.front()->shape));
    return nullptr;
  }
  return results.front();
}

static void importFlexAttention(NodeImporter &node) {
  enum { Q, K, V };
  node.ignore("softmax_precision"); // f32 at least
  takeNumberType(node, Q, /*integers=*/false);
  for (int i : {Q, K, V})
    node.expectRank(i, 4);
  if (node.failed())
    return;
  const Shape q(node.shape(Q)), k(node.shape(K)), v(node.shape(V));
  if (k[0] != q[0] || v[0] != q[0] || k[1] != v[1] || k[2] != v[2] ||
      k[3] != q[3] || q[1] % k[1] != 0)
    return node.error(
        "expected queries, keys and values of one batch, keys as wide as "
        "queries, a value per key, and heads of queries in multiples of those "
        "of keys, found " +
        shapeText(q) + ", " + shapeText(k) + " and " + shapeText(v));
  double scale = node.real("scale", 0);
  if (!findAttribute(node.node, "scale"))
    scale = 1 / std::sqrt(static_cast<double>(q[3]));
  Expression made(node);
  // Keys and values once for every head of the queries that looks at them.
  auto repeated = [&](GraphValue *x) {
    const Shape from(x->shape);
    if (from[1] == q[1])
      return x;
    const int64_t group = q[1] / from[1];
    x = made.reshape(x, {from[0], from[1], 1, from[2], from[3]});
    x = made.expand(x, {from[0], from[1], group, from[2], from[3]});
    return made.reshape(x, {from[0], q[1], from[2], from[3]});
  };
  GraphValue *keys = repeated(&node.operand(K)),
             *values = repeated(&node.operand(V));
  GraphValue *scores = made.apply(
      "MatMul", {&node.operand(Q), made.transpose(keys, {0, 1, 3, 2})});
  // Graphs compute in the precision of the softmax.
  const int32_t type = node.operand(Q).type,
                inner = type == onnx::TensorProto::DOUBLE
                            ? type
                            : int32_t(onnx::TensorProto::FLOAT);
  scores = made.cast(made.mul(scores, scale), inner);
  scores = modified(node, "score_mod", scores);
  GraphValue *weights = made.apply("Softmax", {scores}, "axis", 3);
  weights = made.cast(modified(node, "prob_mod", weights), type);
  made.define(made.apply("MatMul", {weights, values}));
}

void ffc::importer::registerFlexAttentionOp() {
  registerOp("ai.onnx.preview.FlexAttention", {importFlexAttention, 3, 3});
}
