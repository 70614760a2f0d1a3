//===- TimeCommand.cpp - ffc time -----------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Plan/TimingProblem.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace ffc;

static const char *const kIntro =
    "ffc time: when the tasks of a timing problem start and end\n\n"
    "  ffc time FILE\n\n"
    "A timing problem is a text of devices and tasks in their static "
    "order:\n\n"
    "  ffc timing 1\n"
    "  devices 2 overlap\n"
    "  local a on 0 1: 10 us\n"
    "  collective sum on 0 1: 5 us\n"
    "  exchange halo: 0 -> 1 2 us, 1 -> 0 3 us\n"
    "  wait sum\n"
    "  wait halo on 0\n";

static std::string show(plan::Picoseconds time) {
  return plan::formatQuantity(static_cast<double>(time),
                              plan::QuantityKind::Time);
}

static int printTimes(const CommandOptions &options) {
  std::string error;
  const auto problem = plan::TimingProblem::load(options.arguments[0], error);
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

static Error check(CommandOptions &options) {
  return expectArguments(options, 1, "one timing problem, a file");
}

int ffc::runTimeCommand(const std::vector<std::string> &arguments) {
  static const std::vector<FlagGroupOf<CommandOptions>> groups = {
      {"Output", {helpFlag<CommandOptions>()}}};
  return runCommandLine<CommandOptions>(
      {"ffc time", kIntro, groups, check, printTimes}, arguments);
}
