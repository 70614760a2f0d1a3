//===- profile.cpp - the main function of programs that measure -----------===//
#include "ffrt/profile.h"

#include "common/file.h"
#include "common/profile_links.h"
#include "common/profile_steps.h"
#include "common/shared_groups.h"
#include "common/together.h"
#include "cpu/machine.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <numeric>

namespace ffrt {

namespace {

constexpr int64_t kLargestMessage = int64_t(64) << 20;

struct ProfileArguments {
  bool help = false, speed = false;
  std::string output = "profile.json";
  int rounds = 5;
  int64_t largest = kLargestMessage;
};

std::string usage(const char *program, const ProfileInfo &info) {
  return "usage: mpirun -n " + std::to_string(info.steps[0].info.ranks) + " " +
         program + R"( [flags]
measures the kernels of )" +
         info.model + R"( and the communication between ranks

      --output FILE       the profile (default profile.json)
      --repeat N          rounds in which every step is measured (default 5)
      --largest BYTES     of a message that is measured (default 67108864)
      --speed             print what a fixed piece of work takes, nothing else
  -h, --help
)";
}

ProfileArguments parse(int argc, char **argv) {
  ProfileArguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i], value;
    const std::size_t equals = flag.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    if (flag == "--help" || flag == "-h" || flag == "--speed") {
      if (joined)
        throw Error(flag + ": expected no value, found '" + value + "'");
      (flag == "--speed" ? arguments.speed : arguments.help) = true;
      continue;
    }
    if (flag != "--output" && flag != "--repeat" && flag != "--largest")
      throw Error("expected a flag listed by --help, found '" + flag + "'");
    if (!joined) {
      if (i + 1 >= argc)
        throw Error(flag + ": expected a value, found the end of the line");
      value = argv[++i];
    }
    if (flag == "--output") {
      if (value.empty())
        throw Error("--output: expected a file, found ''");
      arguments.output = value;
      continue;
    }
    char *end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    const bool isRepeat = flag == "--repeat";
    const long long least = isRepeat ? 1 : 256,
                    most = isRepeat ? 1000 : 1 << 30;
    if (value.empty() || *end || number < least || number > most)
      throw Error(flag + ": expected a number from " + std::to_string(least) +
                  " to " + std::to_string(most) + ", found '" + value + "'");
    if (isRepeat)
      arguments.rounds = int(number);
    else
      arguments.largest = number;
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

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

std::string json(const ProfileInfo &info, int threads,
                 const StepProfiler::Result &result,
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
  add("probe", "{\"compute_us\": " + number(result.steady.compute * 1e6) +
                   ", \"memory_us\": " + number(result.steady.memory * 1e6) +
                   "}");
  text += "\"kernels\": [";
  const char *separator = "\n";
  for (std::size_t i = 0; i < info.entries.size(); ++i) {
    const ProfileEntry &entry = info.entries[i];
    text += separator;
    text += "{\"key\": " + quoted(entry.key) +
            ", \"kernel\": " + quoted(entry.kernel) +
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

/// The mean over ranks.
void print_speed(Comm &comm, const Group &world) {
  SpeedProbe probe;
  const Speed mine = steady_speed(probe, comm);
  double sums[] = {mine.compute, mine.memory};
  comm.wait(comm.all_reduce("speed", world, flat(sums, DType::f64, 2),
                            ReduceOp::sum));
  if (comm.rank() == 0)
    std::printf("compute %.3f us, memory %.3f us\n",
                sums[0] * 1e6 / comm.size(), sums[1] * 1e6 / comm.size());
}

int measure(Comm &own, const ProfileInfo &info,
            const ProfileArguments &arguments) {
  SharedGroups comm(own);
  std::vector<int> everyone(static_cast<std::size_t>(comm.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  const Group world = comm.make_group(everyone);
  Context context;
  context.rank = comm.rank();
  context.ranks = comm.size();
  context.threads = set_threads();
  // Parameters keep their initial values, so that all steps do the same.
  context.learning_rate = 0.0;
  if (arguments.speed) {
    print_speed(comm, world);
    return 0;
  }
  StepProfiler steps(context, comm, world, info);
  steps.measure(arguments.rounds);
  const StepProfiler::Result result = steps.result();
  const std::vector<LinkProfile> links =
      profile_links(comm, world, result.reference, arguments.largest);
  together(comm, world, "output", [&] {
    if (comm.rank() != 0)
      return;
    const std::string text = json(info, context.threads, result, links);
    write_file(arguments.output, text, nullptr, 0);
    for (std::size_t i = 0; i < result.step_times.size(); ++i)
      std::printf("step %zu: %.3f ms, spread %.3f ms\n", i,
                  result.step_times[i].median * 1e3,
                  result.step_times[i].spread * 1e3);
    std::printf("%zu kernels and copies, %zu operations of communication in "
                "'%s'\n",
                info.entries.size(), links.size(), arguments.output.c_str());
  });
  return 0;
}

/// Rank 0 prints why the program ends.
int reject(Comm *comm, const std::string &cause) {
  if (comm ? comm->rank() == 0 : launched_rank() == 0) {
    std::fprintf(stderr, "error: %s\n", cause.c_str());
    std::fflush(stderr);
  }
  if (comm)
    comm->barrier();
  return 2;
}

} // namespace

int run_profile(int argc, char **argv, const ProfileInfo &info) {
  ProfileArguments arguments;
  std::string cause;
  Transport transport = Transport::automatic;
  try {
    arguments = parse(argc, argv);
    transport = chosen_transport();
  } catch (const Error &error) {
    cause = error.what();
  }
  if (arguments.help && cause.empty()) {
    if (launched_rank() == 0)
      std::fputs(usage(argv[0], info).c_str(), stdout);
    return 0;
  }
  const std::unique_ptr<Comm> comm = make_comm(transport);
  if (cause.empty() && comm->size() != info.steps[0].info.ranks)
    cause = "expected 'mpirun -n " + std::to_string(info.steps[0].info.ranks) +
            " " + argv[0] + "', found " + std::to_string(comm->size()) +
            (comm->size() == 1 ? " rank" : " ranks");
  if (!cause.empty())
    return reject(comm.get(), cause);
  try {
    return measure(*comm, info, arguments);
  } catch (const Stop &stop) {
    return stop.status;
  } catch (const std::exception &error) {
    comm->fail("profile", error.what());
  }
  return 1;
}

} // namespace ffrt
