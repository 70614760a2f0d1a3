//===- FourierOps.cpp - DFT and STFT --------------------------------------===//
//
// Products with matrices of cosines and sines.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

namespace {
/// What is computed of numbers along one dimension.
struct Transform {
  int64_t length;  ///< of what is transformed
  int64_t results; ///< along the dimension
  bool isInverse, isOneSided;

  /// How often the frequency `k` stands in a spectrum of which one side is
  /// given.
  double weight(int64_t k) const {
    if (!isInverse)
      return 1;
    const bool isTwice = isOneSided && k != 0 && 2 * k != length;
    return (isTwice ? 2.0 : 1.0) / static_cast<double>(length);
  }
};
} // namespace

/// The cosine of so many parts of a turn, of which it has `length`. That of a
/// quarter is 0, and what cancels out in exact arithmetic does so here.
static double cosineOf(int64_t parts, int64_t length) {
  constexpr double kQuarter = 1.570796326794896619231;
  const double angle = kQuarter * static_cast<double>(4 * parts % length) /
                       static_cast<double>(length);
  switch (4 * parts / length % 4) {
  case 0:
    return std::cos(angle);
  case 1:
    return -std::sin(angle);
  case 2:
    return -std::cos(angle);
  default:
    return std::sin(angle);
  }
}

static double sineOf(int64_t parts, int64_t length) {
  // Three quarters further.
  return cosineOf(4 * parts + 3 * length, 4 * length);
}

/// cos or sin of 2 pi k n / length, [rows, results]; null after an error.
static GraphValue *waves(NodeImporter &node, Expression &made,
                         const Transform &of, int64_t rows, int32_t type,
                         double (*wave)(int64_t, int64_t), double sign) {
  const auto count = elementCount({rows, of.results});
  if (!count || *count > kMaxPositions) {
    node.error("expected at most " + llvm::Twine(kMaxPositions) +
               " elements of a matrix of frequencies, found " +
               llvm::Twine(rows) + "x" + llvm::Twine(of.results));
    return nullptr;
  }
  std::vector<double> numbers;
  numbers.reserve(*count);
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t n = 0; n < of.results; ++n)
      // Whole turns are left out, for the sake of large angles.
      numbers.push_back(sign * of.weight(k) *
                        wave(k * n % of.length, of.length));
  return made.floats(type, {rows, of.results}, std::move(numbers));
}

/// `x`, [..., 1 or 2], whose last dimension has real and imaginary parts, is
/// transformed along dimension `axis`.
static GraphValue *transformed(NodeImporter &node, Expression &made,
                               GraphValue *x, int64_t axis,
                               const Transform &of) {
  if (!x)
    return nullptr;
  const auto rank = static_cast<int64_t>(x->shape.size());
  const bool isReal = x->shape.back() == 1;
  // As many as there are of those that count.
  const int64_t needed =
      of.isInverse && of.isOneSided ? of.length / 2 + 1 : of.length;
  const int64_t rows = std::min(x->shape[axis], needed);
  x = made.slice(x, axis, 0, rows);
  // [..., axis], for each part.
  Shape perm;
  for (int64_t d = 0; d < rank - 1; ++d)
    if (d != axis)
      perm.push_back(d);
  perm.push_back(axis);
  auto part = [&](int64_t i) -> GraphValue * {
    GraphValue *one = made.slice(x, rank - 1, i, i + 1);
    if (!one)
      return nullptr;
    Shape shape(one->shape);
    shape.pop_back();
    one = made.reshape(one, shape);
    return llvm::equal(perm, llvm::seq(rank - 1)) ? one
                                                  : made.transpose(one, perm);
  };
  const int32_t type = x ? x->type : int32_t(TensorProto::FLOAT);
  GraphValue *cosines = waves(node, made, of, rows, type, cosineOf, 1);
  GraphValue *sines =
      waves(node, made, of, rows, type, sineOf, of.isInverse ? 1 : -1);
  auto product = [&](GraphValue *a, GraphValue *b) {
    return made.apply("MatMul", {a, b});
  };
  GraphValue *real = part(0), *imaginary = isReal ? nullptr : part(1);
  GraphValue *cosine = product(real, cosines), *sine = nullptr;
  const bool isResultReal = of.isInverse && of.isOneSided;
  if (!isResultReal)
    sine = product(real, sines);
  if (!isReal) {
    cosine = made.sub(cosine, product(imaginary, sines));
    if (!isResultReal)
      sine = made.add(sine, product(imaginary, cosines));
  }
  // The parts, with the dimension back in its place.
  llvm::SmallVector<GraphValue *> parts;
  for (GraphValue *value : {cosine, sine}) {
    if (value == sine && isResultReal)
      continue;
    if (!value)
      return nullptr;
    Shape back;
    for (int64_t d = 0; d < rank - 1; ++d)
      back.push_back(d < axis ? d : d == axis ? rank - 2 : d - 1);
    if (!llvm::equal(back, llvm::seq(rank - 1)))
      value = made.transpose(value, back);
    if (!value)
      return nullptr;
    Shape column(value->shape);
    column.push_back(1);
    parts.push_back(made.reshape(value, column));
  }
  return made.concat(parts, rank - 1);
}

/// Reports a last dimension that is not one of real and imaginary parts.
static void expectParts(NodeImporter &node) {
  if (node.rank(0) < 2 || node.rank(0) > 7 || node.shape(0).back() > 2)
    node.error("expected an operand 0 of 2 to 7 dimensions, the last one of 1 "
               "or 2 for real and imaginary parts, found shape " +
               shapeText(node.shape(0)));
}

static void importDft(NodeImporter &node) {
  constexpr int kAxis = 2;
  const bool isInverse = node.integer("inverse", 0) != 0,
             isOneSided = node.integer("onesided", 0) != 0;
  takeNumberType(node, 0, /*integers=*/false);
  expectParts(node);
  if (node.failed())
    return;
  // Opset 20 turned the axis into an operand.
  int64_t axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
  if (node.has(kAxis))
    axis = static_cast<int64_t>(node.scalar(kAxis).value_or(0));
  axis = node.check(resolveAxis(axis, node.rank(0)));
  if (!node.failed() && axis == node.rank(0) - 1)
    node.error("expected an axis before the last dimension");
  if (!node.failed())
    node.expectNoChangedBatch(0, axis);
  if (node.failed())
    return;
  const int64_t extent = node.shape(0)[axis];
  double length =
      static_cast<double>(isInverse && isOneSided ? 2 * (extent - 1) : extent);
  if (node.has(1))
    length = node.scalar(1).value_or(0);
  if (!(length >= 1 && length <= static_cast<double>(kMaxPositions)))
    node.error("expected a length from 1 to " + llvm::Twine(kMaxPositions) +
               ", found " + numberText(length));
  if (!isInverse && isOneSided && node.shape(0).back() != 1)
    node.error(
        "expected real numbers for a spectrum of one side, found shape " +
        shapeText(node.shape(0)));
  if (node.failed())
    return;
  Transform of{static_cast<int64_t>(length), 0, isInverse, isOneSided};
  of.results = isOneSided && !isInverse ? of.length / 2 + 1 : of.length;
  Expression made(node);
  made.define(transformed(node, made, &node.operand(0), axis, of));
}

static void importStft(NodeImporter &node) {
  enum { Signal, Step, Window, Length };
  const bool isOneSided = node.integer("onesided", 1) != 0;
  takeNumberType(node, Signal, /*integers=*/false);
  node.expectRank(Signal, 3);
  expectParts(node);
  const double step = node.scalar(Step).value_or(0);
  if (node.failed())
    return;
  const Shape from(node.shape(Signal));
  double length = static_cast<double>(from[1]);
  if (node.has(Window)) {
    node.expectRank(Window, 1);
    if (node.failed())
      return;
    length = static_cast<double>(node.shape(Window)[0]);
  }
  if (node.has(Length)) {
    const double given = node.scalar(Length).value_or(0);
    if (node.has(Window) && given != length)
      node.error("expected a window as long as a frame of " +
                 numberText(given) + ", found " + numberText(length));
    length = given;
  }
  if (!(step >= 1 && step <= static_cast<double>(kMaxPositions)))
    node.error("expected a frame step from 1 to " + llvm::Twine(kMaxPositions) +
               ", found " + numberText(step));
  if (!(length >= 1 && length <= static_cast<double>(from[1])))
    node.error("expected a frame length from 1 to " + llvm::Twine(from[1]) +
               ", found " + numberText(length));
  if (isOneSided && from[2] != 1)
    node.error(
        "expected real numbers for a spectrum of one side, found shape " +
        shapeText(from));
  node.expectNoChangedBatch(Signal, 1);
  if (node.failed())
    return;
  const auto size = static_cast<int64_t>(length),
             stride = static_cast<int64_t>(step);
  const int64_t frames = 1 + (from[1] - size) / stride;
  const auto count = elementCount({frames, size});
  if (!count || *count > kMaxPositions)
    return node.error("expected at most " + llvm::Twine(kMaxPositions) +
                      " positions in frames, found " + llvm::Twine(frames) +
                      "x" + llvm::Twine(size));
  std::vector<int64_t> places;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < size; ++i)
      places.push_back(frame * stride + i);
  Expression made(node);
  GraphValue *x = made.apply(
      "Gather",
      {&node.operand(Signal),
       made.constant(TensorProto::INT64, {frames, size}, std::move(places))},
      "axis", 1);
  if (node.has(Window))
    x = made.mul(x, made.reshape(&node.operand(Window), {size, 1}));
  const Transform of{size, isOneSided ? size / 2 + 1 : size, false, isOneSided};
  made.define(transformed(node, made, x, 2, of));
}

void ffc::importer::registerFourierOps() {
  registerOp("DFT", {importDft, 1, 3});
  registerOp("STFT", {importStft, 2, 4});
}
