//===- run.cpp - the main function of emitted programs -------------------===//
#include "common/program/run.h"

#include "comm/launch.h"
#include "common/profiling/trace_file.h"
#include "common/program/restarts.h"
#include "common/program/say.h"
#include "ffrt/mpi.h"

#include <cstdlib>
#include <optional>

namespace ffrt {

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

namespace {

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
      return {describe(info) + describe_updates(arguments, info) +
              describe_evaluation(info, evaluation ? &*evaluation : nullptr)};
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
