//===- ElementwiseOps.cpp - functions of one operand ----------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::UnaryKind;
using onnx::TensorProto;

namespace {
/// Where a parameter of a function comes from.
struct Parameter {
  const char *attribute = nullptr; ///< null: it is always `value`
  double value = 0;                ///< without the attribute
};
struct Function {
  UnaryKind kind;
  bool integers = false; ///< of integers too
  std::optional<Parameter> alpha = std::nullopt, beta = std::nullopt;
};
} // namespace

static const Function &lookupFunction(StringRef opType) {
  static const llvm::StringMap<Function> functions = {
      {"Abs", {UnaryKind::Abs, true}},
      {"Acos", {UnaryKind::Acos}},
      {"Acosh", {UnaryKind::Acosh}},
      {"Asin", {UnaryKind::Asin}},
      {"Asinh", {UnaryKind::Asinh}},
      {"Atan", {UnaryKind::Atan}},
      {"Atanh", {UnaryKind::Atanh}},
      {"Ceil", {UnaryKind::Ceil}},
      {"Cos", {UnaryKind::Cos}},
      {"Cosh", {UnaryKind::Cosh}},
      {"Elu", {UnaryKind::Elu, false, Parameter{"alpha", 1}}},
      {"Erf", {UnaryKind::Erf}},
      {"Exp", {UnaryKind::Exp}},
      {"Floor", {UnaryKind::Floor}},
      {"HardSigmoid",
       {UnaryKind::HardSigmoid, false, Parameter{"alpha", 0.2f},
        Parameter{"beta", 0.5f}}},
      {"HardSwish", {UnaryKind::HardSwish}},
      {"LeakyRelu", {UnaryKind::LeakyRelu, false, Parameter{"alpha", 0.01f}}},
      {"Log", {UnaryKind::Log}},
      {"Neg", {UnaryKind::Scale, true, Parameter{nullptr, -1}}},
      {"Reciprocal", {UnaryKind::Reciprocal}},
      {"Relu", {UnaryKind::Relu, true}},
      {"Round", {UnaryKind::Round}},
      {"Selu",
       {UnaryKind::Selu, false, Parameter{"alpha", 1.67326319217681884765625},
        Parameter{"gamma", 1.05070102214813232421875}}},
      {"Sigmoid", {UnaryKind::Sigmoid}},
      {"Sign", {UnaryKind::Sign, true}},
      {"Sin", {UnaryKind::Sin}},
      {"Sinh", {UnaryKind::Sinh}},
      {"Softplus", {UnaryKind::Softplus}},
      {"Softsign", {UnaryKind::Softsign}},
      {"Sqrt", {UnaryKind::Sqrt}},
      {"Tan", {UnaryKind::Tan}},
      {"Tanh", {UnaryKind::Tanh}},
  };
  auto found = functions.find(opType);
  assert(found != functions.end() && "a row of the table of operators");
  return found->second;
}

/// The value of an optional parameter as an attribute.
static std::optional<double>
readParameter(NodeImporter &node, const std::optional<Parameter> &parameter) {
  if (!parameter || !parameter->attribute)
    return parameter ? std::optional(parameter->value) : std::nullopt;
  return node.real(parameter->attribute, parameter->value);
}

static void importUnary(NodeImporter &node) {
  const Function &function = lookupFunction(node.opType());
  std::optional<double> alpha = readParameter(node, function.alpha),
                        beta = readParameter(node, function.beta);
  takeNumberType(node, 0, function.integers);
  node.resultType(node.shape(0));
  Value x = node.tensor(0);
  if (!node.failed())
    node.defineLast(unaryPart(node, "", function.kind, x, alpha, beta));
}

/// A function of x / alpha, which has to be finite.
static void importCelu(NodeImporter &node) {
  double alpha = node.real("alpha", 1);
  if (alpha == 0)
    node.error("expected an alpha other than 0");
  Value x = node.tensor(0);
  if (!node.failed())
    node.defineLast(unaryPart(node, "", UnaryKind::Celu, x, alpha));
}

static void importGelu(NodeImporter &node) {
  StringRef mode = node.text("approximate", "none");
  if (mode != "none" && mode != "tanh")
    node.error("expected approximate 'none' or 'tanh', found '" + mode + "'");
  Value x = node.tensor(0);
  if (!node.failed())
    node.defineLast(unaryPart(
        node, "", mode == "tanh" ? UnaryKind::GeluTanh : UnaryKind::Gelu, x));
}

/// x + bias under -lambd, x - bias over lambd, else 0.
static void importShrink(NodeImporter &node) {
  double bias = node.real("bias", 0), lambd = node.real("lambd", 0.5);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  // How far x is beyond the one and the other limit.
  Value minus = unaryPart(node, "minus", UnaryKind::Scale, x, -1);
  Value under = unaryPart(node, "under", UnaryKind::Shift, minus, -lambd);
  under = unaryPart(node, "is_under", UnaryKind::Relu, under);
  Value over = unaryPart(node, "over", UnaryKind::Shift, x, -lambd);
  over = unaryPart(node, "is_over", UnaryKind::Relu, over);
  Value low = unaryPart(node, "low", UnaryKind::Shift, x, bias);
  Value high = unaryPart(node, "high", UnaryKind::Shift, x, -bias);
  high = binaryPart(node, "kept", ff::BinaryKind::Keep, high, over);
  node.build<ff::SelectOp>(node.shape(0), under, low, high);
}

/// x where it is over alpha, else 0.
static void importThresholdedRelu(NodeImporter &node) {
  double alpha = node.real("alpha", 1);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Value over = unaryPart(node, "shift", UnaryKind::Shift, x, -alpha);
  Value positive = unaryPart(node, "relu", UnaryKind::Relu, over);
  Value mask = unaryPart(node, "mask", UnaryKind::Sign, positive);
  node.defineLast(binaryPart(node, "", ff::BinaryKind::Mul, x, mask));
}

/// By bounds that are not known at import.
static void importComputedClip(NodeImporter &node) {
  Expression made(node);
  GraphValue *result = &node.operand(0);
  if (node.has(1))
    result = made.apply("Max", {result, &node.operand(1)});
  if (node.has(2))
    result = made.apply("Min", {result, &node.operand(2)});
  if (result)
    node.define(0, result);
}

static void importClip(NodeImporter &node) {
  takeNumberType(node, 0, /*integers=*/true);
  auto isComputed = [&](int i) {
    return node.has(i) && node.operand(i).kind == GraphValue::Kind::Computed;
  };
  if (isComputed(1) || isComputed(2))
    return importComputedClip(node);
  double bounds[] = {std::numeric_limits<float>::lowest(),
                     std::numeric_limits<float>::max()};
  const char *names[] = {"min", "max"};
  for (int i = 0; i < 2; ++i) {
    // Opset 11 turned the attributes into operands.
    if (node.opset() < 11)
      bounds[i] = node.real(names[i], bounds[i]);
    else
      bounds[i] = node.scalar(i + 1).value_or(bounds[i]);
    // A bound of double or int64 may be beyond what floats hold.
    bounds[i] =
        std::clamp<double>(bounds[i], std::numeric_limits<float>::lowest(),
                           std::numeric_limits<float>::max());
  }
  Value x = node.tensor(0);
  if (!node.failed())
    node.defineLast(
        unaryPart(node, "", UnaryKind::Clip, x, bounds[0], bounds[1]));
}

static void importCast(NodeImporter &node) {
  auto to = static_cast<int32_t>(node.integer("to", 0));
  node.ignore("saturate");   // of eight bits
  node.ignore("round_mode"); // of eight bits
  GraphValue &x = node.operand(0);
  if (to == x.type)
    return node.defineSame(x);
  if (!isCarriedType(x.type) || !isCarriedType(to))
    return node.unsupported(" from " + elementTypeName(x.type) + " to " +
                            elementTypeName(to));
  node.setElementType(to);
  node.resultType(node.shape(0));
  if (node.failed())
    return;
  // Floats carry all numbers; only what cannot stay as it is is cast.
  bool keeps = isFloatType(to) || x.type == TensorProto::BOOL ||
               (to == TensorProto::INT64 && !isFloatType(x.type) &&
                x.type != TensorProto::UINT64);
  if (!keeps && x.kind == GraphValue::Kind::Computed)
    return defineCast(node, x.value, to);
  Value floats = node.numbers(0);
  if (node.failed())
    return;
  if (keeps)
    node.define(0, floats);
  else
    defineCast(node, floats, to);
}

/// 1 where x is not itself.
static void importIsNaN(NodeImporter &node) {
  takeNumberType(node, 0, /*integers=*/false);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  node.setElementType(TensorProto::BOOL);
  Value same = binaryPart(node, "same", ff::BinaryKind::Equal, x, x);
  same = unaryPart(node, "negate", UnaryKind::Scale, same, -1);
  node.defineLast(unaryPart(node, "", UnaryKind::Shift, same, 1));
}

/// 1 where x is beyond all numbers, on the sides that are asked for.
static void importIsInf(NodeImporter &node) {
  const bool below = node.integer("detect_negative", 1) != 0,
             above = node.integer("detect_positive", 1) != 0;
  takeNumberType(node, 0, /*integers=*/false);
  Value x = node.tensor(0);
  Constant most;
  most.type = TensorProto::FLOAT;
  most.floats = {std::numeric_limits<float>::max()};
  Value bound = node.knownNumbers("most", std::move(most));
  if (node.failed())
    return;
  node.setElementType(TensorProto::BOOL);
  if (below)
    x = unaryPart(node, "side", above ? UnaryKind::Abs : UnaryKind::Scale, x,
                  above ? std::nullopt : std::optional(-1.0));
  const bool neither = !below && !above;
  Value y = binaryPart(node, neither ? "infinite" : "", ff::BinaryKind::Greater,
                       x, bound);
  if (neither)
    y = unaryPart(node, "", UnaryKind::Scale, y, 0);
  node.defineLast(y);
}

void ffc::importer::registerElementwiseOps() {
  registerOp("Abs", {importUnary, 1, 1});
  registerOp("Acos", {importUnary, 1, 1});
  registerOp("Acosh", {importUnary, 1, 1});
  registerOp("Asin", {importUnary, 1, 1});
  registerOp("Asinh", {importUnary, 1, 1});
  registerOp("Atan", {importUnary, 1, 1});
  registerOp("Atanh", {importUnary, 1, 1});
  registerOp("Cast", {importCast, 1, 1});
  registerOp("Ceil", {importUnary, 1, 1});
  registerOp("Celu", {importCelu, 1, 1});
  registerOp("Clip", {importClip, 1, 3});
  registerOp("Cos", {importUnary, 1, 1});
  registerOp("Cosh", {importUnary, 1, 1});
  registerOp("Elu", {importUnary, 1, 1});
  registerOp("Erf", {importUnary, 1, 1});
  registerOp("Exp", {importUnary, 1, 1});
  registerOp("Floor", {importUnary, 1, 1});
  registerOp("Gelu", {importGelu, 1, 1});
  registerOp("HardSigmoid", {importUnary, 1, 1});
  registerOp("HardSwish", {importUnary, 1, 1});
  registerOp("IsInf", {importIsInf, 1, 1});
  registerOp("IsNaN", {importIsNaN, 1, 1});
  registerOp("LeakyRelu", {importUnary, 1, 1});
  registerOp("Log", {importUnary, 1, 1});
  registerOp("Neg", {importUnary, 1, 1});
  registerOp("Reciprocal", {importUnary, 1, 1});
  registerOp("Relu", {importUnary, 1, 1});
  registerOp("Round", {importUnary, 1, 1});
  registerOp("Selu", {importUnary, 1, 1});
  registerOp("Shrink", {importShrink, 1, 1});
  registerOp("Sigmoid", {importUnary, 1, 1});
  registerOp("Sign", {importUnary, 1, 1});
  registerOp("Sin", {importUnary, 1, 1});
  registerOp("Sinh", {importUnary, 1, 1});
  registerOp("Softplus", {importUnary, 1, 1});
  registerOp("Softsign", {importUnary, 1, 1});
  registerOp("Sqrt", {importUnary, 1, 1});
  registerOp("Tan", {importUnary, 1, 1});
  registerOp("Tanh", {importUnary, 1, 1});
  registerOp("ThresholdedRelu", {importThresholdedRelu, 1, 1});
}
