//===- Tokens.cpp - the words of C++ text ---------------------------------===//

#include "Tokens.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

static bool isWord(char c) { return isAlnum(c) || c == '_'; }

/// How much of `rest`, which begins with no space and no comment, is a token.
static size_t lengthOf(StringRef rest) {
  if (rest.front() == '"') {
    size_t end = 1;
    while (end < rest.size() && rest[end] != '"')
      end += rest[end] == '\\' ? 2 : 1;
    return std::min(end + 1, rest.size());
  }
  const bool isSigned =
      rest.front() == '-' && rest.size() > 1 && isDigit(rest[1]);
  if (isDigit(rest.front()) || isSigned) {
    size_t end = 1;
    while (end < rest.size() &&
           (isWord(rest[end]) || rest[end] == '.' ||
            ((rest[end] == '-' || rest[end] == '+') && rest[end - 1] == 'e')))
      ++end;
    return end;
  }
  if (isWord(rest.front())) {
    size_t end = 1;
    while (end < rest.size() && isWord(rest[end]))
      ++end;
    return end;
  }
  return rest.starts_with("::") || rest.starts_with("->") ? 2 : 1;
}

/// How much of `rest` is a space, a comment or a line of the preprocessor.
static size_t lengthOfNothing(StringRef rest) {
  if (isSpace(rest.front()))
    return 1;
  if (rest.starts_with("//") || rest.starts_with("#"))
    return std::min(rest.find('\n'), rest.size());
  if (rest.starts_with("/*")) {
    const size_t end = rest.find("*/", 2);
    return end == StringRef::npos ? rest.size() : end + 2;
  }
  return 0;
}

std::vector<Token> codegen::tokensOf(StringRef text) {
  std::vector<Token> tokens;
  size_t line = 1;
  while (!text.empty()) {
    size_t length = lengthOfNothing(text);
    if (length == 0) {
      length = lengthOf(text);
      tokens.push_back({text.take_front(length), line});
    }
    line += text.take_front(length).count('\n');
    text = text.drop_front(length);
  }
  return tokens;
}

const Token &TokenReader::peek(size_t ahead) const {
  static const Token end;
  return at + ahead < tokens.size() ? tokens[at + ahead] : end;
}

Token TokenReader::next() {
  Token token = peek();
  if (at < tokens.size())
    ++at;
  return token;
}

bool TokenReader::skip(std::initializer_list<StringRef> words) {
  size_t ahead = 0;
  for (StringRef word : words)
    if (peek(ahead++).text != word)
      return false;
  at += words.size();
  return true;
}

Error TokenReader::expect(std::initializer_list<StringRef> words) {
  for (StringRef word : words) {
    if (peek().text != word)
      return fail("'" + word + "'");
    ++at;
  }
  return Error::success();
}

std::string TokenReader::takeArgument() {
  std::string text;
  int depth = 0;
  while (!atEnd()) {
    const StringRef word = peek().text;
    if (depth == 0 && (word == "," || word == "}" || word == ")"))
      break;
    if (word == "{" || word == "(")
      ++depth;
    if (word == "}" || word == ")")
      --depth;
    text += word;
    ++at;
  }
  return text;
}

void TokenReader::leave() {
  for (int depth = 1; depth > 0 && !atEnd();) {
    const StringRef word = next().text;
    if (word == "{" || word == "(")
      ++depth;
    if (word == "}" || word == ")")
      --depth;
  }
}

Error TokenReader::fail(const Twine &expected) const {
  const size_t line =
      atEnd() && !tokens.empty() ? tokens.back().line : peek().line;
  return createStringError(
      file + ":" + Twine(line) + ": expected " + expected + ", found " +
      (atEnd() ? Twine("the end of the file") : "'" + peek().text + "'"));
}
