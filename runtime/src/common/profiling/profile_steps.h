//===- profile_steps.h - times of kernels within steps ----------*- C++ -*-===//
#ifndef FFRT_COMMON_PROFILE_STEPS_H
#define FFRT_COMMON_PROFILE_STEPS_H

#include "common/device/target.h"
#include "common/profiling/machine.h"
#include "common/profiling/statistics.h"
#include "ffrt/profile.h"

#include <vector>

namespace ffrt {

/// Some of `steps` steps, spread over them, whose times tell how fast the
/// machine is just now.
std::vector<std::size_t> probe_steps(std::size_t steps);

/// Runs steps and collects what their kernels took. All members are collective.
class StepProfiler {
public:
  /// Of the steps of `info` with these indices.
  StepProfiler(Context &context, Comm &comm, const Group &world,
               const ProfileInfo &info, std::vector<std::size_t> chosen)
      : context(context), comm(comm), world(world), info(info),
        chosen(std::move(chosen)), measured(this->chosen.size()),
        cores(count_cores(comm, world)) {}

  /// That the ranks may run on, of all machines: cores or GPUs.
  int core_count() const { return cores; }

  /// Measures every step. Called in several rounds, so that what the machine
  /// does meanwhile meets all of them.
  void measure();

  struct Result {
    std::vector<Duration> entries;    ///< as in ProfileInfo; without samples: 0
    std::vector<Duration> step_times; ///< of the steps chosen, in order
  };
  /// The same on all ranks.
  Result result();

private:
  /// What one step took on this rank.
  struct Sample {
    double total;
    std::vector<double> sites;
  };
  struct Measured {
    int count = 0; ///< of samples in a round
    std::vector<Sample> samples;
  };

  /// Some repetitions of a step.
  void measure_block(const ProfiledStep &step, Measured &result);

  /// Whether kernels are measured by the processors' time. Of ranks that share
  /// cores, a short kernel takes as long as alone or several turns of others
  /// longer, and a long one the shorter the more often the others wait.
  bool take_turns() const { return target_is_host() && comm.size() > cores; }
  /// How long a kernel takes, in its time by the trace's clock: what the other
  /// ranks do meanwhile, the same or something else, takes turns with it.
  double stretch() const;

  /// The values of all ranks, one after the other; each gives equally many.
  std::vector<double> gather(const std::vector<double> &mine);

  Context &context;
  Comm &comm;
  const Group &world;
  const ProfileInfo &info;
  std::vector<std::size_t> chosen;
  std::vector<Measured> measured; ///< as `chosen`
  const int cores;
};

} // namespace ffrt

#endif // FFRT_COMMON_PROFILE_STEPS_H
