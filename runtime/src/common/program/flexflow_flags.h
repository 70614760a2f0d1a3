//===- flexflow_flags.h - flags of FlexFlow's programs ----------*- C++ -*-===//
//
// FlexFlow's programs take flags of their own, of the search and of Legion, the
// runtime system that they are made of (FlexFlow's FFConfig::parse_args;
// Legion's -ll, -lg, -dm). Here the search is ffc's and there is no Legion:
// what a flag asks for is either so, and then it is accepted and said what it
// stands for, or it is refused with what does it.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_FLEXFLOW_FLAGS_H
#define FFRT_COMMON_FLEXFLOW_FLAGS_H

#include "common/program/flags.h"
#include "ffrt/program.h"

#include <string>
#include <vector>

namespace ffrt {

/// Reads a flag of FlexFlow; false if it is another. `notes` get what flags
/// stand for, a line each. Throws Error where the program does not do what one
/// asks for.
bool read_flexflow(const std::string &flag, Flags &flags,
                   const ProgramInfo &info, std::vector<std::string> &notes);

} // namespace ffrt

#endif // FFRT_COMMON_FLEXFLOW_FLAGS_H
