//===- Flags.cpp - tables of command line flags ---------------------------===//

#include "Flags.h"

#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Plan/Units.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

Error ffc::expected(StringRef flag, const Twine &what, StringRef found) {
  return makeError(flag + ": expected " + what + ", found '" + found + "'");
}

Error ffc::meaningless(StringRef flag, StringRef advice) {
  return makeError("flag '" + flag + "' has no meaning here, " + advice);
}

std::string ffc::describeLine(const Twine &name, StringRef help) {
  constexpr size_t kHelpColumn = 26, kColumns = 80;
  std::string text, line = ("  " + name).str();
  line.resize(std::max(kHelpColumn, line.size() + 1), ' ');
  SmallVector<StringRef> words;
  help.split(words, ' ');
  for (StringRef word : words) {
    if (line.size() + word.size() > kColumns) {
      text += StringRef(line).rtrim().str() + "\n";
      line.assign(kHelpColumn, ' ');
    }
    line += word.str() + " ";
  }
  return text + StringRef(line).rtrim().str() + "\n";
}

/// "; did you mean '--batch-size'?" with the flags that `name` begins, or those
/// nearest to it by edit distance; empty if none is near.
static std::string suggestFlags(StringRef name, ArrayRef<StringRef> known) {
  // "--" and a letter begin too much; and a third of the letters wrong is no
  // longer a slip of the finger.
  constexpr size_t kLeastBegin = 4;
  SmallVector<StringRef> near;
  size_t distance = std::max<size_t>(1, name.ltrim('-').size() / 3);
  for (StringRef flag : known)
    if (name.size() >= kLeastBegin && flag.starts_with(name))
      near.push_back(flag);
  if (near.empty() && name.size() >= kLeastBegin)
    for (StringRef flag : known) {
      const size_t found = name.edit_distance(flag, /*AllowReplacements=*/true,
                                              static_cast<unsigned>(distance));
      if (found > distance)
        continue;
      if (found < distance)
        near.clear();
      distance = found;
      near.push_back(flag);
    }
  if (near.empty())
    return "";
  return "; did you mean '" + join(near, "' or '") + "'?";
}

Error ffc::splitFlags(const std::vector<std::string> &arguments, FindFlag find,
                      SetFlag set, TakeArgument take, StringRef advice,
                      ArrayRef<StringRef> known) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-") {
      if (Error error = take(argument))
        return error;
      continue;
    }
    bool isLong = argument.starts_with("--");
    auto [name, value] =
        isLong ? argument.split('=') : std::make_pair(argument, StringRef());
    bool hasValue = isLong && argument.contains('=');
    const StringRef *called = find(name);
    if (!called)
      return makeError("unknown flag '" + name + "', " + advice +
                       suggestFlags(name, known));
    if (called->empty() && hasValue)
      return expected(name, "no value", value);
    if (!called->empty() && !hasValue) {
      if (i + 1 == arguments.size())
        return makeError(name + ": expected " + *called +
                         " after it, found none");
      value = arguments[++i];
      if (value.starts_with("--"))
        return makeError(name + ": expected " + *called +
                         " after it, found the flag '" + value + "'");
    }
    if (Error error = set(name, value))
      return error;
  }
  return Error::success();
}

Error ffc::parseWhole(StringRef flag, StringRef text, int64_t least,
                      int64_t &result, int64_t most) {
  if (!text.getAsInteger(10, result) && result >= least && result <= most)
    return Error::success();
  const std::string range =
      most == kAnyWhole
          ? "of at least " + std::to_string(least)
          : "from " + std::to_string(least) + " to " + std::to_string(most);
  return expected(flag, "a whole number " + range, text);
}

Error ffc::parseBytes(StringRef flag, StringRef text, int64_t &result) {
  std::string error;
  const std::optional<double> bytes =
      plan::parseQuantity(text.str(), plan::QuantityKind::Bytes, error);
  if (!bytes || *bytes < 1)
    return expected(flag, "a size with its unit", text);
  result = static_cast<int64_t>(*bytes);
  return Error::success();
}

Error ffc::parseQuantity(StringRef flag, StringRef text,
                         plan::QuantityKind kind, double least,
                         double &result) {
  std::string error;
  const std::optional<double> value =
      plan::parseQuantity(text.str(), kind, error);
  if (!value)
    return makeError(flag + ": " + error);
  if (*value < least)
    return expected(flag, "at least " + plan::formatQuantity(least, kind),
                    text);
  result = *value;
  return Error::success();
}

Error ffc::parseNumber(StringRef flag, StringRef text, bool accept(double),
                       StringRef what, double &result) {
  double value;
  if (text.getAsDouble(value) || !std::isfinite(value) || !accept(value))
    return expected(flag, what, text);
  result = value;
  return Error::success();
}

Expected<size_t> ffc::parseWord(StringRef flag, StringRef text,
                                ArrayRef<StringRef> words) {
  const auto found = find(words, text);
  if (found == words.end())
    return expected(flag,
                    join(words.drop_back(), ", ") + " or " + words.back().str(),
                    text);
  return static_cast<size_t>(found - words.begin());
}

Error ffc::expectArguments(const CommandOptions &options, size_t count,
                           const Twine &what) {
  const std::vector<std::string> &given = options.arguments;
  if (given.size() == count)
    return Error::success();
  return makeError(
      "expected " + what + ", found " +
      (given.empty() ? "none" : "'" + join(given, "' and '") + "'"));
}

int ffc::failCommandLine(Error error) {
  printError(toString(std::move(error)));
  return 2;
}
