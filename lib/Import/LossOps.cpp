//===- LossOps.cpp - losses that a model computes itself ------------------===//
//
// Cross-entropy of classes. The plain mean is one operator; everything else is
// composed of logarithms of probabilities and of where the target is.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;
using ff::UnaryKind;
using onnx::TensorProto;

/// The dimension of operand 0 that numbers the classes.
static constexpr int64_t kClassAxis = 1;

namespace {
/// What both losses have in common: operands (x, target, weights), a target of
/// class indices, weights of the classes, a target that does not count.
class ClassLoss {
public:
  explicit ClassLoss(NodeImporter &node);

  /// Is it the mean over all targets?
  int64_t numClasses() const { return classes; }
  bool isPlain() const {
    return reduction == "mean" && !ignored && !node.has(2);
  }
  /// Result 0 is the plain loss of `logits`.
  void definePlain(Value logits);
  /// The loss, composed; reports what is wrong. `logs` has the logarithms of
  /// the classes' probabilities.
  Value compose(Value logs);

private:
  Constant classPlaces() const;
  Value readWeights();
  Value sum(StringRef name, Value x, ArrayRef<int64_t> axes);

  NodeImporter &node;
  StringRef reduction;
  /// The target that does not count, which may be no class.
  std::optional<int64_t> ignored;
  int64_t rank, classes = 0;
};
} // namespace

ClassLoss::ClassLoss(NodeImporter &node) : node(node), rank(node.rank(0)) {
  reduction = node.text("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    node.error("expected reduction 'none', 'sum' or 'mean', found '" +
               reduction + "'");
  if (const auto *given =
          node.attribute("ignore_index", onnx::AttributeProto::INT))
    ignored = given->i();
  if (rank < 2) {
    node.error("expected an operand 0 of samples and classes, found shape " +
               shapeText(node.shape(0)));
    return;
  }
  takeNumberType(node, 0, /*integers=*/false);
  ArrayRef<int64_t> shape = node.shape(0);
  classes = shape[kClassAxis];
  Shape expected(shape.take_front(kClassAxis));
  llvm::append_range(expected, shape.drop_front(kClassAxis + 1));
  int32_t type = node.operand(1).type;
  if (type != TensorProto::INT32 && type != TensorProto::INT64)
    node.error("expected integers as operand 1, found type " +
               elementTypeName(type) +
               "; for targets that are no classes, give --loss=mse or "
               "--loss=bce a model that ends with the scores");
  if (node.shape(1) != ArrayRef<int64_t>(expected))
    node.error("expected a target of shape " + shapeText(expected) +
               ", found " + shapeText(node.shape(1)));
  if (node.has(2)) {
    expectOneType(node, {0, 2});
    if (node.shape(2) != ArrayRef<int64_t>{classes})
      node.error("expected weights of shape " + Twine(classes) + ", found " +
                 shapeText(node.shape(2)));
  }
  if (node.isChangedBatch(0, kClassAxis))
    node.error("has the batch as classes and stands in the way of "
               "--batch-size");
}

void ClassLoss::definePlain(Value logits) {
  Value target = node.check(node.importer.typedValueOf(node.operand(1)));
  if (node.failed())
    return;
  OpBuilder &builder = node.importer.builder;
  auto type = cast<RankedTensorType>(target.getType());
  RankedTensorType labels = type.clone(builder.getI32Type());
  if (type != labels)
    target =
        ff::CastOp::create(builder, node.location("target"), labels, target);
  node.build<ff::CrossEntropyOp>({}, logits, target,
                                 builder.getI64IntegerAttr(kClassAxis),
                                 builder.getF64FloatAttr(0));
}

/// What targets are compared with. No target is where those are that do not
/// count.
Constant ClassLoss::classPlaces() const {
  Constant places = positions(node, classes, rank - kClassAxis);
  if (ignored && *ignored >= 0 && *ignored < classes)
    places.floats[*ignored] = -0.5;
  return places;
}

/// The weights along the dimension of the classes. They are no parameters, even
/// if an exporter made them an initializer.
Value ClassLoss::readWeights() {
  GraphValue &given = node.operand(2);
  bool isKnown = given.kind == GraphValue::Kind::Constant ||
                 given.kind == GraphValue::Kind::Stored;
  Value weights =
      isKnown ? node.knownNumbers("weights", node.constant(2)) : node.tensor(2);
  if (node.failed() || rank == 2)
    return weights;
  Shape column(rank - kClassAxis, 1);
  column.front() = classes;
  return node.part<ff::ReshapeOp>("weight_column", column, weights);
}

Value ClassLoss::sum(StringRef name, Value x, ArrayRef<int64_t> axes) {
  RankedTensorType type = ff::reducedType(cast<RankedTensorType>(x.getType()),
                                          axes, /*keepdims=*/false);
  return node.part<ff::ReduceSumOp>(name, type.getShape(), x, node.list(axes),
                                    node.importer.builder.getI64IntegerAttr(0));
}

Value ClassLoss::compose(Value logs) {
  if (classes > kMaxConstantElements)
    node.error("expected at most " + Twine(kMaxConstantElements) +
               " classes for a loss other than the plain mean, found " +
               Twine(classes));
  Value target = node.numbers(1);
  Value places = node.knownNumbers("classes", classPlaces());
  Value weights = node.has(2) ? readWeights() : Value();
  if (node.failed())
    return {};
  Shape column(node.shape(1));
  column.insert(column.begin() + kClassAxis, 1);
  target = node.part<ff::ReshapeOp>("target", column, target);
  Value hit = binaryPart(node, "hit", BinaryKind::Equal, target, places);
  // Other classes have no part in it, whatever their logarithms are.
  Value chosen = binaryPart(node, "chosen", BinaryKind::Keep, logs, hit);
  if (weights)
    chosen = binaryPart(node, "weighted", BinaryKind::Mul, chosen, weights);

  Shape all = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (reduction == "none")
    all = {kClassAxis};
  Value y = sum("sum", chosen, all);
  double factor = -1;
  if (isPlain()) {
    factor /= static_cast<double>(*elementCount(node.shape(1)));
  } else if (reduction == "mean") {
    if (weights)
      hit = binaryPart(node, "weight", BinaryKind::Mul, hit, weights);
    y = binaryPart(node, "mean", BinaryKind::Div, y, sum("total", hit, all));
  }
  return unaryPart(node, "negated", UnaryKind::Scale, y, factor);
}

static void importNegativeLogLikelihoodLoss(NodeImporter &node) {
  ClassLoss loss(node);
  Value logs = node.tensor(0);
  if (node.failed())
    return;
  Value y = loss.compose(logs);
  if (!node.failed())
    node.defineLast(y);
}

static void importSoftmaxCrossEntropyLoss(NodeImporter &node) {
  ClassLoss loss(node);
  if (node.importer.options.training && loss.numClasses() == 1)
    node.error("cross-entropy over one class is always 0, found scores of "
               "shape " +
               shapeText(node.shape(0)) +
               "; give --loss=mse or --loss=bce a model that ends with the "
               "scores");
  Value x = node.tensor(0);
  if (node.failed())
    return;
  bool wantsLogs = node.isUsed(1);
  if (loss.isPlain() && !wantsLogs)
    return loss.definePlain(x);
  Value logs = node.part<ff::SoftmaxOp>(
      "log_prob", node.shape(0), x, node.list({kClassAxis}),
      node.importer.builder.getI64IntegerAttr(1));
  Value y = loss.compose(logs);
  if (node.failed())
    return;
  // Each of the results is made by an operator of its own.
  y.getDefiningOp()->setLoc(node.location());
  node.define(0, y.getDefiningOp());
  if (wantsLogs)
    node.define(1, logs.getDefiningOp());
}

void ffc::importer::registerLossOps() {
  registerOp("NegativeLogLikelihoodLoss",
             {importNegativeLogLikelihoodLoss, 2, 3});
  registerOp("SoftmaxCrossEntropyLoss", {importSoftmaxCrossEntropyLoss, 2, 3});
}
