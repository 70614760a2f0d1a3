//===- Json.cpp - JSON of bounded depth -----------------------------------===//

#include "ffc/Import/Json.h"

#include <algorithm>

using llvm::StringRef;

static constexpr int kMaxDepth = 100;

/// The most brackets that are open at once, outside strings.
static int depthOf(StringRef text) {
  int depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (isString) {
      i += c == '\\';
      isString = c != '"';
      continue;
    }
    isString = c == '"';
    if (c == '[' || c == '{')
      deepest = std::max(deepest, ++depth);
    else if (c == ']' || c == '}')
      --depth;
  }
  return deepest;
}

llvm::Expected<llvm::json::Value> ffc::parseJson(StringRef text) {
  if (const int depth = depthOf(text); depth > kMaxDepth)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "expected JSON of at most " + llvm::Twine(kMaxDepth) +
            " values within each other, found " + llvm::Twine(depth));
  return llvm::json::parse(text);
}
