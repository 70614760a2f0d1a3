//===- run.cpp - the main function of emitted programs --------------------===//
#include "common/arguments.h"
#include "common/dump.h"
#include "common/feeder.h"
#include "common/generate.h"
#include "common/instance.h"
#include "common/on_ranks.h"
#include "common/report.h"
#include "common/source.h"
#include "common/together.h"
#include "common/trace_file.h"
#include "common/traced_comm.h"
#include "cpu/launch.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>

namespace ffrt {

namespace {

/// Steps of one pass where the source of data has no end of its own.
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
  int64_t epoch = source.steps_per_epoch();
  if (epoch == 0)
    epoch = info.training ? kSyntheticEpoch : 1;
  return epoch * (arguments.epochs > 0 ? arguments.epochs : 1);
}

void run_ranks(Comm &comm, const ProgramInfo &info, const Arguments &arguments,
               MakeProgram make) {
  const Group world = make_world(comm);
  Context context = make_context(comm);
  context.seed = arguments.seed;
  context.weight_decay = arguments.weight_decay;
  if (arguments.generation.tokens > 0)
    return generate(comm, world, context, info, arguments.generation,
                    arguments.weights, make);

  std::unique_ptr<Source> source;
  together(comm, world, "start",
           [&] { source = make_source(info, arguments); });
  Dump dump(info, comm, world, arguments.dump);
  std::unique_ptr<Trace> trace;
  if (!arguments.trace.empty()) {
    check_trace(comm, world, arguments.trace);
    trace = std::make_unique<Trace>();
  }
  Instance instance(context, comm, world, dump, info, make, arguments.weights,
                    trace.get());
  RankProgram &program = instance.program();

  const int64_t steps = steps_of(info, arguments, *source);
  const RateSchedule rate = {arguments.rate_form, arguments.learning_rate,
                             arguments.last_rate, arguments.warmup, steps};
  Report report(info, comm.rank() != 0, steps, arguments.print_frequency);
  Feeder feeder(*source, instance.inputs(), instance.input_numbers(), steps);
  // A program that evaluates a data set writes what it finds for all samples.
  const int64_t samples =
      info.training ? 0 : std::min(source->samples(), steps * info.batch);
  std::vector<double> losses;
  for (int64_t step = 0; step < steps; ++step) {
    context.step = step;
    context.learning_rate = rate.at(step);
    feeder.next();
    if (samples > 0)
      dump.record_batch(step * info.batch, samples);
    else if (step + 1 == steps)
      dump.record();
    if (trace)
      trace->begin_step(step);
    program.step();
    if (trace)
      trace->end_step();
    double loss = 0.0;
    if (info.training && comm.rank() == 0)
      losses.push_back(loss = program.loss());
    report.step(step + 1, loss);
  }
  report.done();
  instance.check_guards();
  dump.write(instance.states(), losses);
  if (trace)
    write_trace(comm, world, *trace, arguments.trace);
}

} // namespace

int run(int argc, char **argv, const ProgramInfo &info, MakeProgram make) {
  Arguments arguments;
  auto parse = [&]() -> std::string {
    arguments = parse_arguments(argc, argv, info);
    if (arguments.local_ranks && launched())
      throw Error("--local-ranks: expected a start without mpirun, found one "
                  "under it");
    if (arguments.help)
      return usage(argv[0], info);
    if (arguments.info)
      return describe(info);
    if (arguments.local_ranks)
      exec_local_ranks(arguments.local_ranks, arguments.forwarded);
    return "";
  };
  return on_ranks(argv[0], info.ranks, "run", parse,
                  [&](Comm &comm) { run_ranks(comm, info, arguments, make); });
}

} // namespace ffrt
