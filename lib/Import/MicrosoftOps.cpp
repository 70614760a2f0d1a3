//===- MicrosoftOps.cpp - operators of ONNX Runtime's optimizers ----------===//
//
// The domain com.microsoft has what ONNX Runtime fuses nodes into. They are
// written in terms of ONNX's operators again.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "llvm/ADT/Sequence.h"

using namespace ffc;
using namespace ffc::importer;
using onnx::AttributeProto;

/// Gelu of x + bias; FastGelu, whose bias may be missing, approximates it.
static void importBiasGelu(NodeImporter &node) {
  Expression made(node);
  GraphValue *x = &node.operand(0);
  if (node.has(1))
    x = made.apply("Add", {x, &node.operand(1)});
  if (!x)
    return;
  MadeNode gelu("Gelu");
  if (node.opType() == "FastGelu")
    gelu.text("approximate", "tanh");
  made.define(made.make(gelu, {x}));
}

/// alpha op(a) op(b), with batches.
static void importFusedMatMul(NodeImporter &node) {
  const double alpha = node.real("alpha", 1);
  const bool transposes[] = {node.integer("transA", 0) != 0,
                             node.integer("transB", 0) != 0};
  for (const char *name : {"transBatchA", "transBatchB"})
    if (node.integer(name, 0) != 0)
      node.error("expected " + llvm::Twine(name) + " of 0");
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  Expression made(node);
  if (node.rank(0) == 2 && node.rank(1) == 2) {
    return made.define(made.make(MadeNode("Gemm")
                                     .real("alpha", alpha)
                                     .integer("transA", transposes[0])
                                     .integer("transB", transposes[1]),
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
  made.define(product);
}

/// Layer normalisation of input + skip + bias, or, simplified, by the root of
/// the mean of squares; result 3 is that sum.
static void importSkipNormalization(NodeImporter &node) {
  const bool isSimple = node.opType() == "SkipSimplifiedLayerNormalization";
  const int shift = 3, bias = isSimple ? 3 : 4;
  const double epsilon = node.real("epsilon", 1e-12f);
  Expression made(node);
  GraphValue *sum = made.add(&node.operand(0), &node.operand(1));
  if (node.has(bias))
    sum = made.add(sum, &node.operand(bias));
  if (!sum)
    return;
  llvm::SmallVector<GraphValue *> in = {sum, &node.operand(2)};
  if (!isSimple && node.has(shift))
    in.push_back(&node.operand(shift));
  made.define(
      made.make(MadeNode(isSimple ? "RMSNormalization" : "LayerNormalization")
                    .integer("axis", -1)
                    .real("epsilon", epsilon),
                in));
  if (node.isUsed(3))
    node.define(3, sum);
}

/// A convolution of x and weights, with bias, plus an image, and a function of
/// the sum.
static void importFusedConv(NodeImporter &node) {
  const llvm::StringRef activation = node.text("activation", "");
  std::vector<double> parameters;
  if (const AttributeProto *given =
          node.attribute("activation_params", AttributeProto::FLOATS))
    parameters.assign(given->floats().begin(), given->floats().end());
  onnx::NodeProto conv;
  conv.set_op_type("Conv");
  for (const AttributeProto &attribute : node.node.attribute()) {
    if (llvm::StringRef(attribute.name()).starts_with("activation"))
      continue;
    node.ignore(attribute.name());
    *conv.add_attribute() = attribute;
  }
  struct Activation {
    llvm::StringRef name;
    llvm::SmallVector<const char *, 2> attributes;
  };
  static const Activation known[] = {{"", {}},
                                     {"Relu", {}},
                                     {"Tanh", {}},
                                     {"Sigmoid", {}},
                                     {"Clip", {"", ""}},
                                     {"LeakyRelu", {"alpha"}},
                                     {"HardSigmoid", {"alpha", "beta"}}};
  const auto *found = llvm::find_if(
      known, [&](const Activation &each) { return each.name == activation; });
  if (found == std::end(known))
    return node.error("expected attribute 'activation' Relu, Tanh, Sigmoid, "
                      "Clip, LeakyRelu or HardSigmoid, found '" +
                      activation + "'");
  if (parameters.size() != found->attributes.size())
    return node.error("expected " + llvm::Twine(found->attributes.size()) +
                      " numbers in attribute 'activation_params' of " +
                      activation + ", found " + llvm::Twine(parameters.size()));
  Expression made(node);
  llvm::SmallVector<GraphValue *> in = {&node.operand(0), &node.operand(1)};
  if (node.has(2))
    in.push_back(&node.operand(2));
  GraphValue *y = made.make(std::move(conv), in);
  if (node.has(3))
    y = made.add(y, &node.operand(3));
  if (activation == "Clip") {
    y = made.clamp(y, parameters[0], parameters[1]);
  } else if (!activation.empty()) {
    MadeNode function(activation);
    for (auto [name, value] : llvm::zip_equal(found->attributes, parameters))
      function.real(name, value);
    y = made.make(std::move(function), {y});
  }
  made.define(y);
}

/// Rows of three tables, added up and normalised. Result 1 is how many
/// positions of a sample the mask has, 2 the sum.
static void importEmbedLayerNormalization(NodeImporter &node) {
  enum { Ids, Segments, Words, Positions, SegmentTable, Scale, Shift, Mask };
  constexpr int kPositionIds = 8;
  const double epsilon = node.real("epsilon", 1e-12f);
  node.ignore("mask_index_type");
  for (int i : {Ids, Words, Positions, Scale, Shift})
    if (!node.has(i))
      node.error("operand " + llvm::Twine(i) + " is missing");
  if (node.failed())
    return;
  node.expectRank(Ids, 2);
  if (node.failed())
    return;
  const Shape shape(node.shape(Ids));
  Expression made(node);
  auto look = [&](int table, GraphValue *ids) {
    return made.apply("Gather", {&node.operand(table), ids}, "axis", 0);
  };
  GraphValue *sum = look(Words, &node.operand(Ids));
  GraphValue *positions = nullptr;
  if (node.has(kPositionIds)) {
    positions = look(Positions, &node.operand(kPositionIds));
  } else {
    if (node.rank(Positions) != 2 || node.shape(Positions)[0] < shape[1])
      return node.error("expected a row for each of " + llvm::Twine(shape[1]) +
                        " positions as operand 3, found shape " +
                        shapeText(node.shape(Positions)));
    positions = made.slice(&node.operand(Positions), 0, 0, shape[1]);
  }
  sum = made.add(sum, positions);
  if (node.has(Segments) && node.has(SegmentTable))
    sum = made.add(sum, look(SegmentTable, &node.operand(Segments)));
  made.define(made.make(MadeNode("LayerNormalization")
                            .integer("axis", -1)
                            .real("epsilon", epsilon),
                        {sum, &node.operand(Scale), &node.operand(Shift)}));
  if (node.failed())
    return;
  if (node.isUsed(1))
    made.define(node.has(Mask)
                    ? made.reduce("ReduceSum", &node.operand(Mask), 1)
                    : made.constant(onnx::TensorProto::INT32, {shape[0]},
                                    std::vector<int64_t>(shape[0], 0)),
                1);
  if (node.isUsed(2))
    node.define(2, sum);
}

void ffc::importer::registerMicrosoftOps() {
  registerOp("com.microsoft.BiasGelu", {importBiasGelu, 2, 2, 0b10});
  registerOp("com.microsoft.EmbedLayerNormalization",
             {importEmbedLayerNormalization, 1, 9, 0b1111100});
  registerOp("com.microsoft.FastGelu", {importBiasGelu, 1, 2, 0b10});
  registerOp("com.microsoft.FusedConv", {importFusedConv, 2, 4, 0b110});
  registerOp("com.microsoft.FusedMatMul", {importFusedMatMul, 2, 2, 0b10});
  registerOp("com.microsoft.Gelu", {importBiasGelu, 1, 1});
  registerOp("com.microsoft.SkipLayerNormalization",
             {importSkipNormalization, 3, 5, 0b11100});
  registerOp("com.microsoft.SkipSimplifiedLayerNormalization",
             {importSkipNormalization, 3, 4, 0b1100});
}
