//===- TimeCommand.cpp - ffc time -----------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Plan/TimingProblem.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace ffc;

namespace {

struct TimeOptions {
  bool help = false;
  std::string problem; ///< path
};

} // namespace

static const std::vector<FlagGroupOf<TimeOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<TimeOptions>> groups = {
      {"Output",
       {{"--help", "", "this text",
         [](TimeOptions &o, StringRef, StringRef) -> Error {
           o.help = true;
           return Error::success();
         }}}}};
  return groups;
}

static std::string usage() {
  return "ffc time: when the tasks of a timing problem start and end\n\n"
         "  ffc time FILE\n\n"
         "A timing problem is a text of devices and tasks in their static "
         "order:\n\n"
         "  ffc timing 1\n"
         "  devices 2 overlap\n"
         "  local a on 0 1: 10 us\n"
         "  collective sum on 0 1: 5 us\n"
         "  exchange halo: 0 -> 1 2 us, 1 -> 0 3 us\n"
         "  wait sum\n"
         "  wait halo on 0\n" +
         describeFlags<TimeOptions>(flagGroups());
}

static Expected<TimeOptions>
parseOptions(const std::vector<std::string> &arguments) {
  TimeOptions options;
  auto take = [&](StringRef argument) -> Error {
    if (!options.problem.empty())
      return codegen::makeError("expected one timing problem, found '" +
                                options.problem + "' and '" + argument + "'");
    options.problem = argument.str();
    return Error::success();
  };
  if (Error error = parseFlags<TimeOptions>(arguments, flagGroups(), options,
                                            take, "see ffc time --help"))
    return error;
  if (!options.help && options.problem.empty())
    return codegen::makeError("expected a timing problem, a file, found none");
  return options;
}

static std::string show(plan::Picoseconds time) {
  return plan::formatQuantity(static_cast<double>(time),
                              plan::QuantityKind::Time);
}

int ffc::runTimeCommand(const std::vector<std::string> &arguments) {
  Expected<TimeOptions> options = parseOptions(arguments);
  if (!options) {
    printError(toString(options.takeError()));
    return 2;
  }
  if (options->help) {
    outs() << usage();
    return 0;
  }
  std::string error;
  const auto problem = plan::TimingProblem::load(options->problem, error);
  if (!problem) {
    printError(error);
    return 1;
  }
  const std::vector<plan::PartTime> times = plan::timeProblem(*problem);
  plan::Picoseconds makespan = 0;
  auto line = [](const Twine &device, const Twine &start, const Twine &end,
                 StringRef task) {
    outs() << formatv("{0,6}  {1,14}  {2,14}  {3}\n", device.str(), start.str(),
                      end.str(), task);
  };
  line("device", "start", "end", "task");
  for (size_t part = 0; part < times.size(); ++part) {
    line(Twine(problem->tasks.part(part).device), show(times[part].start),
         show(times[part].end), problem->labels[part]);
    makespan = std::max(makespan, times[part].end);
  }
  outs() << "step " << show(makespan) << '\n';
  return 0;
}
