//===- profile_steps.h - times of kernels within steps ----------*- C++ -*-===//
#ifndef FFRT_CPU_PROFILE_STEPS_H
#define FFRT_CPU_PROFILE_STEPS_H

#include "common/statistics.h"
#include "cpu/speed_probe.h"
#include "ffrt/profile.h"

#include <vector>

namespace ffrt {

/// Runs steps and collects what their kernels took. All members are collective.
class StepProfiler {
public:
  StepProfiler(Context &context, Comm &comm, const Group &world,
               const ProfileInfo &info)
      : context(context), comm(comm), world(world), info(info) {}

  /// Measures every step in `rounds` rounds, so that what the machine does
  /// meanwhile meets all of them.
  void measure(int rounds);

  struct Result {
    Speed reference;                  ///< the median of all probes
    Speed steady;                     ///< of probes in a row, as --speed has it
    std::vector<Duration> entries;    ///< as in ProfileInfo; without samples: 0
    std::vector<Duration> step_times; ///< of the steps measured, in order
  };
  /// The same on all ranks: times at the reference speed.
  Result result();

private:
  /// What one step took on this rank.
  struct Sample {
    std::size_t before; ///< the probe before it; the one after it follows
    double total;
    std::vector<double> sites;
  };
  struct Measured {
    int count = 0; ///< of samples in a round
    std::vector<Sample> samples;
  };

  /// Some steps between two probes.
  void measure_block(std::size_t index);
  void take_speed();

  /// The values of all ranks, one after the other; each gives equally many.
  std::vector<double> gather(const std::vector<double> &mine);

  Context &context;
  Comm &comm;
  const Group &world;
  const ProfileInfo &info;
  SpeedProbe probe;
  std::vector<Speed> speeds;
  std::vector<Speed> steady;      ///< by round
  std::vector<Measured> measured; ///< as ProfileInfo::steps
};

} // namespace ffrt

#endif // FFRT_CPU_PROFILE_STEPS_H
