//===- StrategyTokens.cpp - lines, names and devices of strategies --------===//

#include "StrategyTokens.h"

#include "Text/Text.h"

#include <algorithm>
#include <limits>

using namespace ffc::plan;

static constexpr size_t kMaxLineBytes = size_t(1) << 20;
/// Devices on one line; guards memory against "0-9*999999999".
static constexpr size_t kMaxListed = size_t(1) << 20;

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

static bool isControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

static int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return -1;
}

/// Reads the quoted word of `text` that starts at `at`, and moves past it.
static std::string readQuoted(const std::string &text, size_t &at, int line) {
  std::string word;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      word += text[at];
      continue;
    }
    const char escape = ++at < text.size() ? text[at] : '\0';
    if (escape == '"' || escape == '\\') {
      word += escape;
    } else if (escape == 'x' && at + 2 < text.size() &&
               hexDigit(text[at + 1]) >= 0 && hexDigit(text[at + 2]) >= 0) {
      word += static_cast<char>(hexDigit(text[at + 1]) * 16 +
                                hexDigit(text[at + 2]));
      at += 2;
    } else {
      fail(line, "expected \\\", \\\\ or \\xHH in a quoted name, found " +
                     quoted(text.substr(at - 1, 4)));
    }
  }
  if (at >= text.size())
    fail(line, "expected '\"' at the end of a quoted name, found the end of "
               "the line");
  ++at;
  return word;
}

static std::vector<std::string> tokenize(const std::string &text, int line) {
  std::vector<std::string> tokens;
  size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" \t", at);
    if (at == std::string::npos || text[at] == '#')
      return tokens;
    if (tokens.empty() && text[at] == '"') {
      tokens.push_back(readQuoted(text, at, line));
      if (tokens.back().empty())
        fail(line, "expected a name, found an empty one");
      continue;
    }
    if (tokens.size() == 1 && text[at] == ':') {
      tokens.push_back(":");
      ++at;
      continue;
    }
    const size_t end = std::min(
        text.find_first_of(tokens.empty() ? " \t#:" : " \t#", at), text.size());
    if (end == at)
      fail(line,
           "expected an operator's name, found " + quoted(text.substr(at, 1)));
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
}

std::vector<StrategyLine> ffc::plan::splitStrategy(const std::string &text) {
  std::vector<StrategyLine> lines;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    ++number;
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kMaxLineBytes)
      fail(number, "expected at most " + std::to_string(kMaxLineBytes) +
                       " bytes on a line, found " +
                       std::to_string(end - begin));
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    for (char c : line)
      if (isControl(c) && c != '\t')
        fail(number, "expected text, found the byte " + quoted({c}));
    std::vector<std::string> tokens = tokenize(line, number);
    if (!tokens.empty())
      lines.push_back({number, std::move(tokens)});
  }
  return lines;
}

std::vector<DeviceId> ffc::plan::parseDevices(const StrategyLine &line,
                                              size_t begin) {
  constexpr auto kMaxId = std::numeric_limits<DeviceId>::max();
  std::vector<DeviceId> devices;
  for (size_t i = begin; i < line.tokens.size(); ++i) {
    const std::string &token = line.tokens[i];
    const size_t star = std::min(token.find('*'), token.size());
    const size_t dash = std::min(token.find('-'), star);
    const auto first = parseCount(token.substr(0, dash), kMaxId);
    const auto last =
        dash < star
            ? parseCount(token.substr(dash + 1, star - dash - 1), kMaxId)
            : first;
    const auto count = star < token.size()
                           ? parseCount(token.substr(star + 1), kMaxListed)
                           : std::optional<long long>(1);
    if (!first || !last || !count || *count == 0)
      fail(line.number,
           "expected a device such as '0', '0-3' or '0*4', found " +
               quoted(token));
    const long long step = *first <= *last ? 1 : -1;
    const long long length = (*last - *first) * step + 1;
    if (length > static_cast<long long>(kMaxListed) ||
        devices.size() + length * *count > kMaxListed)
      fail(line.number, "expected at most " + std::to_string(kMaxListed) +
                            " devices on a line, found more");
    for (long long n = 0; n < *count; ++n)
      for (long long k = 0; k < length; ++k)
        devices.push_back(static_cast<DeviceId>(*first + k * step));
  }
  return devices;
}

std::string ffc::plan::printName(const std::string &name) {
  static const char kHex[] = "0123456789abcdef";
  if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
                             "xyz0123456789_./-") == std::string::npos)
    return name;
  std::string text = "\"";
  for (char c : name) {
    if (isControl(c)) {
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      continue;
    }
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + "\"";
}
