//===- Flags.cpp - tables of command line flags ---------------------------===//

#include "Flags.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;
using namespace ffc;
using codegen::makeError;

Error ffc::expected(StringRef flag, const Twine &what, StringRef found) {
  return makeError(flag + ": expected " + what + ", found '" + found + "'");
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

Error ffc::splitFlags(const std::vector<std::string> &arguments, FindFlag find,
                      SetFlag set, TakeArgument take, StringRef advice) {
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
      return makeError("unknown flag '" + name + "', " + advice);
    if (called->empty() && hasValue)
      return expected(name, "no value", value);
    if (!called->empty() && !hasValue) {
      if (i + 1 == arguments.size())
        return makeError(name + ": expected " + *called +
                         " after it, found none");
      value = arguments[++i];
    }
    if (Error error = set(name, value))
      return error;
  }
  return Error::success();
}
