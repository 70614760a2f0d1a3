//===- Units.cpp - quantities with units ----------------------------------===//

#include "ffc/Plan/Units.h"

#include <charconv>
#include <cmath>

using namespace ffc::plan;

/// Larger figures are mistakes, and sums of a few of them still fit in int64.
static constexpr double kMaxQuantity = 1e18;

static const char *exampleOf(QuantityKind kind) {
  switch (kind) {
  case QuantityKind::Bytes:
    return "141 GB";
  case QuantityKind::BytesPerSecond:
    return "450 GB/s";
  case QuantityKind::FlopsPerSecond:
    return "60 TFLOP/s";
  case QuantityKind::Time:
    return "2 us";
  }
  return "";
}

static const char *nameOf(QuantityKind kind) {
  switch (kind) {
  case QuantityKind::Bytes:
    return "size";
  case QuantityKind::BytesPerSecond:
    return "bandwidth";
  case QuantityKind::FlopsPerSecond:
    return "rate";
  case QuantityKind::Time:
    return "time";
  }
  return "";
}

static std::optional<double> timeUnit(const std::string &unit) {
  if (unit == "s")
    return 1e12;
  if (unit == "ms")
    return 1e9;
  if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs")
    return 1e6;
  if (unit == "ns")
    return 1e3;
  if (unit == "ps")
    return 1;
  return std::nullopt;
}

/// Removes `suffix` from the end of `text` if it is there.
static bool consumeBack(std::string &text, const std::string &suffix) {
  if (text.size() < suffix.size() ||
      text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text.resize(text.size() - suffix.size());
  return true;
}

static std::optional<double> prefix(const std::string &text) {
  if (text.empty())
    return 1;
  const bool binary = text.size() == 2 && text[1] == 'i';
  if (text.size() > 1 && !binary)
    return std::nullopt;
  const double step = binary ? 1024 : 1000;
  switch (text[0]) {
  case 'k':
  case 'K':
    return step;
  case 'M':
    return step * step;
  case 'G':
    return step * step * step;
  case 'T':
    return step * step * step * step;
  case 'P':
    return step * step * step * step * step;
  }
  return std::nullopt;
}

/// How many base units one `unit` is.
static std::optional<double> unitFactor(std::string unit, QuantityKind kind) {
  switch (kind) {
  case QuantityKind::Time:
    return timeUnit(unit);
  case QuantityKind::FlopsPerSecond:
    if (!consumeBack(unit, "FLOP/s"))
      return std::nullopt;
    return prefix(unit);
  case QuantityKind::BytesPerSecond:
    if (!consumeBack(unit, "/s"))
      return std::nullopt;
    [[fallthrough]];
  case QuantityKind::Bytes:
    break;
  }
  double scale = 1;
  if (consumeBack(unit, "bit"))
    scale = 0.125;
  else if (!consumeBack(unit, "B"))
    return std::nullopt;
  if (std::optional<double> factor = prefix(unit))
    return *factor * scale;
  return std::nullopt;
}

std::optional<double> ffc::plan::parseQuantity(const std::string &text,
                                               QuantityKind kind,
                                               std::string &error) {
  const std::string expected = std::string("expected a ") + nameOf(kind) +
                               " with its unit such as '" + exampleOf(kind) +
                               "', found '" + text + "'";
  // from_chars ignores the locale, unlike strtod.
  double number = 0;
  const char *end = text.data() + text.size();
  auto [rest, status] = std::from_chars(text.data(), end, number);
  if (status == std::errc::invalid_argument ||
      (status == std::errc() && !std::isfinite(number))) {
    error = expected;
    return std::nullopt;
  }
  while (rest != end && *rest == ' ')
    ++rest;
  const std::string unit(rest, end);
  if (unit.empty()) {
    error = expected + ", which has no unit";
    return std::nullopt;
  }
  const std::optional<double> factor = unitFactor(unit, kind);
  if (!factor) {
    error = expected + ", whose unit '" + unit + "' is not one of a " +
            nameOf(kind);
    return std::nullopt;
  }
  const double value = number * *factor;
  if (status == std::errc::result_out_of_range ||
      std::abs(value) > kMaxQuantity) {
    error = expected + ", which is out of range";
    return std::nullopt;
  }
  return value;
}

static std::string shortest(double value) {
  char buffer[32];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

std::string ffc::plan::formatQuantity(double value, QuantityKind kind) {
  static const char *const kTime[] = {"s", "ms", "us", "ns", "ps"};
  static const char *const kPrefix[] = {"P", "T", "G", "M", "k", ""};
  std::string base = kind == QuantityKind::Time             ? ""
                     : kind == QuantityKind::Bytes          ? "B"
                     : kind == QuantityKind::BytesPerSecond ? "B/s"
                                                            : "FLOP/s";
  auto tryUnit = [&](const std::string &unit) -> std::optional<std::string> {
    const double factor = *unitFactor(unit, kind);
    if (std::abs(value) < factor)
      return std::nullopt;
    std::string number = shortest(value / factor);
    // Division may round; then a smaller prefix is tried, at last factor 1.
    std::string ignored;
    std::string text = number + " " + unit;
    if (parseQuantity(text, kind, ignored) != value)
      return std::nullopt;
    return text;
  };
  if (kind == QuantityKind::Time) {
    for (const char *unit : kTime)
      if (auto text = tryUnit(unit))
        return *text;
    return shortest(value) + " ps";
  }
  for (const char *unit : kPrefix)
    if (auto text = tryUnit(unit + base))
      return *text;
  return shortest(value) + " " + base;
}
