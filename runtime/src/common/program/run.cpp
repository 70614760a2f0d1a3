//===- run.cpp - the main function of emitted programs --------------------===//
#include "comm/launch.h"
#include "common/data/dump.h"
#include "common/data/source.h"
#include "common/device/target.h"
#include "common/profiling/trace_file.h"
#include "common/program/arguments.h"
#include "common/program/generate.h"
#include "common/program/initial.h"
#include "common/program/on_ranks.h"
#include "common/program/report.h"
#include "common/program/steps.h"
#include "common/program/together.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>

namespace ffrt {

namespace {

/// Steps of an epoch where the source of data has no end of its own.
constexpr int64_t kSyntheticEpoch = 10;

std::unique_ptr<Source> make_source(const ProgramInfo &info,
                                    const Arguments &arguments) {
  if (!arguments.dataset.empty())
    return make_dataset(info, arguments.dataset, arguments.shuffle,
                        arguments.seed);
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

void run_ranks(Comm &comm, const ProgramInfo &info, const Arguments &arguments,
               MakeProgram make) {
  const Group world = make_world(comm);
  Context context = make_context(comm);
  context.seed = arguments.seed;
  context.weight_decay = arguments.weight_decay;
  context.micro_batches = info.micro_batches;
  context.tf32 = info.tf32;
  if (arguments.generation.tokens > 0)
    return generate(comm, world, context, info, arguments.generation,
                    arguments.weights, make);

  std::unique_ptr<Source> source;
  together(comm, world, "start",
           [&] { source = make_source(info, arguments); });
  Dump dump(info, comm, world);
  std::unique_ptr<Trace> trace;
  if (!arguments.trace.empty()) {
    check_trace(comm, world, arguments.trace);
    together(comm, world, "start", [&] { trace = std::make_unique<Trace>(); });
  }
  Instance instance(context, comm, world, dump, info, make, arguments.weights,
                    trace.get());
  const int64_t steps = steps_of(info, arguments, *source);
  together(comm, world, "start", [&] { check_dump_steps(arguments, steps); });
  const RateSchedule rate = {arguments.rate_form, arguments.learning_rate,
                             arguments.last_rate, arguments.warmup, steps};
  Report report(info, comm.rank() != 0, steps, arguments.print_frequency);
  Feeder feeder(*source, instance.inputs(), instance.input_numbers(),
                steps * info.micro_batches);
  // A program that evaluates a data set writes what it finds for all samples.
  const int64_t samples =
      info.training ? 0 : std::min(source->samples(), steps * info.batch);
  LossLog losses(info.micro_batches, arguments.any_loss, steps);
  const bool has_loss = info.training && comm.rank() == 0;
  // Values are dumped as kernels are started one by one.
  const bool replays = instance.replays() && arguments.dump.empty();
  Steps program(instance, context, feeder, trace.get(),
                has_loss ? &losses : nullptr, replays);
  const auto write_dump = [&](int64_t step) {
    const std::string folder = dump_folder(arguments, step, steps);
    if (folder.empty())
      return;
    finish_target();
    dump.write(folder, instance.states(), losses.of_steps(),
               [&](const StateSlot &slot) {
                 initialise_on_host(slot, context.seed,
                                    this_program() + ".weights",
                                    arguments.weights);
               });
  };
  // Steps allocate nothing, so this is made once.
  bool is_dumped = false;
  const std::function<void(int)> before_micro_batch = [&](int micro_batch) {
    if (samples > 0 && !arguments.dump.empty())
      dump.record_batch(context.step * info.batch, samples);
    else if (is_dumped)
      dump.record_batch(micro_batch * info.batch,
                        info.micro_batches * info.batch);
  };
  for (int64_t step = 0; step < steps; ++step) {
    context.step = step;
    context.learning_rate = rate.at(step);
    is_dumped = !dump_folder(arguments, step + 1, steps).empty();
    program.run(before_micro_batch);
    if (report.is_due(step + 1)) {
      finish_target();
      report.step(step + 1, has_loss ? losses.of_steps().back() : 0.0);
    }
    if (step + 1 < steps)
      write_dump(step + 1);
  }
  finish_target();
  report.done();
  instance.check_guards();
  write_dump(steps);
  if (trace)
    write_trace(comm, world, *trace, arguments.trace);
}

} // namespace

int run(int argc, char **argv, const ProgramInfo &info, MakeProgram make) {
  Arguments arguments;
  auto parse = [&]() -> Start {
    arguments = parse_arguments(argc, argv, info);
    if (arguments.help)
      return {usage(argv[0], info)};
    if (arguments.info)
      return {describe(info)};
    if (arguments.local_ranks)
      start_local_ranks(arguments.local_ranks, arguments.forwarded);
    return {"", arguments.deadline};
  };
  return on_ranks(argv[0], info.ranks, "run", parse,
                  [&](Comm &comm) { run_ranks(comm, info, arguments, make); });
}

} // namespace ffrt
