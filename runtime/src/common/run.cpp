//===- run.cpp - the main function of emitted programs --------------------===//
#include "common/arguments.h"
#include "common/dump.h"
#include "common/feeder.h"
#include "common/instance.h"
#include "common/report.h"
#include "common/source.h"
#include "common/together.h"
#include "common/trace_file.h"
#include "common/traced_comm.h"
#include "cpu/launch.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace ffrt {

namespace {

/// Steps of one pass where the source of data has no end of its own.
constexpr int64_t kSyntheticEpoch = 10;

/// Ends all ranks with status 2 after rank 0 has printed why. Under a launcher
/// the ranks meet first: it would kill rank 0 before it has printed when
/// another one exits.
int reject(const std::string &cause, Comm *comm = nullptr) {
  std::unique_ptr<Comm> own;
  if (!comm && launched()) {
    own = make_mpi_comm();
    comm = own.get();
  }
  if (!comm || comm->rank() == 0) {
    std::fprintf(stderr, "error: %s\n", cause.c_str());
    std::fflush(stderr);
  }
  if (comm)
    comm->barrier();
  return 2;
}

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

int run_ranks(Comm &comm, const ProgramInfo &info, const Arguments &arguments,
              MakeProgram make) {
  std::vector<int> everyone(static_cast<std::size_t>(comm.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  const Group world = comm.make_group(everyone);

  Context context;
  context.rank = comm.rank();
  context.ranks = comm.size();
  context.seed = arguments.seed;
  context.learning_rate = arguments.learning_rate;
  context.weight_decay = arguments.weight_decay;
  context.threads = set_threads();

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
  Report report(info, comm.rank() != 0, steps, arguments.print_frequency);
  Feeder feeder(*source, instance.inputs(), instance.input_numbers(), steps);
  // A program that evaluates a data set writes what it finds for all samples.
  const int64_t samples =
      info.training ? 0 : std::min(source->samples(), steps * info.batch);
  std::vector<double> losses;
  for (int64_t step = 0; step < steps; ++step) {
    context.step = step;
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
  return 0;
}

} // namespace

int run(int argc, char **argv, const ProgramInfo &info, MakeProgram make) {
  Arguments arguments;
  Transport transport = Transport::automatic;
  try {
    arguments = parse_arguments(argc, argv, info);
    transport = chosen_transport();
    if (arguments.local_ranks && launched())
      throw Error("--local-ranks: expected a start without mpirun, found one "
                  "under it");
    if (arguments.local_ranks && !arguments.help && !arguments.info)
      exec_local_ranks(arguments.local_ranks, arguments.forwarded);
  } catch (const Error &e) {
    return reject(e.what());
  }
  if (arguments.help || arguments.info) {
    if (launched_rank() == 0)
      std::fputs(arguments.help ? usage(argv[0], info).c_str()
                                : describe(info).c_str(),
                 stdout);
    return 0;
  }
  std::unique_ptr<Comm> comm = make_comm(transport);
  if (comm->size() != info.ranks) {
    const std::string found = std::to_string(comm->size());
    return reject("expected 'mpirun -n " + std::to_string(info.ranks) + " " +
                      argv[0] + "', found " + found + " rank" +
                      (comm->size() == 1 ? "" : "s"),
                  comm.get());
  }
  try {
    return run_ranks(*comm, info, arguments, make);
  } catch (const Stop &stop) {
    return stop.status;
  } catch (const std::exception &e) {
    comm->fail("run", e.what());
  }
  return 1;
}

} // namespace ffrt
