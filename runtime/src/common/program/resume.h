//===- resume.h - going on where an earlier run has ended -------*- C++ -*-===//
#ifndef FFRT_COMMON_RESUME_H
#define FFRT_COMMON_RESUME_H

#include "common/checkpoint/checkpoint.h"
#include "common/program/arguments.h"

#include <memory>

namespace ffrt {

/// Collective. The checkpoint that --resume names, as rank 0 finds it; null: it
/// names the folder of --checkpoint, where there is none yet. Throws Stop.
std::unique_ptr<Checkpoint> open_resumed(Comm &comm, const Group &world,
                                         const Arguments &arguments);

/// What the command line does not give is as it was. Throws Error where it
/// gives what can not change on the way: the seed, or the order of samples.
void take_over(Arguments &arguments, const Record &record);

/// True where a run of `steps` is done already, or has lost its patience, which
/// is said. Throws Error
/// where it is and something is to be written of a step.
bool is_done(const Checkpoint &checkpoint, const Arguments &arguments,
             int64_t steps, bool quiet);

/// Throws Error where the data are not those that the run was begun with, as
/// far as their number tells: of `samples`, 0 where they have no end.
void expect_same_data(const Record &record, int64_t samples);

/// Throws Error where the next sample is in the midst of a micro-batch.
void expect_whole_batches(const Record &record, const ProgramInfo &info);

/// From where the run goes on, and with what: a line.
std::string describe_rest(const Checkpoint &checkpoint,
                          const Arguments &arguments, const RateSchedule &rate);

} // namespace ffrt

#endif // FFRT_COMMON_RESUME_H
