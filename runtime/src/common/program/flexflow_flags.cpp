//===- flexflow_flags.cpp - flags of FlexFlow's programs ------------------===//
#include "common/program/flexflow_flags.h"

#include "common/program/strategy_flag.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace ffrt {

namespace {

constexpr int64_t kMegabyte = 1 << 20;

struct Flag {
  const char *name;
  bool has_value;
  const char *text;
};

/// What stands for something that is so anyway.
constexpr Flag kTaken[] = {
    {"-ll:cpu", true,
     "threads of the host; a rank computes on the cores that it may run on, "
     "divided by the ranks of its host (OMP_NUM_THREADS)"},
    {"-ll:util", true, "threads of Legion, of which there are none"},
    {"-ll:bgwork", true, "threads of Legion, of which there are none"},
    {"-ll:io", true, "threads of Legion, of which there are none"},
    {"-ll:py", true, "threads of Python, of which there are none"},
    {"-ll:pyimport", true, "modules of Python, of which there are none"},
    {"-ll:force_kthreads", false, "threads of Legion, of which there are none"},
    {"-dm:memoize", false, "steps that are not analysed anew; none is"},
    {"--disable-control-replication", false,
     "control replication, without which ranks go by themselves"},
    {"--allow-tensor-op-math-conversion", false,
     "leave to multiply in tf32, which ffc --precision=tf32 compiles in"},
};

/// What is decided elsewhere, and where.
constexpr Flag kElsewhere[] = {
    {"--budget", true, "ffc --search-budget=N"},
    {"--search-budget", true, "ffc --search-budget=N"},
    {"--alpha", true, "ffc --search-alpha=X"},
    {"--search-alpha", true, "ffc --search-alpha=X"},
    {"--import", true, "ffc --strategy=FILE"},
    {"--import-strategy", true, "ffc --strategy=FILE"},
    {"--export", true, "ffc --export-strategy=FILE"},
    {"--export-strategy", true, "ffc --export-strategy=FILE"},
    {"--only-data-parallel", false, "ffc --strategy=data-parallel"},
    {"--enable-parameter-parallel", false, "ffc, which searches all splits"},
    {"--enable-attribute-parallel", false, "ffc, which searches all splits"},
    {"--fusion", false, "ffc --fuse=on, the default"},
    {"--overlap", false, "ffc --devices, whose devices overlap or do not"},
    {"--taskgraph", true, "ffc --task-graph=FILE"},
    {"--machine-model-version", true, "ffc --devices=FILE"},
    {"--machine-model-file", true, "ffc --devices=FILE"},
    {"--simulator-workspace-size", true, "ffc profile"},
    {"--profiling", false, "--trace=FILE of this program"},
    {"-lg:prof", true, "--trace=FILE of this program"},
    {"-lg:prof_logfile", true, "--trace=FILE of this program"},
};

template <std::size_t N>
const Flag *find(const Flag (&table)[N], const std::string &name) {
  for (const Flag &flag : table)
    if (name == flag.name)
      return &flag;
  return nullptr;
}

/// Ranks by node of the plan.
std::map<int, int64_t> ranks_of_nodes(const ProgramInfo &info) {
  std::map<int, int64_t> ranks;
  for (const RankInfo &rank : info.rank_info)
    ++ranks[rank.node];
  return ranks;
}

/// -ll:gpu N: so many workers of every node.
std::string check_workers(const std::string &flag, const std::string &text,
                          const ProgramInfo &info) {
  const int64_t asked =
      whole_number(flag, "a number of devices", text, 0, INT64_MAX);
  int64_t most = 0;
  bool all = true;
  for (const auto &[node, ranks] : ranks_of_nodes(info)) {
    all &= ranks == asked;
    most = std::max(most, ranks);
  }
  if (!all)
    expected(flag,
             std::to_string(most) + ", the ranks that the plan has on a node; "
                                    "ffc MODEL --devices compiles for others",
             text);
  return "the ranks on a node, as the plan has them";
}

/// --nodes N.
std::string check_nodes(const std::string &flag, const std::string &text,
                        const ProgramInfo &info) {
  const auto nodes = int64_t(ranks_of_nodes(info).size());
  if (whole_number(flag, "a number of nodes", text, 1, INT64_MAX) != nodes)
    expected(flag,
             std::to_string(nodes) + ", the nodes of the plan; ffc MODEL "
                                     "--devices compiles for others",
             text);
  return "the nodes of the plan";
}

/// -ll:fsize N, -ll:csize N: memory of a worker, in megabytes.
std::string check_memory(const std::string &flag, const std::string &text,
                         const ProgramInfo &info) {
  const int64_t asked = whole_number(flag, "a number of megabytes", text, 1,
                                     INT64_MAX / kMegabyte);
  int64_t most = 0;
  for (const RankInfo &rank : info.rank_info)
    most = std::max(most, rank.state_bytes + rank.arena_bytes);
  const int64_t least = (most + kMegabyte - 1) / kMegabyte;
  if (asked < least)
    expected(flag,
             "at least " + std::to_string(least) +
                 ", the megabytes that the "
                 "plan needs on a device; ffc MODEL --memory-limit=" +
                 text + "MiB compiles a plan that needs less, if there is one",
             text);
  return "memory of a device, of which the plan needs " +
         std::to_string(least) + " MB";
}

} // namespace

bool read_flexflow(const std::string &flag, Flags &flags,
                   const ProgramInfo &info, std::vector<std::string> &notes) {
  if (flag == "-s" || flag == "--strategy") {
    expect_strategy(flag, path(flag, "a file", flags.value()), info);
    return true;
  }
  if (const Flag *elsewhere = find(kElsewhere, flag))
    throw Error(flag +
                ": expected a flag of the program, found one of "
                "FlexFlow's that this does instead: " +
                elsewhere->text);
  std::string value, meaning;
  if (const Flag *taken = find(kTaken, flag)) {
    if (taken->has_value)
      value = flags.value();
    meaning = taken->text;
  } else if (flag == "-ll:gpu") {
    meaning = check_workers(flag, value = flags.value(), info);
  } else if (flag == "--nodes") {
    meaning = check_nodes(flag, value = flags.value(), info);
  } else if (flag == "-ll:fsize" || flag == "-ll:csize") {
    meaning = check_memory(flag, value = flags.value(), info);
  } else if (flag == "-ll:zsize" || flag == "-ll:rsize") {
    value = std::to_string(whole_number(flag, "a number of megabytes",
                                        flags.value(), 0, INT64_MAX));
    meaning = "memory of the host, which ranks take as they need it";
  } else if (flag.rfind("-ll:", 0) == 0 || flag.rfind("-lg:", 0) == 0 ||
             flag.rfind("-dm:", 0) == 0) {
    throw Error(flag +
                ": expected a flag listed by --help, found one of "
                "Legion's, which the program is not made of; leave it out");
  } else {
    return false;
  }
  notes.push_back(flag + (value.empty() ? "" : " " + value) + ": " + meaning);
  return true;
}

} // namespace ffrt
