//===- checkpoints.cpp - when a run saves its state -----------------------===//
#include "common/program/checkpoints.h"

#include "common/program/say.h"
#include "common/program/together.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

namespace ffrt {

namespace {

/// "every 100 steps", or seconds; empty: neither.
std::string pace(const CheckpointFlags &flags) {
  if (flags.steps > 0)
    return format(" every %" PRId64 " steps,", flags.steps);
  if (flags.seconds > 0)
    return format(" every %g s,", flags.seconds);
  return "";
}

} // namespace

Checkpoints::Checkpoints(Comm &comm, const Group &world,
                         const GlobalState &state, const CheckpointFlags &flags,
                         CheckpointFolder *folder, const Record &run,
                         const Progress &progress,
                         const CheckpointWriter::Begin &begin)
    : comm(comm), flags(flags), run(run), progress(progress),
      writer(comm, world, state, flags.folder, folder, flags.keep, begin),
      requests(comm, world, flags.seconds) {
  if (comm.rank() != 0)
    return;
  say("checkpoints in " + flags.folder + ":" + pace(flags) +
      format(" after the last step, and when a signal asks; the newest "
             "%" PRId64 " stay; a copy of %.1f MB on rank 0",
             flags.keep, double(writer.bytes()) / 1e6));
}

void Checkpoints::after_step(int64_t step,
                             const std::function<std::vector<double>()> &losses,
                             const std::function<void()> &before_saving,
                             bool must_save) {
  const Request asked = requests.after_step();
  const bool due = must_save || asked.save || step == run.rate.steps ||
                   (flags.steps > 0 && step % flags.steps == 0);
  if (!due)
    return;
  before_saving();
  Record record = run;
  record.step = step;
  record.samples = progress.samples_after(step);
  record.samples_per_epoch = progress.samples_per_epoch;
  record.epoch = progress.epoch_after(step);
  std::vector<double> all;
  if (comm.rank() == 0) {
    all = losses();
    // Of steps that are left out it may be no number.
    const auto finite = std::find_if(all.rbegin(), all.rend(), [](double loss) {
      return std::isfinite(loss);
    });
    record.loss = finite == all.rend() ? 0 : *finite;
  }
  writer.write(record, all);
  begun_path = checkpoint_path(flags.folder, step);
  if (asked.signal == 0 || step == run.rate.steps)
    return;
  finish();
  if (comm.rank() == 0)
    say(format("ended by signal %d (%s) after step %" PRId64 " of %" PRId64
               ", which is saved; --resume goes on",
               asked.signal, strsignal(asked.signal), step, run.rate.steps));
  comm.barrier();
  throw Stop{128 + asked.signal};
}

void Checkpoints::finish() {
  writer.finish();
  last_path = begun_path;
}

} // namespace ffrt
