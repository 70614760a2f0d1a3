//===- NormOps.cpp - batch, instance and layer normalisation --------------===//

#include "Expression.h"
#include "OpTable.h"
#include "PyTorchMetadata.h"
#include "TypedNode.h"

#include "ffc/IR/BatchNorm.h"
#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

namespace {
/// Builds the small operators around a normalisation. Their names are the
/// node's and a suffix.
class PartBuilder {
public:
  explicit PartBuilder(NodeImporter &node)
      : node(node), builder(node.importer.builder) {}

  Value unary(const Twine &part, ff::UnaryKind kind, Value x,
              std::optional<double> alpha = std::nullopt) {
    return ff::UnaryOp::create(
        builder, location(part), x.getType(), kind, x,
        alpha ? builder.getF64FloatAttr(*alpha) : FloatAttr(), FloatAttr());
  }
  Value binary(const Twine &part, ff::BinaryKind kind, Type type, Value a,
               Value b) {
    return ff::BinaryOp::create(builder, location(part), type, kind, a, b);
  }
  Value reshape(const Twine &part, Value x, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(x.getType()).clone(shape);
    return type == x.getType()
               ? x
               : ff::ReshapeOp::create(builder, location(part), type, x);
  }
  Value sumOverGroups(const Twine &part, Value x) {
    RankedTensorType type = ff::reducedType(cast<RankedTensorType>(x.getType()),
                                            {0}, /*keepdims=*/false);
    return ff::ReduceSumOp::create(builder, location(part), type, x,
                                   node.list({0}),
                                   builder.getI64IntegerAttr(0));
  }
  ff::NormalizeOp normalize(Value x, Value scale, Value bias,
                            ArrayRef<int64_t> axes, double epsilon,
                            ArrayRef<int64_t> paramDims, int64_t groups = 1) {
    auto type = cast<RankedTensorType>(x.getType());
    Shape kept;
    if (groups > 1)
      kept.push_back(groups);
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(axes, d))
        kept.push_back(type.getDimSize(d));
    RankedTensorType statistic = type.clone(kept);
    return ff::NormalizeOp::create(
        builder, node.location(), TypeRange{type, statistic, statistic}, x,
        scale, bias, /*addend=*/Value(), node.list(axes),
        builder.getF64FloatAttr(epsilon), node.list(paramDims),
        groups > 1 ? builder.getI64IntegerAttr(groups) : IntegerAttr(),
        /*clamp=*/DenseF64ArrayAttr());
  }

  Location location(const Twine &part) {
    std::string name = (node.getName() + "." + part).str();
    return NameLoc::get(
        builder.getStringAttr(node.importer.names.unique(name)));
  }

private:
  NodeImporter &node;
  OpBuilder &builder;
};
} // namespace

static double readEpsilon(NodeImporter &node) {
  double epsilon = node.real("epsilon", 1e-5f);
  if (!(epsilon > 0))
    node.error("expected a positive attribute 'epsilon', found " +
               numberText(epsilon));
  return epsilon;
}

/// Reports an operand i that does not have `shape`.
static void expectShape(NodeImporter &node, int i, ArrayRef<int64_t> shape) {
  if (node.has(i) && node.shape(i) != shape)
    node.error("expected operand " + Twine(i) + " of shape " +
               shapeText(shape) + ", found " + shapeText(node.shape(i)));
}

/// Reports a normalisation over the batch of an operand whose batch is changed.
static void expectBatchKept(NodeImporter &node, ArrayRef<int64_t> axes) {
  for (int64_t d : axes)
    if (node.isChangedBatch(0, d))
      node.error("normalises over the batch and stands in the way of "
                 "--batch-size");
}

static Shape dimsBetween(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq<int64_t>(begin, end));
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

namespace {
struct BatchNorm {
  double epsilon, momentum;
  int64_t groups; ///< of samples, each with statistics of its own
  Value x, scale, bias, mean, var;
};
} // namespace

/// Does the node take the statistics of the batch?
static bool usesBatch(NodeImporter &node) {
  bool exported = node.integer("training_mode", 0) != 0;
  // Until opset 13 the number of results told.
  if (node.opset() < 14)
    for (int i = 1; i < node.node.output_size(); ++i)
      exported |= !node.node.output(i).empty();
  return node.importer.options.batchStatistics.value_or(exported);
}

/// ONNX takes the variance of the batch for its running mean. PyTorch takes
/// the one of which the batch is a sample, n / (n - 1) times as much, and its
/// exporter cannot say so.
static double factorOfRunningVariance(NodeImporter &node,
                                      const BatchNorm &norm) {
  auto x = cast<RankedTensorType>(norm.x.getType());
  const auto n =
      static_cast<double>(x.getNumElements() / x.getDimSize(1) / norm.groups);
  return isFromPyTorch(node.importer.model.proto) && n > 1 ? n / (n - 1) : 1;
}

/// The running statistic after the step, which is also stored. The batch's is
/// the mean over its groups, times `share`. As with parameters, nobody waits
/// for it within the step.
static Value updateStatistic(NodeImporter &node, const BatchNorm &norm,
                             StringRef part, Value old, Value batch,
                             double share = 1) {
  PartBuilder build(node);
  Value kept =
      build.unary(part + ".kept", ff::UnaryKind::Scale, old, norm.momentum);
  double factor = (1 - norm.momentum) * share;
  if (norm.groups > 1) {
    batch = build.sumOverGroups(part + ".groups", batch);
    factor /= static_cast<double>(norm.groups);
  }
  Value added =
      build.unary(part + ".added", ff::UnaryKind::Scale, batch, factor);
  Value updated =
      build.binary(part, ff::BinaryKind::Add, old.getType(), kept, added);
  for (Value value : {kept, added, updated})
    value.getDefiningOp()->setAttr(
        ff::kRoleAttr, StringAttr::get(value.getContext(), ff::kUpdateRole));
  node.check(node.importer.storeStatistic(old, updated));
  return updated;
}

static void buildFromBatch(NodeImporter &node, const BatchNorm &norm) {
  int64_t rank = node.rank(0);
  Shape axes = {0};
  axes.append(dimsBetween(2, rank));
  ff::NormalizeOp op = PartBuilder(node).normalize(
      norm.x, norm.scale, norm.bias, axes, norm.epsilon, {1}, norm.groups);
  node.define(op);
  Value mean =
      updateStatistic(node, norm, "running_mean", norm.mean, op.getMean());
  Value var = updateStatistic(node, norm, "running_var", norm.var, op.getVar(),
                              factorOfRunningVariance(node, norm));
  if (node.isUsed(1))
    node.define(1, mean);
  if (node.isUsed(2))
    node.define(2, var);
}

static void buildFromStatistics(NodeImporter &node, const BatchNorm &norm) {
  PartBuilder build(node);
  node.define(
      ff::normalizeByStatistics(node.importer.builder, norm.x, norm.scale,
                                norm.bias, norm.mean, norm.var, norm.epsilon,
                                [&](StringRef part) {
                                  return part.empty() ? node.location()
                                                      : build.location(part);
                                })
          .getDefiningOp());
  if (node.isUsed(1))
    node.define(1, norm.mean);
  if (node.isUsed(2))
    node.define(2, norm.var);
}

static void importBatchNormalization(NodeImporter &node) {
  if (node.opset() < 9 && node.integer("spatial", 1) == 0)
    return node.error("statistics per position (spatial = 0) are not "
                      "supported");
  if (node.rank(0) < 2)
    return node.error("expected an operand with a channel dimension, found "
                      "shape " +
                      shapeText(node.shape(0)));
  BatchNorm norm;
  norm.epsilon = readEpsilon(node);
  norm.momentum = node.real("momentum", 0.9f);
  bool fromBatch = usesBatch(node);
  norm.groups = node.importer.options.sampleGroups;
  if (int64_t batch = node.shape(0)[0]; fromBatch && batch % norm.groups != 0)
    return node.error("expected a batch that can be cut into " +
                      Twine(norm.groups) +
                      " equal groups (--batch-norm=local), found " +
                      Twine(batch) + " samples");
  for (int i = 1; i < 5; ++i)
    expectShape(node, i, {node.shape(0)[1]});
  norm.x = node.tensor(0);
  norm.scale = node.tensor(1, {Role::Scale});
  norm.bias = node.tensor(2, {Role::Bias});
  norm.mean = node.statistic(3, {Role::Mean});
  norm.var = node.statistic(4, {Role::Variance});
  node.resultType(node.shape(0));
  if (node.failed())
    return;
  fromBatch ? buildFromBatch(node, norm) : buildFromStatistics(node, norm);
}

//===----------------------------------------------------------------------===//
// The others
//===----------------------------------------------------------------------===//

/// A scale or bias, or null if it is a constant that changes nothing, as
/// exporters write for a normalisation without them. Other constants are not
/// trained.
static Value affine(NodeImporter &node, int i, Role::Kind role,
                    double neutral) {
  if (!node.has(i))
    return {};
  GraphValue &value = node.operand(i);
  if (value.kind != GraphValue::Kind::Constant)
    return node.tensor(i, {role});
  if (llvm::all_of(value.constant.floats,
                   [&](double x) { return x == neutral; }))
    return {};
  return node.tensor(i);
}

static void importInstanceNormalization(NodeImporter &node) {
  int64_t rank = node.rank(0);
  if (rank < 3)
    return node.error("expected an operand with channels and positions, found "
                      "shape " +
                      shapeText(node.shape(0)));
  double epsilon = readEpsilon(node);
  for (int i = 1; i < 3; ++i)
    expectShape(node, i, {node.shape(0)[1]});
  Value x = node.tensor(0), scale = affine(node, 1, Role::Scale, 1),
        bias = affine(node, 2, Role::Bias, 0);
  node.resultType(node.shape(0));
  if (!node.failed())
    node.define(PartBuilder(node).normalize(
        x, scale, bias, dimsBetween(2, rank), epsilon, {1}));
}

static void importLayerNormalization(NodeImporter &node) {
  int64_t rank = node.rank(0);
  int64_t axis = node.check(resolveAxis(node.integer("axis", -1), rank));
  double epsilon = readEpsilon(node);
  node.ignore("stash_type"); // statistics are of f32 at least
  if (node.failed())
    return;
  Shape axes = dimsBetween(axis, rank);
  for (int i = 1; i < 3; ++i)
    expectShape(node, i, node.shape(0).drop_front(axis));
  expectBatchKept(node, axes);
  Value x = node.tensor(0), scale = affine(node, 1, Role::Scale, 1),
        bias = affine(node, 2, Role::Bias, 0);
  node.resultType(node.shape(0));
  if (node.failed())
    return;
  PartBuilder build(node);
  ff::NormalizeOp op = build.normalize(x, scale, bias, axes, epsilon, axes);
  node.define(op);
  // Results 1 and 2 are the mean and the inverse of the deviation.
  Shape kept(node.shape(0));
  std::fill(kept.begin() + axis, kept.end(), 1);
  if (node.isUsed(1))
    node.define(1, build.reshape("mean", op.getMean(), kept));
  if (node.isUsed(2)) {
    Value shifted =
        build.unary("var_epsilon", ff::UnaryKind::Shift, op.getVar(), epsilon);
    Value deviation = build.unary("deviation", ff::UnaryKind::Sqrt, shifted);
    Value inverse =
        build.unary("inverse_deviation", ff::UnaryKind::Reciprocal, deviation);
    node.define(2, build.reshape("inverse", inverse, kept));
  }
}

/// Groups of channels are a dimension of their own while they are normalised.
static void importGroupNormalization(NodeImporter &node) {
  const int64_t rank = node.rank(0), groups = node.integer("num_groups", 0);
  const int64_t channels = rank < 2 ? 0 : node.shape(0)[1];
  const double epsilon = readEpsilon(node);
  node.ignore("stash_type"); // statistics are of f32 at least
  if (groups < 1 || channels < 1 || channels % groups != 0)
    return node.error("expected channels in a multiple of attribute "
                      "'num_groups', " +
                      Twine(groups) + ", found shape " +
                      shapeText(node.shape(0)));
  // Until opset 21 scale and bias were those of groups.
  const bool perChannel = node.opset() >= 21;
  for (int i = 1; i < 3; ++i)
    expectShape(node, i, {perChannel ? channels : groups});
  Value x = node.tensor(0), scale = affine(node, 1, Role::Scale, 1),
        bias = affine(node, 2, Role::Bias, 0);
  node.resultType(node.shape(0));
  if (node.failed())
    return;
  Shape grouped(node.shape(0));
  grouped[1] = groups;
  grouped.insert(grouped.begin() + 2, channels / groups);
  PartBuilder build(node);
  if (perChannel) {
    const Shape parameter = {groups, channels / groups};
    if (scale)
      scale = build.reshape("scale", scale, parameter);
    if (bias)
      bias = build.reshape("bias", bias, parameter);
  }
  ff::NormalizeOp op = build.normalize(
      build.reshape("groups", x, grouped), scale, bias,
      dimsBetween(2, rank + 1), epsilon, perChannel ? Shape{1, 2} : Shape{1});
  op->setLoc(node.location("normalize"));
  node.build<ff::ReshapeOp>(node.shape(0), op.getY());
}

static void importMeanVarianceNormalization(NodeImporter &node) {
  int64_t rank = node.rank(0);
  Shape axes;
  for (int64_t axis : node.integers("axes").value_or(Shape{0, 2, 3}))
    axes.push_back(node.check(resolveAxis(axis, rank)));
  llvm::sort(axes);
  if (!node.failed() &&
      (axes.empty() || llvm::adjacent_find(axes) != axes.end()))
    node.error(axes.empty() ? Twine("expected at least one axis, found none")
                            : "expected distinct axes, found " +
                                  Twine(*llvm::adjacent_find(axes)) + " twice");
  expectBatchKept(node, axes);
  Value x = node.tensor(0);
  node.resultType(node.shape(0));
  if (node.failed())
    return;
  Shape kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      kept.push_back(d);
  // The standard adds 1e-9 to the deviation.
  node.define(PartBuilder(node).normalize(x, {}, {}, axes, 1e-18,
                                          kept.empty() ? axes : kept));
}

/// x / (sum of |x|^p along the axis)^(1/p)
static void importLpNormalization(NodeImporter &node) {
  int64_t axis =
      node.check(resolveAxis(node.integer("axis", -1), node.rank(0)));
  int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    node.error("expected p to be 1 or 2, found " + Twine(p));
  if (!node.failed())
    expectBatchKept(node, {axis});
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  Expression made(node);
  GraphValue *x = &node.operand(0);
  GraphValue *sum =
      made.make(MadeNode("ReduceSum").integer("keepdims", 1),
                {p == 1 ? made.apply("Abs", {x}) : made.mul(x, x),
                 made.constant(onnx::TensorProto::INT64, {1}, {axis})});
  // Zeros have no direction and stay zeros, as in ONNX Runtime.
  GraphValue *length =
      made.where(made.apply("Equal", {sum, made.numberLike(sum, 0)}),
                 made.numberLike(sum, 1), sum);
  made.define(made.div(x, p == 1 ? length : made.apply("Sqrt", {length})));
}

void ffc::importer::registerNormOps() {
  registerOp("BatchNormalization", {importBatchNormalization, 5, 5, 0b11110});
  registerOp("GroupNormalization", {importGroupNormalization, 3, 3, 0b110});
  registerOp("InstanceNormalization",
             {importInstanceNormalization, 3, 3, 0b110});
  registerOp("LayerNormalization", {importLayerNormalization, 2, 3, 0b110});
  registerOp("LpNormalization", {importLpNormalization, 1, 1});
  registerOp("MeanVarianceNormalization",
             {importMeanVarianceNormalization, 1, 1});
}
