//===- Identifiers.cpp - C++ names from ONNX names ------------------------===//

#include "ffc/Codegen/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ffc;

std::string codegen::toIdentifier(StringRef name) {
  std::string text;
  for (char c : name) {
    if (isAlnum(c))
      text += toLower(c);
    else if (!text.empty() && text.back() != '_')
      text += '_';
  }
  if (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty())
    return "unnamed";
  return isDigit(text.front()) ? "v" + text : text;
}

std::string codegen::toClassName(StringRef name) {
  std::string text;
  bool upper = true;
  for (char c : toIdentifier(name)) {
    if (c != '_')
      text += upper ? toUpper(c) : c;
    upper = c == '_';
  }
  return text;
}

bool codegen::isReservedName(StringRef identifier) {
  static const StringSet<> words = {
      // Keywords and alternative operators of C++17 and C++20.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char8_t", "char16_t",
      "char32_t", "class", "compl", "concept", "const", "consteval",
      "constexpr", "constinit", "const_cast", "continue", "co_await",
      "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof",
      "static", "static_assert", "static_cast", "struct", "switch", "template",
      "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
      "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
      "wchar_t", "while", "xor", "xor_eq",
      // Macros that system headers and compilers define in lower case.
      "assert", "errno", "linux", "stderr", "stdin", "stdout", "unix",
      // Names of the emitted text and of the runtime's functions.
      "absent", "accumulate", "combine", "copy", "ffrt", "fill", "main", "make",
      "own", "program_info", "rank_info", "rank_tables", "run", "std"};
  return words.contains(identifier);
}

std::string codegen::NameScope::take(StringRef name) {
  std::string base = toIdentifier(name);
  if (isReservedName(base))
    base += '_';
  std::string candidate = base;
  for (int i = 2; !taken.insert(candidate).second; ++i)
    candidate = base + (base.back() == '_' ? "" : "_") + std::to_string(i);
  return candidate;
}
