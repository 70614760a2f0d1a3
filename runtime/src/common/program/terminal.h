//===- terminal.h - does somebody look at what a rank prints? ---*- C++ -*-===//
#ifndef FFRT_COMMON_TERMINAL_H
#define FFRT_COMMON_TERMINAL_H

#include <string>

namespace ffrt {

/// Does what this process writes to standard output (1) or error (2) end on a
/// terminal that understands "\r"? Launchers put pipes or terminals of their
/// own between: of a rank that one started on this machine, it is the
/// launcher's stream that counts.
bool on_terminal(int stream);

/// Columns of the terminal that standard output ends on; 80 if it does not say.
int terminal_width();

/// "\r" and what clears the rest of a terminal's line.
constexpr const char *kClearLine = "\r\033[K";

/// A line on standard error, after all that this process has printed. On a
/// terminal it takes the place of a line that is shown for the time being.
void print_error(const std::string &line);

} // namespace ffrt

#endif // FFRT_COMMON_TERMINAL_H
