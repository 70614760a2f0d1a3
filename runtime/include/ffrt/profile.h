//===- profile.h - the program that measures --------------------*- C++ -*-===//
//
// `ffc profile` emits the steps of several strategies in one program, whose
// main() calls ffrt::run_profile. It runs and traces them one after the other,
// and writes what every kernel and copy took.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_PROFILE_H
#define FFRT_PROFILE_H

#include "ffrt/program.h"

#include <vector>

namespace ffrt {

/// Kernels or copies whose times are taken together.
struct ProfileEntry {
  const char *key;    ///< what ffc looks it up by
  const char *kernel; ///< "conv_forward", "copy"
  int devices;        ///< on how many ranks the same is done at once
  double flops, bytes;
  double expected; ///< seconds, by the topology's figures
};

/// The step of one strategy.
struct ProfiledStep {
  ProgramInfo info;
  MakeProgram make;
  /// By rank: the entry of every kernel and copy, in their order.
  std::vector<std::vector<int>> entries;
};

struct ProfileInfo {
  const char *model;
  const char *device;  ///< the kind that the ranks stand for
  const char *version; ///< of ffc
  std::vector<ProfileEntry> entries;
  std::vector<ProfiledStep> steps; ///< at least one, of equal ranks
};

/// Parses the command line, measures, and returns the exit status.
int run_profile(int argc, char **argv, const ProfileInfo &info);

} // namespace ffrt

#endif // FFRT_PROFILE_H
