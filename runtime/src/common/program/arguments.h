//===- arguments.h - command line of an emitted program ---------*- C++ -*-===//
#ifndef FFRT_COMMON_ARGUMENTS_H
#define FFRT_COMMON_ARGUMENTS_H

#include "common/optimizer/parameter_groups.h"
#include "common/optimizer/rate_schedule.h"
#include "common/program/checkpoint_flags.h"
#include "common/program/generate.h"
#include "common/program/recovery.h"
#include "common/program/validation_flags.h"
#include "ffrt/mpi.h"
#include "ffrt/program.h"

#include <set>
#include <string>
#include <vector>

namespace ffrt {

struct Arguments {
  bool help = false;
  bool info = false;
  bool map = false;
  bool quiet = false;    ///< nothing but errors and warnings
  bool plain = false;    ///< lines on a terminal, too
  bool any_loss = false; ///< goes on with one that is not finite
  OnNan on_nan = OnNan::stop;
  int64_t epochs = 0; ///< 0: not given
  int64_t steps = 0;  ///< 0: not given
  int64_t print_frequency = 10;
  double learning_rate, weight_decay;
  double clip_value = 0; ///< 0: none
  RateForm rate_form;
  double last_rate = 0;
  int64_t warmup = 0; ///< steps
  std::vector<ParameterGroup> groups;
  uint64_t seed = 0;
  std::string dataset, inputs, weights, dump; ///< folders; empty: not given
  bool averages = false;                      ///< of the weights, running means
  std::vector<int64_t> dump_steps; ///< ascending; empty: the last one
  CheckpointFlags checkpoints;
  ValidationFlags validation;
  bool resumes = false;
  std::string resume;      ///< a folder; empty: that of the checkpoints
  std::string trace, log;  ///< files; empty: not given
  std::string tensorboard; ///< a folder; empty: not given
  Generation generation;
  bool shuffle = false; ///< the data set, by default when the program trains
  int local_ranks = 0;  ///< 0: not given
  int restarts = 0;     ///< of the local ranks
  double deadline = kDeadline;
  std::vector<std::string> notes; ///< what flags of FlexFlow stand for
  std::set<std::string> given;    ///< flags in their long form
  /// All arguments but --local-ranks and --restarts, for the ranks it starts.
  std::vector<std::string> forwarded;
};

/// Flags take their value as `--flag value` or `--flag=value`. Throws Error on
/// unknown flags, missing or bad values and contradictions.
/// `evaluation`: null if the program has none.
Arguments parse_arguments(int argc, char **argv, const ProgramInfo &info,
                          const Evaluation *evaluation = nullptr);

/// Text of --help.
std::string usage(const char *program, const ProgramInfo &info);

} // namespace ffrt

#endif // FFRT_COMMON_ARGUMENTS_H
