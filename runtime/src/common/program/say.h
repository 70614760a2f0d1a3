//===- say.h - what a run says to people ------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_SAY_H
#define FFRT_COMMON_SAY_H

#include <string>

namespace ffrt {

/// A line on standard output, there at once. It takes the place of what is
/// shown for the time being. Nothing once be_quiet() was called.
void say(const std::string &line);

void be_quiet();

/// "warning: LINE" on standard error, likewise.
void warn(const std::string &line);

/// Shows a line on a terminal until something else is said or shown. It must
/// fit the terminal's width.
void show_for_now(const std::string &line);
/// Removes it.
void show_nothing();

/// Formats as std::printf does, up to 511 characters.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
std::string
format(const char *pattern, ...);

/// "1.23 T", "512 k", "0.5 ", with three digits: the unit follows.
std::string with_prefix(double value);

/// "0:07", "12:30", "2:05:00", of at least 0 seconds.
std::string clock_text(double seconds);

} // namespace ffrt

#endif // FFRT_COMMON_SAY_H
