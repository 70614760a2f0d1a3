//===- RandomOps.cpp - random numbers -------------------------------------===//
//
// As masks of dropout, numbers follow from the program's seed, the step and the
// node's name, so attributes 'seed' say nothing.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/Hash.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// Random numbers of `shape`, uniform in [0, 1) or normal; null after an error.
static Value draw(NodeImporter &node, ff::NoiseKind kind,
                  ArrayRef<int64_t> shape) {
  node.ignore("seed"); // the program has its own
  Constant zero;
  zero.type = TensorProto::FLOAT;
  zero.floats = {0};
  Value x = node.knownNumbers("zero", std::move(zero));
  node.partType(shape);
  if (node.failed())
    return {};
  if (!shape.empty())
    x = node.part<ff::ExpandOp>("zeros", shape, x);
  const auto key = static_cast<int64_t>(ff::hashName(node.getName()));
  return node.part<ff::NoiseOp>("drawn", shape, kind, x, key);
}

static bool isNormal(StringRef opType) {
  return opType.starts_with("RandomNormal");
}

/// The type that attribute 'dtype' gives.
static int32_t readType(NodeImporter &node, int32_t missing) {
  const auto type = static_cast<int32_t>(node.integer("dtype", missing));
  if (!isFloatType(type))
    node.unsupported(" of " + elementTypeName(type));
  return type;
}

/// Result 0 has random numbers in `shape`, whose range or moments attributes
/// give.
static void importRandom(NodeImporter &node, ArrayRef<int64_t> shape,
                         int32_t type) {
  const bool normal = isNormal(node.opType());
  const double first = node.real(normal ? "mean" : "low", 0),
               second = node.real(normal ? "scale" : "high", 1);
  type = readType(node, type);
  node.setElementType(type);
  node.resultType(shape);
  Value drawn = draw(
      node, normal ? ff::NoiseKind::Normal : ff::NoiseKind::Uniform, shape);
  if (node.failed())
    return;
  Value y = unaryPart(node, "scaled", ff::UnaryKind::Scale, drawn,
                      normal ? second : second - first);
  node.defineLast(unaryPart(node, "", ff::UnaryKind::Shift, y, first));
}

static void importRandomOfShape(NodeImporter &node) {
  const auto shape = node.integers("shape");
  if (!shape)
    return node.error("expected an attribute 'shape'");
  if (!elementCount(*shape))
    return node.error("attribute 'shape': " + shapeText(*shape) +
                      " has a negative extent or too many elements");
  importRandom(node, *shape, TensorProto::FLOAT);
}

static void importRandomLike(NodeImporter &node) {
  importRandom(node, node.shape(0), node.operand(0).type);
}

/// 1 where a uniform number is below the probability that is operand 0.
static void importBernoulli(NodeImporter &node) {
  const auto type =
      static_cast<int32_t>(node.integer("dtype", node.operand(0).type));
  if (!isCarriedType(type))
    node.unsupported(" of " + elementTypeName(type));
  Value p = node.tensor(0);
  Value drawn = draw(node, ff::NoiseKind::Uniform, node.shape(0));
  if (node.failed())
    return;
  node.setElementType(type);
  node.defineLast(binaryPart(node, "", ff::BinaryKind::Less, drawn, p));
}

void ffc::importer::registerRandomOps() {
  registerOp("Bernoulli", {importBernoulli, 1, 1});
  registerOp("RandomNormal", {importRandomOfShape, 0, 0});
  registerOp("RandomNormalLike", {importRandomLike, 1, 1});
  registerOp("RandomUniform", {importRandomOfShape, 0, 0});
  registerOp("RandomUniformLike", {importRandomLike, 1, 1});
}
