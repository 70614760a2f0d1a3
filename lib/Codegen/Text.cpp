//===- Text.cpp - lines of C++ --------------------------------------------===//

#include "Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

static constexpr size_t kColumns = 80;

/// How much of `line` to print on a line of `width` columns; all of it if it
/// fits or cannot be broken.
static size_t breakAt(StringRef line, size_t width) {
  if (line.size() <= width)
    return line.size();
  size_t best = line.size();
  int depth = 0, templates = 0, bestDepth = std::numeric_limits<int>::max();
  bool inString = false;
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\'))
      inString = !inString;
    if (inString)
      continue;
    if (StringRef("({[").contains(line[i]))
      ++depth;
    if (StringRef(")}]").contains(line[i]))
      --depth;
    // Arguments of templates stay together; comparisons have spaces.
    if (line[i] == '<' && line[i + 1] != ' ' && i > 0 && isAlnum(line[i - 1]))
      ++templates;
    if (line[i] == '>' && templates > 0)
      --templates;
    bool afterComma = line[i] == ',' && line[i + 1] == ' ';
    bool afterParenthesis = line[i] == '(' && line[i + 1] != ')';
    // Worth a break only if the rest then fits.
    bool afterAssignment =
        line.substr(i, 2) == "= " && line.size() - i <= width - 2;
    if (!afterComma && !afterParenthesis && !afterAssignment)
      continue;
    // What does not fit is broken at the first place, so that it grows least.
    bool fits = i + 1 <= width;
    if (!fits && best != line.size())
      break;
    // A break inside brackets is better than one right after the opening one.
    int cost = 2 * (depth + 2 * templates) + (afterParenthesis ? 3 : 0);
    if (cost <= bestDepth) {
      bestDepth = cost;
      best = i + 1;
    }
    if (!fits)
      break;
  }
  return best;
}

void Text::line(const Twine &content) {
  SmallString<128> storage;
  StringRef rest = content.toStringRef(storage);
  if (rest.empty()) {
    text += '\n';
    return;
  }
  unsigned column = depth;
  while (!rest.empty()) {
    size_t count = breakAt(rest, kColumns - column);
    text.append(column, ' ');
    text += rest.take_front(count).rtrim();
    text += '\n';
    rest = rest.drop_front(count).ltrim();
    column = depth + 4;
  }
}

void Text::comment(StringRef mark, const Twine &content) {
  std::string all = content.str();
  SmallVector<StringRef> words;
  StringRef(all).split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string current;
  auto flush = [&] {
    text.append(depth, ' ');
    text += mark.str() + current + '\n';
    current.clear();
  };
  for (StringRef word : words) {
    if (!current.empty() &&
        depth + mark.size() + current.size() + 1 + word.size() > kColumns)
      flush();
    current += ' ';
    // A name may not end the comment's line.
    for (char c : word)
      current += c == '\n' || c == '\r' || c == '\\' ? '_'
                 : c == '\t'                         ? ' '
                                                     : c;
  }
  flush();
}

void Text::banner(const Twine &title) {
  std::string head = ("//===--- " + title + " ").str();
  for (char &c : head)
    if (c == '\n' || c == '\r' || c == '\\')
      c = '_';
  size_t used = depth + head.size() + StringRef("===//").size();
  text.append(depth, ' ');
  text += head;
  text.append(used < kColumns ? kColumns - used : 3, '-');
  text += "===//\n";
}

std::string codegen::unbroken(StringRef text) {
  std::string result = text.str();
  llvm::replace(result, ' ', '\t');
  return result;
}

std::string codegen::braced(ArrayRef<std::string> parts) {
  return "{" + join(parts, ", ") + "}";
}

std::string codegen::braced(ArrayRef<int64_t> values) {
  return braced(map_to_vector(
      values, [](int64_t value) -> std::string { return literal(value); }));
}

std::string codegen::literal(int64_t value) {
  // The digits of the smallest integer alone would be out of range.
  return value == std::numeric_limits<int64_t>::min() ? "INT64_MIN"
                                                      : std::to_string(value);
}

std::string codegen::literal(double value) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value < 0 ? "-HUGE_VAL" : "HUGE_VAL";
  char digits[40];
  if (value == std::trunc(value) && std::fabs(value) < 1e15) {
    std::snprintf(digits, sizeof digits, "%.1f", value);
    return digits;
  }
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (std::strtod(digits, nullptr) == value)
      break;
  }
  return digits;
}

std::string codegen::quoted(StringRef value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      text += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      text += c;
      continue;
    }
    raw_string_ostream(text) << format("\\%03o", c);
  }
  return text + '"';
}

std::string codegen::withPrefix(double value) {
  const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i)
    value /= 1000;
  std::string text;
  raw_string_ostream(text) << format("%.3g ", value) << prefixes[i];
  return text;
}

std::string codegen::describe(ArrayRef<int64_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t begin = 0, ranges = 0; begin < ranks.size(); ++ranges) {
    if (ranges == 8)
      return text + " and " + std::to_string(ranks.size() - begin) + " more";
    size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    if (begin)
      text += ", ";
    text += std::to_string(ranks[begin]);
    if (end > begin + 1)
      text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

std::string codegen::commentable(StringRef name) {
  std::string text;
  for (char c : name) {
    const bool ends = c == '/' && !text.empty() && text.back() == '*';
    const bool breaks = (c >= 0 && c < ' ') || c == '\\' || c == 127;
    text += ends || breaks ? '_' : c;
  }
  return text;
}
