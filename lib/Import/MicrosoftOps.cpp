//===- MicrosoftOps.cpp - operators of ONNX Runtime's optimizers ----------===//
//
// The domain com.microsoft has what ONNX Runtime fuses nodes into. They are
// written in terms of ONNX's operators again.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include "llvm/ADT/Sequence.h"

using namespace ffc;
using namespace ffc::importer;
using onnx::AttributeProto;
using onnx::NodeProto;

/// A node that is to have operands and attributes.
static NodeProto makeNode(const char *opType) {
  NodeProto made;
  made.set_op_type(opType);
  return made;
}

static void addReal(NodeProto &made, const char *name, double value) {
  AttributeProto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(static_cast<float>(value));
}

static void addInteger(NodeProto &made, const char *name, int64_t value) {
  AttributeProto &attribute = *made.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
}

static void defineIfMade(NodeImporter &node, GraphValue *value) {
  if (value && !node.failed())
    node.define(0, value);
}

/// Gelu of x + bias; FastGelu, whose bias may be missing, approximates it.
static void importBiasGelu(NodeImporter &node) {
  Expression made(node);
  GraphValue *x = &node.operand(0);
  if (node.has(1))
    x = made.apply("Add", {x, &node.operand(1)});
  if (!x)
    return;
  NodeProto gelu = makeNode("Gelu");
  if (node.opType() == "FastGelu") {
    AttributeProto &attribute = *gelu.add_attribute();
    attribute.set_name("approximate");
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s("tanh");
  }
  defineIfMade(node, made.make(std::move(gelu), {x}));
}

/// alpha op(a) op(b), with batches.
static void importFusedMatMul(NodeImporter &node) {
  const double alpha = node.real("alpha", 1);
  const bool transposes[] = {node.integer("transA", 0) != 0,
                             node.integer("transB", 0) != 0};
  for (const char *name : {"transBatchA", "transBatchB"})
    if (node.integer(name, 0) != 0)
      node.error("expected " + llvm::Twine(name) + " of 0");
  if (node.failed())
    return;
  Expression made(node);
  if (node.rank(0) == 2 && node.rank(1) == 2) {
    NodeProto product = makeNode("Gemm");
    addReal(product, "alpha", alpha);
    addInteger(product, "transA", transposes[0]);
    addInteger(product, "transB", transposes[1]);
    return defineIfMade(node, made.make(std::move(product),
                                        {&node.operand(0), &node.operand(1)}));
  }
  GraphValue *factors[] = {&node.operand(0), &node.operand(1)};
  for (int i : {0, 1}) {
    const int64_t rank = node.rank(i);
    if (!transposes[i] || rank < 2)
      continue;
    Shape perm = llvm::to_vector(llvm::seq(rank));
    std::swap(perm[rank - 2], perm[rank - 1]);
    factors[i] = made.transpose(factors[i], perm);
  }
  GraphValue *product = made.apply("MatMul", factors);
  if (alpha != 1)
    product =
        made.apply("Mul", {product, made.number(node.operand(0).type, alpha)});
  defineIfMade(node, product);
}

/// Layer normalisation of input + skip + bias; result 3 is that sum.
static void importSkipLayerNormalization(NodeImporter &node) {
  const double epsilon = node.real("epsilon", 1e-12f);
  Expression made(node);
  GraphValue *sum = made.apply("Add", {&node.operand(0), &node.operand(1)});
  if (node.has(4))
    sum = made.apply("Add", {sum, &node.operand(4)});
  if (!sum)
    return;
  NodeProto norm = makeNode("LayerNormalization");
  addInteger(norm, "axis", -1);
  addReal(norm, "epsilon", epsilon);
  llvm::SmallVector<GraphValue *> in = {sum, &node.operand(2)};
  if (node.has(3))
    in.push_back(&node.operand(3));
  defineIfMade(node, made.make(std::move(norm), in));
  if (node.isUsed(3))
    node.define(3, sum);
}

void ffc::importer::registerMicrosoftOps() {
  registerOp("com.microsoft.BiasGelu", {importBiasGelu, 2, 2, 0b10});
  registerOp("com.microsoft.FastGelu", {importBiasGelu, 1, 2, 0b10});
  registerOp("com.microsoft.FusedMatMul", {importFusedMatMul, 2, 2, 0b10});
  registerOp("com.microsoft.Gelu", {importBiasGelu, 1, 1});
  registerOp("com.microsoft.SkipLayerNormalization",
             {importSkipLayerNormalization, 3, 5, 0b11100});
}
