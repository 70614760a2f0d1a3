//===- say.cpp - what a run says to people --------------------------------===//
#include "common/program/say.h"

#include "common/program/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace ffrt {

namespace {

bool shown = false, quiet = false;

} // namespace

void be_quiet() { quiet = true; }

void say(const std::string &line) {
  if (quiet)
    return;
  show_nothing();
  std::puts(line.c_str());
  std::fflush(stdout);
}

void warn(const std::string &line) {
  show_nothing();
  print_error("warning: " + line);
}

void show_for_now(const std::string &line) {
  std::fputs((kClearLine + line).c_str(), stdout);
  std::fflush(stdout);
  shown = true;
}

void show_nothing() {
  if (!shown)
    return;
  std::fputs(kClearLine, stdout);
  std::fflush(stdout);
  shown = false;
}

std::string format(const char *pattern, ...) {
  char text[512];
  std::va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

std::string with_prefix(double value) {
  constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  // 999.5 is 1.00 k in three digits.
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return format("%.3g %s", value, kPrefixes[prefix]);
}

std::string clock_text(double seconds) {
  const auto whole =
      static_cast<long long>(std::min(std::max(seconds, 0.0), 1e15));
  if (whole < 3600)
    return format("%lld:%02lld", whole / 60, whole % 60);
  return format("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                whole % 60);
}

} // namespace ffrt
