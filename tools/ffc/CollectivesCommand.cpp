//===- CollectivesCommand.cpp - ffc collectives ---------------------------===//
//
// How long collectives take on a topology, by each algorithm.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Plan/Cost.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>
#include <optional>

using namespace llvm;
using namespace ffc;
using codegen::makeError;
using plan::CollectiveKind;
using plan::CostModel;
using plan::QuantityKind;
using plan::Topology;

namespace {

struct CollectivesOptions : CommandOptions {
  int64_t bytes = int64_t(1) << 30;
  std::vector<int64_t> members; ///< empty: all devices
};

} // namespace

static Error readMembers(CollectivesOptions &options, StringRef flag,
                         StringRef value) {
  options.members.clear();
  SmallVector<StringRef> words;
  value.split(words, ',');
  for (StringRef word : words) {
    auto [first, last] = word.split('-');
    int64_t from = 0, to = 0;
    if (first.getAsInteger(10, from) ||
        (word.contains('-') ? last.getAsInteger(10, to) : (to = from, false)) ||
        from < 0 || to < from || to >= plan::kMaxDevices)
      return makeError(flag + ": expected devices such as 0-3,8, found '" +
                       value + "'");
    for (int64_t device = from; device <= to; ++device)
      options.members.push_back(device);
  }
  llvm::sort(options.members);
  if (llvm::unique(options.members) != options.members.end())
    return makeError(flag + ": expected every device once, found '" + value +
                     "'");
  return Error::success();
}

static const std::vector<FlagGroupOf<CollectivesOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<CollectivesOptions>> groups = {
      {"What",
       {{"--bytes", "SIZE", "of the whole tensor (1 GiB)",
         setBytes(&CollectivesOptions::bytes)},
        {"--members", "DEVICES", "of the group: 0-3,8 (all)", readMembers},
        helpFlag<CollectivesOptions>()}}};
  return groups;
}

static std::string intro() {
  return "ffc collectives: how long collectives take on a topology, by each "
         "algorithm\n\n"
         "  ffc collectives FILE-or-PRESET [flags]\n"
         "\nThe line 'taken' is what a plan takes (--collectives=auto), and "
         "by which\nalgorithm.\n";
}

static Error check(CollectivesOptions &options) {
  return expectArguments(options, 1, "one topology, a file or a preset");
}

namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::AllReduce,
                                     CollectiveKind::AllGather,
                                     CollectiveKind::ReduceScatter};

/// What is chosen under some rules, by kind; nothing where a rule's algorithm
/// makes no schedule.
std::vector<std::optional<CostModel::Choice>>
choices(const Topology &topology, const std::vector<plan::DeviceId> &members,
        int64_t bytes, plan::CollectiveRules rules) {
  const bool wantsSchedule = !rules.algorithm.empty();
  const CostModel cost(topology, nullptr, std::move(rules));
  const auto paths = cost.paths({members});
  std::vector<std::optional<CostModel::Choice>> result;
  for (CollectiveKind kind : kKinds) {
    auto choice = CostModel::choose(kind, (*paths)[0], bytes);
    result.push_back(wantsSchedule && !choice.schedule
                         ? std::nullopt
                         : std::optional(std::move(choice)));
  }
  return result;
}

} // namespace

static int show(const CollectivesOptions &options) {
  std::string error;
  const std::optional<Topology> topology =
      Topology::load(options.arguments[0], error);
  if (!topology) {
    printError(error);
    return 1;
  }
  std::vector<plan::DeviceId> members(options.members.begin(),
                                      options.members.end());
  if (members.empty()) {
    members.resize(static_cast<size_t>(topology->numDevices()));
    std::iota(members.begin(), members.end(), 0);
  }
  if (members.back() >= topology->numDevices() || members.size() < 2) {
    printError("expected two or more of the " +
               std::to_string(topology->numDevices()) + " devices of '" +
               topology->name() + "'");
    return 1;
  }
  outs() << topology->name() << ": " << members.size() << " devices, "
         << plan::formatQuantity(static_cast<double>(options.bytes),
                                 QuantityKind::Bytes)
         << "\n"
         << formatv("{0,-14}", "");
  for (CollectiveKind kind : kKinds)
    outs() << formatv("{0,26}", str(kind));
  outs() << "\n";
  const auto line = [&](StringRef name, plan::CollectiveRules rules,
                        bool namesAlgorithm) {
    outs() << formatv("{0,-14}", name);
    for (const auto &choice :
         choices(*topology, members, options.bytes, std::move(rules))) {
      std::string text = "-";
      if (choice) {
        const std::string by = choice->schedule ? choice->schedule->algorithm
                                                : str(choice->algorithm);
        text = (namesAlgorithm ? by + " " : "") +
               formatv("{0:f3} ms", static_cast<double>(choice->time) * 1e-9)
                   .str();
      }
      outs() << formatv("{0,26}", text);
    }
    outs() << "\n";
  };
  line("taken", {}, true);
  line("library", {plan::OwnCollectives::Never}, false);
  line("switches", {plan::OwnCollectives::Never, "", true}, false);
  for (const std::string &algorithm : plan::scheduleAlgorithms())
    line(algorithm, {plan::OwnCollectives::Always, algorithm}, false);
  return 0;
}

int ffc::runCollectivesCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<CollectivesOptions>(
      {"ffc collectives", intro(), flagGroups(), check, show}, arguments);
}
