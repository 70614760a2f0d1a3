//===- profile.cpp - the main function of programs that measure -----------===//
#include "ffrt/profile.h"

#include "common/data/file.h"
#include "common/device/target.h"
#include "common/profiling/json.h"
#include "common/profiling/machine.h"
#include "common/profiling/profile_links.h"
#include "common/profiling/profile_steps.h"
#include "common/profiling/shared_groups.h"
#include "common/profiling/timestamps.h"
#include "common/program/flags.h"
#include "common/program/on_ranks.h"
#include "common/program/together.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <numeric>

namespace ffrt {

namespace {

constexpr int64_t kLargestMessage = int64_t(64) << 20;

struct ProfileArguments {
  bool help = false, speed = false;
  std::string output = "profile.json";
  int rounds = 5;
  int64_t largest = kLargestMessage;
  int local_ranks = 0; ///< 0: not given
  double deadline = kDeadline;
  /// All arguments but --local-ranks, for the ranks it starts.
  std::vector<std::string> forwarded;
};

std::string usage(const char *program, const ProfileInfo &info) {
  return "usage: " + launch_command(program, info.steps[0].info.ranks) +
         R"( [flags]
measures the kernels of )" +
         info.model + R"( and the communication between ranks

      --output FILE       the profile (default profile.json)
      --repeat N          rounds in which every step is measured (default 5)
      --largest BYTES     of a message that is measured (default 67108864)
      --speed             print the time of the steps that a profile has as its
                          probe, nothing else: is the machine as fast as then?
      --deadline SECONDS  of a wait for other ranks, after which all end
                          (default )" +
         std::to_string(int(kDeadline)) + R"()
      --local-ranks N     start the ranks on this machine
  -h, --help
)";
}

ProfileArguments parse(int argc, char **argv, int ranks) {
  ProfileArguments arguments;
  auto number = [](Flags &flags, int64_t least, int64_t most) {
    const std::string what = "a number from " + std::to_string(least) + " to " +
                             std::to_string(most);
    return whole_number(flags.name(), what, flags.value(), least, most);
  };
  Flags flags(argc, argv);
  while (flags.next()) {
    const std::string &flag = flags.name();
    if (flag == "--help" || flag == "-h" || flag == "--speed") {
      flags.expect_no_value();
      (flag == "--speed" ? arguments.speed : arguments.help) = true;
    } else if (flag == "--output")
      arguments.output = path(flag, "a file", flags.value());
    else if (flag == "--repeat")
      arguments.rounds = int(number(flags, 1, 1000));
    else if (flag == "--largest")
      arguments.largest = number(flags, 256, 1 << 30);
    else if (flag == "--deadline")
      arguments.deadline = positive_number(flag, flags.value());
    else if (flag == "--local-ranks")
      check_local_ranks(arguments.local_ranks = int(number(flags, 1, 1 << 20)),
                        ranks);
    else
      flags.reject();
    if (flag != "--local-ranks")
      for (const std::string &word : flags.words())
        arguments.forwarded.push_back(word);
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// `"median_us": 1.5, "spread_us": 0.1`
std::string times(const Duration &time) {
  return "\"median_us\": " + number(time.median * 1e6) +
         ", \"spread_us\": " + number(time.spread * 1e6);
}

std::string date() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string json(const ProfileInfo &info, int threads, int cores,
                 const StepProfiler::Result &result, double probe,
                 const std::vector<LinkProfile> &links) {
  std::string text = "{\n\"ffc_profile\": 1,\n";
  auto add = [&](const char *key, const std::string &value) {
    text += quoted(key) + ": " + value + ",\n";
  };
  add("model", quoted(info.model));
  add("date", quoted(date()));
  add("machine", quoted(machine_name()));
  std::string versions = "{\"ffc\": " + quoted(info.version);
  for (const auto &[name, version] : library_versions())
    versions += ", " + quoted(name) + ": " + quoted(version);
  add("versions", versions + "}");
  add("device", quoted(info.device));
  add("ranks", std::to_string(info.steps[0].info.ranks));
  add("threads", std::to_string(threads));
  add("cores", std::to_string(cores));
  add("probe_us", number(probe * 1e6));
  text += "\"kernels\": [";
  const char *separator = "\n";
  for (std::size_t i = 0; i < info.entries.size(); ++i) {
    const ProfileEntry &entry = info.entries[i];
    text += separator;
    text += "{\"key\": " + quoted(entry.key) +
            ", \"kernel\": " + quoted(entry.kernel) +
            ", \"devices\": " + std::to_string(entry.devices) +
            ", \"flops\": " + number(entry.flops) +
            ", \"bytes\": " + number(entry.bytes) + ", " +
            times(result.entries[i]) +
            ", \"samples\": " + std::to_string(result.entries[i].samples) + "}";
    separator = ",\n";
  }
  text += "],\n\"communication\": [";
  separator = "\n";
  for (const LinkProfile &link : links) {
    text += separator;
    text += "{\"operation\": " + quoted(link.operation) +
            ", \"members\": " + std::to_string(link.members) + ", \"sizes\": [";
    const char *between = "\n  ";
    for (const LinkProfile::Size &size : link.sizes) {
      text += between;
      text += "{\"bytes\": " + std::to_string(size.bytes) + ", " +
              times(size.time) + "}";
      between = ",\n  ";
    }
    text += "]}";
    separator = ",\n";
  }
  return text + "]\n}\n";
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// Prints the time of the probe.
void measure_speed(Context &context, Comm &comm, const Group &world,
                   const ProfileInfo &info, int rounds) {
  StepProfiler steps(context, comm, world, info,
                     probe_steps(info.steps.size()));
  for (int round = 0; round < rounds; ++round)
    steps.measure();
  double probe = 0.0;
  for (const Duration &time : steps.result().step_times)
    probe += time.median;
  if (comm.rank() == 0)
    std::printf("probe: %.3f ms\n", probe * 1e3);
}

/// Of a rank in any of the steps.
int64_t most_memory(const ProfileInfo &info) {
  int64_t most = 0;
  for (const ProfiledStep &step : info.steps)
    for (const RankInfo &rank : step.info.rank_info)
      most = std::max(most, rank.state_bytes + rank.arena_bytes);
  return most;
}

/// Of kernels and copies by name, what a step takes and was expected to take:
/// the mean of the steps of the probe and of ranks.
void print_kinds(const ProfileInfo &info, const StepProfiler::Result &result) {
  struct Kind {
    double calls = 0, measured = 0, expected = 0;
    void add(const Kind &o) {
      calls += o.calls;
      measured += o.measured;
      expected += o.expected;
    }
  };
  const std::vector<std::size_t> probe = probe_steps(info.steps.size());
  std::map<std::string, Kind> kinds;
  Kind all;
  for (std::size_t index : probe) {
    const ProfiledStep &step = info.steps[index];
    const double share = 1.0 / double(probe.size() * step.entries.size());
    for (const std::vector<int> &entries : step.entries)
      for (int i : entries) {
        const ProfileEntry &entry = info.entries[std::size_t(i)];
        const Kind one = {share, share * result.entries[std::size_t(i)].median,
                          share * entry.expected};
        kinds[entry.kernel].add(one);
        all.add(one);
      }
  }
  std::vector<std::pair<std::string, Kind>> rows(kinds.begin(), kinds.end());
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.second.measured > b.second.measured;
  });
  rows.push_back({"all", all});
  std::printf("   calls     measured   by figures\n");
  for (const auto &[name, kind] : rows)
    std::printf("%8.1f %9.1f us %9.1f us  %s\n", kind.calls,
                kind.measured * 1e6, kind.expected * 1e6, name.c_str());
}

void measure_all(Context &context, Comm &comm, const Group &world,
                 const ProfileInfo &info, const ProfileArguments &arguments) {
  std::vector<std::size_t> every(info.steps.size());
  std::iota(every.begin(), every.end(), std::size_t(0));
  StepProfiler steps(context, comm, world, info, every);
  LinkProfiler communication(comm, world, arguments.largest, most_memory(info));
  for (int round = 0; round < arguments.rounds; ++round) {
    steps.measure();
    communication.measure();
    if (comm.rank() == 0) {
      std::printf("round %d of %d\n", round + 1, arguments.rounds);
      std::fflush(stdout);
    }
  }
  const StepProfiler::Result result = steps.result();
  const std::vector<LinkProfile> links = communication.result();
  double probe = 0.0;
  for (std::size_t index : probe_steps(info.steps.size()))
    probe += result.step_times[index].median;
  together(comm, world, "output", [&] {
    if (comm.rank() != 0)
      return;
    const std::string text =
        json(info, context.threads, steps.core_count(), result, probe, links);
    write_file(arguments.output, text, nullptr, 0);
    for (std::size_t i = 0; i < result.step_times.size(); ++i)
      std::printf("step %zu: %.3f ms, spread %.3f ms\n", i,
                  result.step_times[i].median * 1e3,
                  result.step_times[i].spread * 1e3);
    std::printf("probe: %.3f ms\n", probe * 1e3);
    print_kinds(info, result);
    if (!target_is_host())
      std::printf("timestamps: %.2f us each, taken off\n",
                  Timestamps::seconds_added() * 1e6);
    std::printf("%zu kernels and copies, %zu operations of communication in "
                "'%s'\n",
                info.entries.size(), links.size(), arguments.output.c_str());
  });
}

void measure(Comm &own, const ProfileInfo &info,
             const ProfileArguments &arguments) {
  SharedGroups comm(own);
  const Group world = make_world(comm);
  // Opens the device.
  together(comm, world, "start", finish_target);
  Context context = make_context(comm);
  // Parameters keep their initial values, so that all steps do the same.
  context.learning_rate = 0.0;
  if (arguments.speed)
    measure_speed(context, comm, world, info, arguments.rounds);
  else
    measure_all(context, comm, world, info, arguments);
}

} // namespace

int run_profile(int argc, char **argv, const ProfileInfo &info) {
  const int ranks = info.steps[0].info.ranks;
  ProfileArguments arguments;
  auto parse_line = [&]() -> Start {
    arguments = parse(argc, argv, ranks);
    if (arguments.help)
      return {usage(argv[0], info)};
    if (arguments.local_ranks)
      start_local_ranks(ranks, arguments.forwarded);
    return {"", arguments.deadline};
  };
  return on_ranks(argv[0], ranks, "profile", parse_line,
                  [&](Comm &comm) { measure(comm, info, arguments); });
}

} // namespace ffrt
