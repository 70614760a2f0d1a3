//===- FoldArithmetic.cpp - evaluators that compute -----------------------===//

#include "Fold.h"

#include "ffc/IR/ShapeInference.h"

#include "onnx/onnx_pb.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc::importer;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using onnx::TensorProto;

/// The flat index in an operand of `from` of element `flat` of a broadcast
/// result of shape `to`.
static int64_t broadcastIndex(int64_t flat, ArrayRef<int64_t> to,
                              ArrayRef<int64_t> from) {
  int64_t index = 0, stride = 1;
  for (size_t d = from.size(); d-- > 0;) {
    int64_t extent = to[d + to.size() - from.size()];
    index += from[d] == 1 ? 0 : flat % extent * stride;
    stride *= from[d];
    flat /= extent;
  }
  return index;
}

static Expected<Shape> broadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto shape = ffc::ff::broadcastShapes(a, b);
  auto count = shape ? elementCount(*shape) : std::nullopt;
  if (!count)
    return makeError("cannot broadcast " + shapeText(a) + " and " +
                     shapeText(b) + " of constants");
  if (*count > kMaxConstantElements)
    return tooLarge(*shape);
  return Shape(*shape);
}

/// Integer arithmetic wraps, as it does at run time. `b` of a quotient is not
/// 0.
static int64_t computeInt(StringRef op, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (op == "Add")
    return static_cast<int64_t>(ua + ub);
  if (op == "Sub")
    return static_cast<int64_t>(ua - ub);
  if (op == "Mul")
    return static_cast<int64_t>(ua * ub);
  if (op == "Div")
    return b == -1 ? static_cast<int64_t>(-ua) : a / b;
  if (op == "Mod" || op == "FMod") {
    int64_t rest = b == -1 ? 0 : a % b;
    // Mod has the divisor's sign, FMod the dividend's.
    return op == "Mod" && rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
  }
  if (op == "Min")
    return std::min(a, b);
  if (op == "Max")
    return std::max(a, b);
  if (op == "Equal")
    return a == b;
  if (op == "Less")
    return a < b;
  if (op == "LessOrEqual")
    return a <= b;
  if (op == "Greater")
    return a > b;
  if (op == "GreaterOrEqual")
    return a >= b;
  if (op == "And")
    return a && b;
  return op == "Or" ? a || b : a != b;
}

static double computeFloat(StringRef op, double a, double b) {
  if (op == "Add")
    return a + b;
  if (op == "Sub")
    return a - b;
  if (op == "Mul")
    return a * b;
  if (op == "Div")
    return a / b;
  if (op == "FMod")
    return std::fmod(a, b);
  if (op == "Mod") {
    double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return op == "Min" ? -larger(-a, -b) : larger(a, b);
}

static bool compareFloat(StringRef op, double a, double b) {
  if (op == "Equal")
    return a == b;
  if (op == "Less")
    return a < b;
  if (op == "LessOrEqual")
    return a <= b;
  return op == "Greater" ? a > b : a >= b;
}

static bool isLogical(StringRef op) {
  return op == "And" || op == "Or" || op == "Xor";
}

static bool isComparison(StringRef op) {
  return op == "Equal" || op.starts_with("Less") || op.starts_with("Greater");
}

static Expected<Constant> foldTwo(const FoldCall &call, const Constant &a,
                                  const Constant &b) {
  StringRef op = call.node.op_type();
  if (a.type != b.type)
    return makeError("expected two operands of one type, found " +
                     elementTypeName(a.type) + " and " +
                     elementTypeName(b.type));
  Expected<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape)
    return shape.takeError();
  if (isLogical(op) && a.type != TensorProto::BOOL)
    return makeError("expected bool operands, found " +
                     elementTypeName(a.type));
  bool isTest = isComparison(op) || isLogical(op), isModulo = op == "Mod";
  if (isModulo && call.integer("fmod", 0) != 0)
    op = "FMod";
  Constant result;
  result.type = isTest ? int32_t(TensorProto::BOOL) : a.type;
  result.shape = *shape;
  for (int64_t i = 0, e = *elementCount(*shape); i < e; ++i) {
    int64_t ia = broadcastIndex(i, *shape, a.shape);
    int64_t ib = broadcastIndex(i, *shape, b.shape);
    if (a.isFloat() && isTest)
      result.ints.push_back(compareFloat(op, a.floats[ia], b.floats[ib]));
    else if (a.isFloat())
      result.floats.push_back(computeFloat(op, a.floats[ia], b.floats[ib]));
    else if ((op == "Div" || isModulo) && b.ints[ib] == 0)
      return makeError("division by zero");
    else
      result.ints.push_back(computeInt(op, a.ints[ia], b.ints[ib]));
  }
  result.normalize();
  return result;
}

/// Max and Min have any number of operands.
Expected<Constant> ffc::importer::foldArithmetic(const FoldCall &call) {
  Expected<Constant> result = foldTwo(call, *call.inputs[0], *call.inputs[1]);
  for (size_t i = 2; i < call.inputs.size(); ++i) {
    if (!result)
      return result;
    Constant before = std::move(*result);
    result = foldTwo(call, before, *call.inputs[i]);
  }
  return result;
}

Expected<Constant> ffc::importer::combineConstants(
    const Constant &a, const Constant &b,
    llvm::function_ref<int64_t(int64_t, int64_t)> f) {
  Expected<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape)
    return shape.takeError();
  if (a.type != b.type || a.isFloat())
    return makeError("expected integers of one type, found " +
                     elementTypeName(a.type) + " and " +
                     elementTypeName(b.type));
  Constant result;
  result.type = a.type;
  result.shape = *shape;
  for (int64_t i = 0, e = *elementCount(*shape); i < e; ++i)
    result.ints.push_back(f(a.ints[broadcastIndex(i, *shape, a.shape)],
                            b.ints[broadcastIndex(i, *shape, b.shape)]));
  result.normalize();
  return result;
}

static double computeFloat(StringRef op, double x) {
  if (op == "Neg")
    return -x;
  if (op == "Abs")
    return std::fabs(x);
  if (op == "Sign")
    return x > 0 ? 1 : x < 0 ? -1 : x;
  if (op == "Floor")
    return std::floor(x);
  if (op == "Ceil")
    return std::ceil(x);
  if (op == "Round")
    return std::nearbyint(x);
  if (op == "Exp")
    return std::exp(x);
  if (op == "Log")
    return std::log(x);
  if (op == "Sin")
    return std::sin(x);
  if (op == "Cos")
    return std::cos(x);
  return op == "Sqrt" ? std::sqrt(x) : 1 / x;
}

static int64_t computeInt(StringRef op, int64_t x) {
  if (op == "Not")
    return !x;
  if (op == "Sign")
    return (x > 0) - (x < 0);
  if (op == "Abs" && x >= 0)
    return x;
  return static_cast<int64_t>(-static_cast<uint64_t>(x));
}

Expected<Constant> ffc::importer::foldUnary(const FoldCall &call) {
  StringRef op = call.node.op_type();
  Constant result = *call.inputs[0];
  bool forAll = op == "Neg" || op == "Abs" || op == "Sign";
  bool fits = op == "Not" ? result.type == TensorProto::BOOL
              : forAll    ? result.type != TensorProto::BOOL
                          : result.isFloat();
  if (!fits)
    return makeError("operand has element type " +
                     elementTypeName(result.type));
  for (double &x : result.floats)
    x = computeFloat(op, x);
  for (int64_t &x : result.ints)
    x = computeInt(op, x);
  result.normalize();
  return result;
}

Expected<Constant> ffc::importer::foldIsNaN(const FoldCall &call) {
  const Constant &x = *call.inputs[0];
  if (!x.isFloat())
    return makeError("operand has element type " + elementTypeName(x.type));
  Constant result;
  result.type = TensorProto::BOOL;
  result.shape = x.shape;
  for (double number : x.floats)
    result.ints.push_back(std::isnan(number));
  return result;
}

Expected<Constant> ffc::importer::foldPow(const FoldCall &call) {
  const Constant &a = *call.inputs[0], &b = *call.inputs[1];
  Expected<Shape> shape = broadcast(a.shape, b.shape);
  if (!shape)
    return shape.takeError();
  // The result has the type of the base; the exponent may have another.
  Constant result;
  result.type = a.type;
  result.shape = *shape;
  for (int64_t i = 0, e = *elementCount(*shape); i < e; ++i) {
    double power = std::pow(a.number(broadcastIndex(i, *shape, a.shape)),
                            b.number(broadcastIndex(i, *shape, b.shape)));
    if (a.isFloat())
      result.floats.push_back(power);
    else if (std::fabs(power) < 0x1p53)
      result.ints.push_back(static_cast<int64_t>(power));
    else
      return makeError("power " + numberText(power) +
                       " of integers is too "
                       "large to be exact");
  }
  result.normalize();
  return result;
}

/// A float as an integer of a type, before the type wraps it. What the type
/// has no number near, ONNX leaves open; PyTorch and ONNX Runtime have what
/// processors give: the least of 64 bits, or of 32 for narrower types.
/// Exporters select among such values: the logarithm of a distance of 0, in the
/// positions of T5.
static int64_t truncated(double x, int32_t type) {
  const bool isWide = type == TensorProto::INT64 ||
                      type == TensorProto::UINT64 ||
                      type == TensorProto::UINT32;
  // Exact, as the largest numbers of 64 bits are not.
  const double bound = isWide ? 0x1p63 : 0x1p31;
  const bool isNear = x > -bound - 1 && x < bound;
  return isNear ? static_cast<int64_t>(x)
                : (isWide ? INT64_MIN : int64_t(INT32_MIN));
}

Expected<Constant> ffc::importer::foldCast(const FoldCall &call) {
  const Constant &from = *call.inputs[0];
  Constant result;
  result.type = static_cast<int32_t>(call.integer("to", 0));
  result.shape = from.shape;
  if (elementBytes(result.type) == 0)
    return makeError("cannot cast to " + elementTypeName(result.type));
  for (int64_t i = 0; i < from.size(); ++i) {
    if (result.isFloat()) {
      result.floats.push_back(from.number(i));
      continue;
    }
    if (!from.isFloat()) {
      result.ints.push_back(from.ints[i]);
      continue;
    }
    double x = from.floats[i];
    if (result.type == TensorProto::BOOL) {
      result.ints.push_back(x != 0);
      continue;
    }
    result.ints.push_back(truncated(x, result.type));
  }
  result.normalize();
  return result;
}

Expected<Constant> ffc::importer::foldWhere(const FoldCall &call) {
  const Constant &test = *call.inputs[0], &a = *call.inputs[1],
                 &b = *call.inputs[2];
  Expected<Shape> both = broadcast(a.shape, b.shape);
  if (!both)
    return both.takeError();
  Expected<Shape> shape = broadcast(*both, test.shape);
  if (!shape)
    return shape.takeError();
  if (a.type != b.type || test.type != TensorProto::BOOL)
    return makeError("expected a condition and two operands of one type");
  Constant result;
  result.type = a.type;
  result.shape = *shape;
  for (int64_t i = 0, e = *elementCount(*shape); i < e; ++i) {
    const Constant &from =
        test.ints[broadcastIndex(i, *shape, test.shape)] ? a : b;
    int64_t index = broadcastIndex(i, *shape, from.shape);
    if (from.isFloat())
      result.floats.push_back(from.floats[index]);
    else
      result.ints.push_back(from.ints[index]);
  }
  return result;
}
