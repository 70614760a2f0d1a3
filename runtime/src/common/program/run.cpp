//===- run.cpp - the main function of emitted programs --------------------===//
#include "comm/launch.h"
#include "common/data/dump.h"
#include "common/data/source.h"
#include "common/device/target.h"
#include "common/profiling/trace_file.h"
#include "common/program/arguments.h"
#include "common/program/checkpoints.h"
#include "common/program/find_cause.h"
#include "common/program/generate.h"
#include "common/program/head.h"
#include "common/program/initial.h"
#include "common/program/on_ranks.h"
#include "common/program/recovery.h"
#include "common/program/report.h"
#include "common/program/restarts.h"
#include "common/program/resume.h"
#include "common/program/run_log.h"
#include "common/program/say.h"
#include "common/program/step_times.h"
#include "common/program/steps.h"
#include "common/program/tensorboard.h"
#include "common/program/terminal.h"
#include "common/program/together.h"
#include "common/program/validation.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
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

/// Into which folder what a step leaves is written; empty: nowhere. Steps count
/// from 1.
std::string dump_folder(const Arguments &arguments, int64_t step,
                        int64_t steps) {
  const std::vector<int64_t> &listed = arguments.dump_steps;
  if (listed.empty())
    return step == steps ? arguments.dump : "";
  return std::binary_search(listed.begin(), listed.end(), step)
             ? arguments.dump + "/step" + std::to_string(step)
             : "";
}

void check_dump_steps(const Arguments &arguments, int64_t steps) {
  if (!arguments.dump_steps.empty() && arguments.dump_steps.back() > steps)
    throw Error("--dump-steps: expected steps up to " + std::to_string(steps) +
                ", the last one, found " +
                std::to_string(arguments.dump_steps.back()));
}

Show how_to_show(const Arguments &arguments) {
  if (arguments.quiet)
    return Show::nothing;
  return !arguments.plain && on_terminal(1) ? Show::live : Show::lines;
}

/// A run on this rank.
class Run {
public:
  /// `evaluation`: null if the program has none.
  Run(Comm &comm, const ProgramInfo &info, const Arguments &given,
      MakeProgram make, const Evaluation *evaluation)
      : comm(comm), world(make_world(comm)), info(info), arguments(given),
        make(make), evaluation(evaluation), dump(info, comm, world) {}

  void all_steps();

private:
  void resume();
  void make_program();
  void set_own_rates();
  void make_checkpoints();
  void make_validation();
  void find_place();
  void say_map();
  void say_head();
  std::vector<std::unique_ptr<StepLog>> open_logs();
  void do_steps();
  void begin_step(int64_t step);
  void recover(const BadStep &bad);
  std::string go_back();
  void write_dump(int64_t step);
  /// What slots began with.
  void begin(const StateSlot &slot) const {
    initialise_on_host(slot, context.seed, weights_of(info), saved);
  }

  Comm &comm;
  const Group world;
  const ProgramInfo &info;
  Arguments arguments;
  const MakeProgram make;
  const Evaluation *const evaluation;
  Context context;
  std::unique_ptr<CheckpointFolder> folder; ///< rank 0, if it saves
  std::unique_ptr<Checkpoint> resumed;
  std::unique_ptr<SavedValues> parameters; ///< of --weights
  Saved saved;
  std::unique_ptr<Source> source;
  Dump dump;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Instance> instance;
  std::unique_ptr<GlobalState> state;
  std::unique_ptr<LossLog> losses;
  std::unique_ptr<Checkpoints> checkpoints; ///< null: there are none
  std::unique_ptr<Validation> validation;   ///< the same
  std::optional<Recovery> recovery;
  RateSchedule rate;
  std::vector<std::string> hosts; ///< of the ranks; on rank 0
  int64_t steps = 0;
  Progress progress;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun; ///< the first step of this run, or behind a bad one
};

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
  const std::vector<RankPlace> places = places_of_ranks(comm, world);
  if (comm.rank() != 0)
    return;
  for (const RankPlace &place : places)
    hosts.push_back(place.host);
  for (const std::string &problem : map_problems(places, info))
    warn(problem);
  say(head_text(info, places));
  for (const std::string &note : arguments.notes)
    say(note);
}

void Run::write_dump(int64_t step) {
  const std::string folder = dump_folder(arguments, step, steps);
  if (folder.empty())
    return;
  finish_target();
  dump.write(folder, instance->states(), losses->of_steps(),
             [this](const StateSlot &slot) { begin(slot); });
}

/// Rank 0's.
std::vector<std::unique_ptr<StepLog>> Run::open_logs() {
  std::vector<std::unique_ptr<StepLog>> logs;
  together(comm, world, "start", [&] {
    if (comm.rank() != 0)
      return;
    if (!arguments.log.empty()) {
      auto log = std::make_unique<RunLog>(arguments.log);
      log->begin(info, progress.first_step, steps, arguments.seed);
      logs.push_back(std::move(log));
    }
    if (!arguments.tensorboard.empty())
      logs.push_back(std::make_unique<TensorBoard>(arguments.tensorboard));
  });
  return logs;
}

void Run::do_steps() {
  const int64_t first = progress.first_step;
  if (first == steps) { // the last step is left out
    if (checkpoints)
      checkpoints->after_step(
          steps, [this] { return losses->of_steps(); }, [] {});
    return;
  }
  const int64_t first_micro_batch = progress.first_sample / info.batch;
  const std::vector<std::unique_ptr<StepLog>> logs = open_logs();
  std::vector<StepLog *> all_logs;
  for (const std::unique_ptr<StepLog> &log : logs)
    all_logs.push_back(log.get());
  Report report(info, comm.rank() == 0, how_to_show(arguments), first, steps,
                arguments.print_frequency, all_logs);
  Feeder feeder(*source, instance->inputs(), instance->input_numbers(),
                first_micro_batch,
                first_micro_batch + (steps - first) * info.micro_batches);
  // A program that evaluates a data set writes what it finds for all samples.
  const int64_t samples =
      info.training ? 0 : std::min(source->samples(), steps * info.batch);
  const bool has_loss = info.training && comm.rank() == 0;
  std::optional<FiniteWatch> watch;
  if (info.training && !arguments.any_loss)
    watch.emplace(comm, world, has_loss ? losses.get() : nullptr,
                  instance->states());
  // Values are dumped as kernels are started one by one.
  const bool replays = instance->replays() && arguments.dump.empty();
  Steps program(*instance, context, feeder, trace.get(),
                has_loss ? losses.get() : nullptr, replays);
  // Steps allocate nothing, so these are made once.
  bool is_dumped = false;
  const std::function<void(int)> before_micro_batch = [&](int micro_batch) {
    if (samples > 0 && !arguments.dump.empty())
      dump.record_batch(context.step * info.batch, samples);
    else if (is_dumped)
      dump.record_batch(micro_batch * info.batch,
                        info.micro_batches * info.batch);
  };
  StepTimes times(comm, world, info, hosts);
  const std::function<std::vector<double>()> all_losses = [&] {
    return losses->of_steps();
  };
  const std::function<void()> before_saving = [&] {
    if (watch)
      watch->look(context.step + 1);
  };
  begun = Clock::now();
  for (int64_t step = first; step < steps; ++step) {
    begin_step(step);
    const bool validates = validation && validation->is_due(step + 1, steps);
    // One that may turn out to be the last is dumped as such.
    const bool may_be_last = validates && arguments.validation.patience > 0;
    is_dumped =
        !dump_folder(arguments, step + 1, may_be_last ? step + 1 : steps)
             .empty();
    times.begin();
    program.run(before_micro_batch);
    times.end(feeder.waited());
    if (report.is_due(step + 1)) {
      finish_target();
      if (has_loss)
        losses->of_steps();
    }
    if (report.is_due(step + 1) && !(watch && losses->first_bad() > 0)) {
      StepLog::Step done;
      done.step = step + 1;
      done.epoch = progress.epoch_after(step + 1);
      if (info.training)
        done.training = {has_loss ? losses->of_steps().back() : 0.0,
                         context.learning_rate};
      if (has_loss)
        report.losses(losses->of_steps());
      report.step(done);
    }
    if (watch && (is_dumped || validates || step + 1 == steps))
      watch->look(step + 1);
    else if (watch)
      watch->after_step(step + 1);
    bool is_best = false;
    if (validates) {
      const Validated found = validation->run(step + 1);
      report.validation(found);
      times.leave_out(found.seconds);
      is_best = found.is_best;
      if (checkpoints)
        checkpoints->set_best(validation->best());
      if (validation->gives_up())
        steps = step + 1;
    }
    if (step + 1 < steps)
      write_dump(step + 1);
    if (checkpoints)
      checkpoints->after_step(step + 1, all_losses, before_saving,
                              is_best || step + 1 == steps);
  }
  finish_target();
  report.done(steps);
  times.finish();
}

/// Makes the context that of a step, counted from 0.
void Run::begin_step(int64_t step) {
  context.step = step;
  context.learning_rate = rate.at(step);
}

/// Makes the state that of the newest checkpoint, or that of the beginning, and
/// says which.
std::string Run::go_back() {
  if (checkpoints && !checkpoints->last().empty())
    together(comm, world, "resume", [&] {
      resumed = std::make_unique<Checkpoint>(checkpoints->last());
      resumed->verify(comm.rank(), comm.size());
      saved = {resumed.get(), true};
    });
  instance->initialise(saved);
  return resumed ? resumed->path() : "the beginning";
}

/// After a step with a loss that is not finite.
void Run::recover(const BadStep &bad) {
  finish_target();
  const double seconds_a_step =
      std::chrono::duration<double>(Clock::now() - begun).count() /
      double(context.step + 1 - progress.first_step);
  if (checkpoints)
    checkpoints->finish();
  const std::string path = go_back();
  const int64_t from = resumed ? resumed->record().step : 0;
  Repeat repeat(*instance, context, *source, trace.get());
  const auto begin = [this](int64_t step) { begin_step(step); };
  if (arguments.on_nan == OnNan::stop)
    end_with_cause(comm, world, bad, *instance, repeat,
                   {from, progress.samples_after(from)}, info.batch, begin,
                   seconds_a_step * double(bad.step - from));
  if (!recovery)
    recovery.emplace(comm, world, arguments.on_nan, info.batch);
  BadStep first = bad;
  if (!bad.first) {
    FiniteWatch watch(comm, world, nullptr, instance->states());
    first = recovery->find_first(bad, from, progress, repeat, watch, begin);
    go_back();
  }
  recovery->go_on(first, from, path, progress, repeat, begin);
  if (validation)
    validation->set_best(resumed ? resumed->record().best : Best());
  std::vector<double> earlier = losses->of_steps();
  earlier.resize(std::size_t(comm.rank() == 0 ? progress.first_step : 0));
  losses =
      std::make_unique<LossLog>(info.micro_batches, steps, std::move(earlier));
}

void Run::all_steps() {
  if (arguments.map)
    return say_map();
  resume();
  make_program();
  if (!instance)
    return; // it has generated, or has nothing to do
  say_head();
  find_place();
  make_checkpoints();
  instance->initialise(saved);
  make_validation();
  for (bool done = false; !done;)
    try {
      do_steps();
      done = true;
    } catch (const BadStep &bad) {
      recover(bad);
    }
  instance->check_guards();
  write_dump(steps);
  if (checkpoints)
    checkpoints->finish();
  if (trace)
    write_trace(comm, world, *trace, arguments.trace);
}

/// Of a program that trains, with what; empty for another.
std::string describe_updates(const Arguments &a, const ProgramInfo &info) {
  return info.training ? describe_rates(info.updated, a.groups, a.learning_rate,
                                        a.weight_decay)
                       : std::string();
}

/// Ends as the ranks end.
[[noreturn]] void start_local(const Arguments &arguments) {
  if (arguments.checkpoints.folder.empty())
    start_local_ranks(arguments.local_ranks, arguments.forwarded);
  std::exit(with_restarts(arguments.restarts, [&](int attempt) {
    std::vector<std::string> words = arguments.forwarded;
    if (attempt > 0 && !arguments.resumes)
      words.push_back("--resume");
    start_local_ranks(arguments.local_ranks, words);
  }));
}

} // namespace

int run(int argc, char **argv, const ProgramInfo &info, MakeProgram make,
        MakeEvaluation make_evaluation) {
  std::optional<Evaluation> evaluation;
  if (make_evaluation)
    evaluation = make_evaluation();
  Arguments arguments;
  auto parse = [&]() -> Start {
    arguments =
        parse_arguments(argc, argv, info, evaluation ? &*evaluation : nullptr);
    if (arguments.help)
      return {usage(argv[0], info)};
    if (arguments.info)
      return {describe(info) + describe_updates(arguments, info)};
    if (arguments.local_ranks)
      start_local(arguments);
    return {"", arguments.deadline};
  };
  return on_ranks(argv[0], info.ranks, "run", parse, [&](Comm &comm) {
    if (arguments.quiet)
      be_quiet();
    Run(comm, info, arguments, make, evaluation ? &*evaluation : nullptr)
        .all_steps();
  });
}

} // namespace ffrt
