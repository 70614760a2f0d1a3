//===- run_start.cpp - what a run does before its steps ------------------===//
#include "common/program/run.h"

#include "common/profiling/trace_file.h"
#include "common/program/generate.h"
#include "common/program/head.h"
#include "common/program/initial.h"
#include "common/program/resume.h"
#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace ffrt {

namespace {

/// Steps of an epoch where the source of data has no end of its own.
constexpr int64_t kSyntheticEpoch = 10;

std::unique_ptr<Source> make_source(const ProgramInfo &info,
                                    const Arguments &arguments) {
  if (!arguments.dataset.empty())
    return make_dataset(info, arguments.dataset, arguments.shuffle,
                        arguments.seed, {false, arguments.validation.share});
  if (!arguments.inputs.empty())
    return make_fixed(info, arguments.inputs);
  return make_synthetic(info, arguments.seed);
}

int64_t steps_of(const ProgramInfo &info, const Arguments &arguments,
                 const Source &source) {
  if (arguments.steps > 0)
    return arguments.steps;
  const int64_t epochs = arguments.epochs > 0 ? arguments.epochs : 1;
  if (const int64_t batches = source.batches_per_epoch(); batches > 0)
    return std::max<int64_t>(epochs * batches / info.micro_batches, 1);
  return epochs * (info.training ? kSyntheticEpoch : 1);
}

void check_dump_steps(const Arguments &arguments, int64_t steps) {
  if (!arguments.dump_steps.empty() && arguments.dump_steps.back() > steps)
    throw Error("--dump-steps: expected steps up to " + std::to_string(steps) +
                ", the last one, found " +
                std::to_string(arguments.dump_steps.back()));
}

} // namespace

void Run::resume() {
  const std::string &saves = arguments.checkpoints.folder;
  if (!saves.empty())
    folder = open_checkpoint_folder(comm, world, saves);
  if (arguments.resumes)
    resumed = open_resumed(comm, world, arguments);
  together(comm, world, "start", [&] {
    if (folder && !arguments.resumes && !newest_checkpoint(saves).empty())
      throw Error("--checkpoint: expected a folder without checkpoints, or "
                  "--resume, found '" +
                  newest_checkpoint(saves) + "'");
    if (resumed) {
      take_over(arguments, resumed->record());
      saved = {resumed.get(), true};
    } else if (!arguments.weights.empty()) {
      parameters = open_parameters(arguments.weights, arguments.averages);
      saved = {parameters.get(), false};
    }
  });
}

void Run::make_program() {
  context = make_context(comm);
  context.seed = arguments.seed;
  context.weight_decay = arguments.weight_decay;
  if (arguments.clip_value > 0)
    context.clip_value = arguments.clip_value;
  context.micro_batches = info.micro_batches;
  context.tf32 = info.tf32;
  // Before NCCL starts, which else does without (cuda/comm/nccl_comm.cpp).
  if (info.switches_add)
    setenv("NCCL_NVLS_ENABLE", "2", /*overwrite=*/0);
  if (arguments.generation.tokens > 0)
    return generate(comm, world, context, info, arguments.generation, saved,
                    make);
  together(comm, world, "start", [&] {
    source = make_source(info, arguments);
    if (!arguments.dump.empty() && comm.rank() == 0)
      make_writable_folder(arguments.dump);
  });
  if (!arguments.trace.empty()) {
    check_trace(comm, world, arguments.trace);
    together(comm, world, "start", [&] { trace = std::make_unique<Trace>(); });
  }
  steps = steps_of(info, arguments, *source);
  rate = {arguments.rate_form, arguments.learning_rate, arguments.last_rate,
          arguments.warmup, steps};
  bool done = false;
  together(comm, world, "start", [&] {
    check_dump_steps(arguments, steps);
    done = resumed && is_done(*resumed, arguments, steps, comm.rank() != 0);
  });
  if (done)
    return;
  instance = std::make_unique<Instance>(
      context, comm, world, dump, info, make, trace.get(),
      arguments.validation.given() ? &evaluation->info : nullptr);
  together(comm, world, "start", [&] { set_own_rates(); });
}

/// Of the parameters that are updated here, where there are groups.
void Run::set_own_rates() {
  if (arguments.groups.empty())
    return;
  expect_matches(arguments.groups, info.updated);
  const std::set<std::string> updated(info.updated.begin(), info.updated.end());
  for (const StateSlot &slot : instance->states())
    if (updated.count(slot.name))
      context.own_rates[slot.tensor.data] =
          rates_of(slot.name, arguments.groups, arguments.learning_rate,
                   arguments.weight_decay);
}

/// Where the run begins in its data, and what earlier ones have left of it.
void Run::find_place() {
  progress.samples_per_step = info.batch * info.micro_batches;
  progress.samples_per_epoch = source->samples();
  std::vector<double> earlier;
  together(comm, world, "start", [&] {
    if (!resumed)
      return;
    const Record &record = resumed->record();
    expect_same_data(record, source->samples());
    expect_whole_batches(record, info);
    progress.first_step = record.step;
    progress.first_sample = record.samples;
    if (comm.rank() == 0) {
      earlier = resumed->losses();
      say(describe_rest(*resumed, arguments, rate));
    }
  });
  losses =
      std::make_unique<LossLog>(info.micro_batches, steps, std::move(earlier));
}

void Run::make_checkpoints() {
  if (!resumed && arguments.checkpoints.folder.empty())
    return;
  state = std::make_unique<GlobalState>(comm, world, instance->states());
  if (resumed)
    together(comm, world, "resume", [&] {
      resumed->expect_values(state->values());
      resumed->verify(comm.rank(), comm.size());
    });
  if (arguments.checkpoints.folder.empty())
    return;
  Record run;
  run.seed = arguments.seed;
  run.shuffled = arguments.shuffle;
  run.weight_decay = arguments.weight_decay;
  run.groups = arguments.groups;
  run.clip_value = arguments.clip_value;
  run.rate = rate;
  run.model = info.model;
  run.model_hash = info.model_hash;
  run.topology_hash = info.topology_hash;
  run.strategy_hash = info.strategy_hash;
  run.ranks = info.ranks;
  run.micro_batches = info.micro_batches;
  run.batch = info.batch;
  checkpoints = std::make_unique<Checkpoints>(
      comm, world, *state, arguments.checkpoints, folder.get(), run, progress,
      [this](const StateSlot &slot) { begin(slot); });
}

void Run::make_validation() {
  if (!arguments.validation.given())
    return;
  validation = std::make_unique<Validation>(
      comm, world, *evaluation, *instance, context, arguments.validation,
      arguments.dataset, saved, progress,
      resumed ? resumed->record().best : Best());
}

void Run::say_map() {
  const std::vector<RankPlace> places = places_of_ranks(comm, world);
  if (comm.rank() != 0)
    return;
  std::fputs(map_table(places, info).c_str(), stdout);
  std::fflush(stdout);
  for (const std::string &problem : map_problems(places, info))
    warn(problem);
}

/// Says what runs, and where.
void Run::say_head() {
  places = places_of_ranks(comm, world);
  if (comm.rank() != 0)
    return;
  for (const std::string &problem : map_problems(places, info))
    warn(problem);
  say(head_text(info, places));
  for (const std::string &note : arguments.notes)
    say(note);
}

} // namespace ffrt
