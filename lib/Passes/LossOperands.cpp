//===- LossOperands.cpp - what a loss compares with what
//-------------------===//

#include "LossOperands.h"

#include "ffc/IR/NameOf.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// The input that --loss compares the model's output with.
static constexpr StringLiteral kTargetName = "target";

/// The value under a trailing operator that the loss contains already.
static Value lookThrough(Value answer, StringRef loss) {
  Operation *op = answer.getDefiningOp();
  if (auto softmax = dyn_cast_or_null<SoftmaxOp>(op))
    if (loss == "cross-entropy")
      return softmax.getX();
  if (auto unary = dyn_cast_or_null<UnaryOp>(op))
    if (loss == "bce" && unary.getKind() == UnaryKind::Sigmoid)
      return unary.getX();
  return answer;
}

/// Losses are of f32: what is only cast for the output, since the model's
/// floats are doubles or have 16 bits, is taken as it was.
static Value beforeOutputCast(Value answer) {
  auto cast = answer.getDefiningOp<CastOp>();
  if (cast && getElementTypeOrSelf(cast.getX()).isF32() &&
      isa<FloatType>(getElementTypeOrSelf(answer)))
    return cast.getX();
  return answer;
}

/// The class axis of logits: the softmax's if there is one with a single axis
/// of more than one class; else, of sequences [samples, positions, classes] and
/// of rank 2, the last dimension, and dimension 1 of anything else.
static int64_t classAxisOf(Value answer) {
  auto type = cast<RankedTensorType>(answer.getType());
  if (auto softmax = answer.getDefiningOp<SoftmaxOp>()) {
    SmallVector<int64_t> wide;
    for (int64_t axis : softmax.getAxes())
      if (type.getDimSize(axis) > 1)
        wide.push_back(axis);
    if (wide.size() == 1)
      return wide.front();
  }
  return type.getRank() == 3 ? 2 : 1;
}

static Value addTarget(func::FuncOp main, RankedTensorType type) {
  Builder builder(main.getContext());
  const auto name = builder.getStringAttr(kTargetName);
  (void)main.insertArgument(
      main.getNumArguments(), type,
      builder.getDictionaryAttr(builder.getNamedAttr(kNameAttr, name)),
      NameLoc::get(name));
  return main.getArgument(main.getNumArguments() - 1);
}

FailureOr<LossOperands> ffc::lossOperands(func::FuncOp main, StringRef kind,
                                          std::optional<int64_t> givenAxis) {
  OutputOp answer;
  main.walk([&](OutputOp output) {
    if (!answer)
      answer = output;
  });
  if (!answer)
    return main.emitError("the model has no output to train on");
  Value output = beforeOutputCast(answer.getValue());
  LossOperands result;
  result.x = lookThrough(output, kind);
  auto type = cast<RankedTensorType>(result.x.getType());

  // Only a loss of the model reads a target of the model's.
  for (unsigned i = 0; kind != "none" && i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, kNameAttr);
        name && name.getValue() == kTargetName)
      return main.emitError("input '")
             << kTargetName << "' has the name of the target of --loss=" << kind
             << "; if the model computes its loss, give --loss=none, else "
                "expected another name";

  if (kind == "mse" || kind == "bce") {
    result.target = addTarget(main, type);
    return result;
  }
  if (kind == "none") {
    if (type.getNumElements() != 1)
      return main.emitError("--loss=none takes the model's first output as the "
                            "loss, expected one element, found ")
             << type;
    return result;
  }
  if (kind != "cross-entropy")
    return main.emitError("unknown loss '")
           << kind << "', expected cross-entropy, mse, bce or none";
  int64_t axis = givenAxis ? *givenAxis : classAxisOf(output);
  if (givenAxis && axis < 0)
    axis += type.getRank();
  if (givenAxis && (axis < 0 || axis >= type.getRank()))
    return main.emitError("expected a class axis of ")
           << answer.getValue().getType() << ", found " << *givenAxis;
  if (axis >= type.getRank())
    return main.emitError("cross-entropy needs logits with a class axis, "
                          "expected a model output of rank 2 or more, found ")
           << answer.getValue().getType()
           << "; for numbers, give --loss=mse or --loss=bce";
  if (type.getDimSize(axis) == 1)
    return main.emitError("cross-entropy over one class is always 0, expected "
                          "more than one in dimension ")
           << axis << " of output '" << nameOf(answer) << "', found "
           << answer.getValue().getType()
           << "; for numbers, give --loss=mse, for yes or no --loss=bce, for "
              "classes in another dimension --class-axis";
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  result.axis = axis;
  result.target = addTarget(
      main,
      RankedTensorType::get(shape, IntegerType::get(main.getContext(), 32)));
  return result;
}
