//===- flags.cpp - the flags of a command line ----------------------------===//
#include "common/program/flags.h"

#include "ffrt/error.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace ffrt {

void expected(const std::string &flag, const std::string &what,
              const std::string &found) {
  throw Error(flag + ": expected " + what + ", found '" + found + "'");
}

int64_t whole_number(const std::string &flag, const std::string &what,
                     const std::string &text, int64_t least, int64_t most) {
  char *end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < least || value > most)
    expected(flag, what, text);
  return value;
}

double positive_number(const std::string &flag, const std::string &text) {
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value <= 0)
    expected(flag, "a positive number", text);
  return value;
}

std::string path(const std::string &flag, const char *what,
                 const std::string &text) {
  if (text.empty())
    expected(flag, what, text);
  return text;
}

bool Flags::next() {
  if (end >= argc)
    return false;
  first = end++;
  given = argv[first];
  const std::size_t equals = given.find('=');
  is_joined = given.rfind("--", 0) == 0 && equals != std::string::npos;
  if (is_joined) {
    joined = given.substr(equals + 1);
    given.resize(equals);
  }
  return true;
}

std::string Flags::value() {
  if (is_joined)
    return joined;
  if (end >= argc)
    throw Error(given + ": expected a value, found the end of the line");
  const std::string next = argv[end++];
  if (next.rfind("--", 0) == 0)
    throw Error(given + ": expected a value, found the flag '" + next + "'");
  return next;
}

std::string Flags::optional_value() {
  if (is_joined)
    return joined;
  return end < argc && argv[end][0] != '-' ? argv[end++] : "";
}

void Flags::expect_no_value() const {
  if (is_joined)
    expected(given, "no value", joined);
}

void Flags::reject() const {
  throw Error("expected a flag listed by --help, found '" + given + "'");
}

} // namespace ffrt
