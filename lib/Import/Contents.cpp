//===- Contents.cpp - what the numbers of a tensor tell -------------------===//

#include "Contents.h"

#include "TensorData.h"

#include <cmath>
#include <cstring>

using namespace ffc::importer;
using onnx::TensorProto;

/// Added to scores, numbers below leave nothing of them: the least ones of
/// formats, and what exporters write in their place.
static constexpr double kHides = -1e4;

Contents::Contents(int32_t type, Shape shape,
                   std::unique_ptr<llvm::MemoryBuffer> data)
    : type(type), shape(std::move(shape)), buffer(std::move(data)) {
  count = elementCount(this->shape).value_or(0);
  if (!buffer || !isFloatType(type) ||
      static_cast<int64_t>(buffer->getBufferSize()) !=
          count * elementBytes(type))
    return;
  bytes = buffer->getBuffer();
}

Contents::Contents(const Constant &constant)
    : type(constant.type), shape(constant.shape),
      count(elementCount(constant.shape).value_or(0)),
      numbers(constant.floats) {}

template <class T> static T elementAt(llvm::StringRef bytes, int64_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

double Contents::at(int64_t i) const {
  if (!numbers.empty())
    return numbers[i];
  if (type == TensorProto::FLOAT)
    return elementAt<float>(bytes, i);
  if (type == TensorProto::DOUBLE)
    return elementAt<double>(bytes, i);
  return decodeHalf(elementAt<uint16_t>(bytes, i), type);
}

std::optional<double> Contents::oneValue() const {
  if (!isKnown())
    return std::nullopt;
  const double first = at(0);
  for (int64_t i = 1; i < count; ++i)
    if (at(i) != first)
      return std::nullopt;
  return first;
}

bool Contents::isStrictMask() const {
  if (!isKnown())
    return false;
  bool zero = false, one = false, hides = false;
  for (int64_t i = 0; i < count; ++i) {
    const double x = at(i);
    zero |= x == 0;
    one |= x == 1;
    hides |= x <= kHides;
    if (x != 0 && x != 1 && !(x <= kHides))
      return false;
  }
  return hides || (zero && one);
}

bool Contents::isMask() const {
  if (isStrictMask())
    return true;
  if (!isKnown())
    return false;
  bool zero = false;
  std::optional<double> other;
  for (int64_t i = 0; i < count; ++i) {
    const double x = at(i);
    if (x == 0)
      zero = true;
    else if (x != other.value_or(x))
      return false;
    else
      other = x;
  }
  return zero && other;
}

bool Contents::isPositions() const {
  if (!isKnown() || count < 3 || at(0) != std::floor(at(0)) || at(0) > 0 ||
      at(0) + static_cast<double>(count) <= 0)
    return false;
  for (int64_t i = 1; i < count; ++i)
    if (at(i) != at(0) + static_cast<double>(i))
      return false;
  return true;
}

bool Contents::isGeometric() const {
  if (!isKnown() || count < 4 ||
      llvm::none_of(shape, [this](int64_t d) { return d == count; }))
    return false;
  const double ratio = at(1) / at(0);
  if (!(ratio > 0) || std::abs(ratio - 1) < 1e-3)
    return false;
  for (int64_t i = 1; i < count; ++i)
    if (!(std::abs(at(i) - ratio * at(i - 1)) <= 1e-4 * std::abs(at(i))))
      return false;
  return true;
}

bool Contents::isRepeated() const {
  if (!isKnown())
    return false;
  int64_t outer = 1, inner = count;
  for (const int64_t extent : shape) {
    inner /= extent;
    bool isSame = extent > 1;
    for (int64_t o = 0; isSame && o < outer; ++o)
      for (int64_t i = inner; isSame && i < extent * inner; ++i) {
        const int64_t first = o * extent * inner;
        isSame = at(first + i) == at(first + i % inner);
      }
    if (isSame)
      return true;
    outer *= extent;
  }
  return false;
}

/// Is every column x[t] one with x[t + 1] + x[t - 1] = k x[t]?
bool Contents::goesOnAsRotation(int64_t outer, int64_t rows,
                                int64_t columns) const {
  constexpr double kTolerance = 2e-3;
  // So many rows tell k, and tell weights from sines without reading more.
  const int64_t first = std::min<int64_t>(rows, 64);
  bool varies = false, turns = false;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < columns; ++c) {
      auto x = [&](int64_t t) { return at((o * rows + t) * columns + c); };
      double products = 0, squares = 0, most = 0;
      for (int64_t t = 1; t + 1 < first; ++t) {
        products += x(t) * (x(t - 1) + x(t + 1));
        squares += x(t) * x(t);
      }
      const double k = squares > 0 ? products / squares : 0;
      for (int64_t t = 0; t < first; ++t)
        most = std::max(most, std::abs(x(t)));
      if (!(std::abs(k) <= 2 + kTolerance))
        return false;
      // Lines go on with 2, as very slow sines do.
      turns |= std::abs(k) < 1.99;
      for (int64_t t = 1; t + 1 < rows; ++t)
        if (!(std::abs(x(t - 1) + x(t + 1) - k * x(t)) <= kTolerance * most))
          return false;
      for (int64_t t = 1; t < first && !varies; ++t)
        varies = std::abs(x(t) - x(0)) > 0.1 * most;
    }
  return varies && turns;
}

/// Are columns c and c + distance of all rows sine and cosine of an angle, in
/// blocks of two distances? Rows of zeros are padding. Many pairs tell sines
/// even where they are not exact.
bool Contents::hasUnitPairs(int64_t rows, int64_t columns,
                            int64_t distance) const {
  constexpr double kExact = 2e-3, kNear = 0.1;
  constexpr int64_t kMany = 64;
  if (distance < 1 || columns % (2 * distance) != 0)
    return false;
  int64_t pairs = 0;
  double off = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t block = 0; block < columns; block += 2 * distance)
      for (int64_t c = block; c < block + distance; ++c) {
        const double a = at(r * columns + c),
                     b = at(r * columns + c + distance);
        if (a == 0 && b == 0)
          continue;
        off += std::abs(a * a + b * b - 1);
        ++pairs;
      }
    if (!(off <= 4 * kNear * static_cast<double>(pairs)))
      return false;
  }
  const double allowed = pairs < kMany ? kExact : kNear;
  return 4 * pairs > rows * columns &&
         off <= allowed * static_cast<double>(pairs);
}

bool Contents::isSines() const {
  constexpr int64_t kLeastRows = 6, kLeastColumns = 4;
  Shape real;
  for (int64_t d : shape)
    if (d != 1)
      real.push_back(d);
  if (!isKnown() || real.size() < 2)
    return false;
  const int64_t columns = real.back(), rows = real[real.size() - 2];
  if (columns < 2 || rows < 2)
    return false;
  const int64_t all = count / columns;
  if (columns >= kLeastColumns)
    for (int64_t distance : {columns / 2, columns / 4, int64_t(1)})
      if (hasUnitPairs(all, columns, distance))
        return true;
  return rows >= kLeastRows && goesOnAsRotation(all / rows, rows, columns);
}
