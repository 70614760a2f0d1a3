//===- strategy_flag.h - is a strategy the one compiled in? -----*- C++ -*-===//
#ifndef FFRT_COMMON_STRATEGY_FLAG_H
#define FFRT_COMMON_STRATEGY_FLAG_H

#include "ffrt/program.h"

#include <string>

namespace ffrt {

/// Throws Error unless the file `path` says what the program was compiled with,
/// `flag` being where it was given: a file in ffc's format (docs/strategy.md)
/// by its operators, of which it may leave out some; in other formats the very
/// file that ffc has read or written.
void expect_strategy(const std::string &flag, const std::string &path,
                     const ProgramInfo &info);

} // namespace ffrt

#endif // FFRT_COMMON_STRATEGY_FLAG_H
