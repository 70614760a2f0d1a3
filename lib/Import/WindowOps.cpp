//===- WindowOps.cpp - windows and filters of signals ---------------------===//
//
// All of them are constants.
//
//===----------------------------------------------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include <cmath>

using namespace ffc;
using namespace ffc::importer;
using llvm::Twine;
using onnx::TensorProto;

/// Operand i, a whole number from `least` to what is evaluated at most.
static int64_t readCount(NodeImporter &node, int i, int64_t least) {
  const double given = node.scalar(i).value_or(0);
  if (!(given >= static_cast<double>(least) &&
        given <= static_cast<double>(kMaxConstantElements)))
    node.error("expected operand " + Twine(i) + " from " + Twine(least) +
               " to " + Twine(kMaxConstantElements) + ", found " +
               numberText(given));
  return node.failed() ? least : static_cast<int64_t>(given);
}

/// Result 0 is `numbers`, of the type that 'output_datatype' gives.
static void defineNumbers(NodeImporter &node, Shape shape,
                          std::vector<double> numbers) {
  Constant result;
  result.type =
      static_cast<int32_t>(node.integer("output_datatype", TensorProto::FLOAT));
  result.shape = std::move(shape);
  if (!isFloatType(result.type))
    return node.unsupported(" of " + elementTypeName(result.type));
  result.floats = std::move(numbers);
  result.normalize();
  node.defineConstant(std::move(result));
}

/// first - second cos(angle) + third cos(2 angle).
static void importWindow(NodeImporter &node) {
  const bool periodic = node.integer("periodic", 1) != 0;
  const int64_t size = readCount(node, 0, 1);
  if (node.failed())
    return;
  double first = 0.5, second = 0.5, third = 0;
  if (node.opType() == "HammingWindow") {
    first = 25.0 / 46;
    second = 1 - first;
  } else if (node.opType() == "BlackmanWindow") {
    first = 0.42;
    third = 0.08;
  }
  constexpr double kTurn = 6.283185307179586476925;
  const int64_t period = std::max<int64_t>(periodic ? size : size - 1, 1);
  std::vector<double> numbers;
  for (int64_t i = 0; i < size; ++i) {
    const double angle =
        kTurn * static_cast<double>(i) / static_cast<double>(period);
    numbers.push_back(first - second * std::cos(angle) +
                      third * std::cos(2 * angle));
  }
  defineNumbers(node, {size}, std::move(numbers));
}

/// Triangles over the frequencies of a spectrum, as wide as they are heard.
static void importMelWeightMatrix(NodeImporter &node) {
  const int64_t bins = readCount(node, 0, 1), length = readCount(node, 1, 1);
  const double rate = static_cast<double>(readCount(node, 2, 1)),
               lower = node.scalar(3).value_or(0),
               upper = node.scalar(4).value_or(0);
  const int64_t frequencies = length / 2 + 1;
  if (frequencies > kMaxConstantElements / bins)
    node.check(tooLarge({frequencies, bins}));
  if (!(lower >= 0 && lower <= upper && upper <= rate))
    node.error("expected edges from 0 to the sample rate of " +
               numberText(rate) + ", found " + numberText(lower) + " and " +
               numberText(upper));
  if (node.failed())
    return;
  const double scale = 2595 / std::log(10.0);
  const double low = scale * std::log1p(lower / 700),
               high = scale * std::log1p(upper / 700);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel = low + static_cast<double>(i) * (high - low) /
                                 static_cast<double>(bins + 2);
    const double frequency = 700 * std::expm1(mel / scale);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * frequency / rate)));
  }
  std::vector<double> numbers(frequencies * bins, 0);
  auto set = [&](int64_t frequency, int64_t bin, double value) {
    if (frequency < frequencies)
      numbers[frequency * bins + bin] = value;
  };
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t left = edges[bin], center = edges[bin + 1],
                  right = edges[bin + 2];
    if (center == left)
      set(center, bin, 1);
    for (int64_t i = left; center > left && i <= center; ++i)
      set(i, bin,
          static_cast<double>(i - left) / static_cast<double>(center - left));
    for (int64_t i = center; i < right; ++i)
      set(i, bin,
          static_cast<double>(right - i) / static_cast<double>(right - center));
  }
  defineNumbers(node, {frequencies, bins}, std::move(numbers));
}

void ffc::importer::registerWindowOps() {
  registerOp("BlackmanWindow", {importWindow, 1, 1});
  registerOp("HammingWindow", {importWindow, 1, 1});
  registerOp("HannWindow", {importWindow, 1, 1});
  registerOp("MelWeightMatrix", {importMelWeightMatrix, 5, 5});
}
