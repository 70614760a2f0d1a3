//===- ParameterTable.cpp - what is trained, as text ----------------------===//

#include "ParameterTable.h"

#include "Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace ffc;

/// "64x3x7x7", "scalar"; extents that are not known are "?".
static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t extent : shape)
    text +=
        (text.empty() ? "" : "x") + (extent < 0 ? "?" : std::to_string(extent));
  return text.empty() ? "scalar" : text;
}

/// The reason, and the other names of the value.
static std::string remarks(const ListedValue &value) {
  std::string text = value.why;
  if (!value.parameter.empty())
    text += "; it is '" + value.parameter + "'";
  if (!value.tied.empty())
    text += "; tied to it: '" + llvm::join(value.tied, "', '") + "'";
  return text;
}

std::string ffc::describeValues(const ParameterList &list) {
  size_t shapes = 0, names = 0;
  for (const ListedValue &value : list.values) {
    constexpr size_t kWidest = 48; // a longer name moves its own line only
    shapes = std::max(shapes, shapeText(value.shape).size());
    names = std::max(names, std::min(kWidest, value.name.size()));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto line = [&](llvm::StringRef kind, llvm::StringRef shape,
                  llvm::StringRef bytes, llvm::StringRef name,
                  llvm::StringRef why) {
    stream << kind << "  "
           << llvm::right_justify(shape, static_cast<unsigned>(shapes)) << "  "
           << llvm::right_justify(bytes, 12) << "  "
           << llvm::left_justify(name, static_cast<unsigned>(names)) << "  "
           << why << '\n';
  };
  for (bool trained : {true, false})
    for (const ListedValue &value : list.values)
      if (value.isTrained == trained)
        line(trained ? "trained" : "frozen ", shapeText(value.shape),
             std::to_string(value.bytes), value.name, remarks(value));
  for (const MissingParameter &missing : list.missing)
    line("missing", "", "", missing.name, missing.where);
  return text;
}

std::string ffc::describeSums(const ParameterList &list) {
  // What has no data may have any extents.
  struct Sum {
    int64_t values = 0;
    uint64_t numbers = 0, bytes = 0;
  } sums[2];
  for (const ListedValue &value : list.values) {
    if (!value.isOfFloats)
      continue;
    Sum &sum = sums[value.isTrained];
    uint64_t numbers = 1;
    for (int64_t extent : value.shape)
      numbers = llvm::SaturatingMultiply<uint64_t>(
          numbers, std::max<int64_t>(extent, 0));
    ++sum.values;
    sum.numbers = llvm::SaturatingAdd(sum.numbers, numbers);
    sum.bytes = llvm::SaturatingAdd<uint64_t>(sum.bytes, value.bytes);
  }
  auto text = [](const Sum &sum) {
    return llvm::formatv("({0} {1}, {2})", sum.numbers,
                         sum.numbers == 1 ? "number" : "numbers",
                         bytesText(static_cast<int64_t>(
                             std::min<uint64_t>(sum.bytes, INT64_MAX))))
        .str();
  };
  return llvm::formatv("{0} {1} trained {2}, {3} frozen {4}", sums[1].values,
                       sums[1].values == 1 ? "value" : "values", text(sums[1]),
                       sums[0].values, text(sums[0]))
      .str();
}

std::string ffc::describeMissing(const ParameterList &list) {
  constexpr size_t kShown = 5;
  if (list.missing.empty())
    return "";
  std::vector<std::string> names;
  for (const MissingParameter &missing : list.missing)
    if (names.size() < kShown)
      names.push_back("'" + missing.name + "'");
  const size_t count = list.missing.size();
  return llvm::formatv("{0} {1} of the module {2} not in the file and {2} not "
                       "trained: {3}{4}; {5}",
                       count, count == 1 ? "parameter" : "parameters",
                       count == 1 ? "is" : "are", llvm::join(names, ", "),
                       count > kShown ? ", ..." : "", list.advice)
      .str();
}
