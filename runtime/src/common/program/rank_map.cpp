//===- rank_map.cpp - where the ranks of a run are ------------------------===//
#include "common/program/rank_map.h"

#include "common/device/machine_id.h"
#include "common/device/threads.h"
#include "common/profiling/machine.h"
#include "common/program/say.h"
#include "common/program/together.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr std::size_t kShownHosts = 4;

/// As ranks tell each other.
struct PlaceRecord {
  int64_t machine, online;
  cpu_set_t cores;
  char host[64], gpu[64];
};

/// Ranks of a machine.
struct Machine {
  std::string host;
  std::vector<int> ranks;
  std::set<int> cores; ///< that any of them may run on
  int online = 0;
};

/// In the order of their first ranks.
std::vector<Machine> machines_of(const std::vector<RankPlace> &places) {
  std::vector<Machine> machines;
  std::map<int64_t, std::size_t> numbers;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace &place = places[rank];
    const auto [known, added] =
        numbers.try_emplace(place.machine, machines.size());
    if (added)
      machines.push_back({place.host, {}, {}, place.online_cores});
    Machine &machine = machines[known->second];
    machine.ranks.push_back(int(rank));
    machine.cores.insert(place.cores.begin(), place.cores.end());
  }
  return machines;
}

/// "0-3, 8", of ascending numbers.
template <class Numbers> std::string ranges(const Numbers &numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1)
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first)
      text += "-" + std::to_string(last);
  }
  return text;
}

template <class Numbers>
std::string counted(const char *one, const Numbers &numbers) {
  return std::string(one) + (numbers.size() == 1 ? " " : "s ") +
         ranges(numbers);
}

std::string number_of(std::size_t count, const char *one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

bool uses_gpus(const std::vector<RankPlace> &places) {
  return !places.empty() && !places[0].gpu.empty();
}

/// Of a machine whose ranks compute on its cores.
void find_core_problems(const Machine &machine,
                        const std::vector<RankPlace> &places,
                        std::vector<std::string> &problems) {
  const std::string host = "host " + machine.host + ": ";
  const std::size_t ranks = machine.ranks.size(), cores = machine.cores.size();
  if (ranks > cores && machine.online > int(cores)) {
    problems.push_back(
        host + number_of(ranks, "rank") + " may use " +
        number_of(cores, "core") + " of " + std::to_string(machine.online) +
        "; mpirun --bind-to none, or srun --cpus-per-task, leaves them more");
    return;
  }
  if (ranks > cores) {
    problems.push_back(host + number_of(ranks, "rank") + " share " +
                       number_of(cores, "core") +
                       ", so that steps take longer than predicted; a plan for "
                       "fewer devices, or more hosts, would not");
    return;
  }
  // Ranks that are bound to cores which are too few for them.
  std::set<std::vector<int>> sets;
  for (int rank : machine.ranks)
    sets.insert(places[std::size_t(rank)].cores);
  for (const std::vector<int> &set : sets) {
    std::vector<int> within;
    for (int rank : machine.ranks) {
      const std::vector<int> &own = places[std::size_t(rank)].cores;
      if (std::includes(set.begin(), set.end(), own.begin(), own.end()))
        within.push_back(rank);
    }
    if (within.size() <= set.size())
      continue;
    problems.push_back(host + counted("rank", within) + " share " +
                       counted("core", set) +
                       " while others are free; mpirun "
                       "--bind-to none, or --map-by core, divides them");
    return;
  }
}

void find_gpu_problems(const std::vector<RankPlace> &places,
                       std::vector<std::string> &problems) {
  std::map<std::string, std::vector<int>> users;
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    users[places[rank].gpu].push_back(int(rank));
  for (const auto &[gpu, ranks] : users)
    if (ranks.size() > 1)
      problems.push_back("host " + places[std::size_t(ranks[0])].host + ": " +
                         counted("rank", ranks) + " use one GPU (" + gpu +
                         "); start as many ranks on a host as it has GPUs, and "
                         "let every rank see all of them "
                         "(CUDA_VISIBLE_DEVICES)");
}

/// Ranks between which the plan has the links of one node.
void find_node_problems(const std::vector<RankPlace> &places,
                        const ProgramInfo &info,
                        std::vector<std::string> &problems) {
  std::map<int, std::vector<int>> nodes;
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    nodes[info.rank_info[rank].node].push_back(int(rank));
  for (const auto &[node, ranks] : nodes) {
    std::set<int64_t> machines;
    std::string where;
    for (int rank : ranks) {
      const RankPlace &place = places[std::size_t(rank)];
      if (machines.insert(place.machine).second && machines.size() <= 3)
        where += (where.empty() ? "" : ", ") + std::to_string(rank) + " on " +
                 place.host;
    }
    if (machines.size() == 1)
      continue;
    problems.push_back(
        counted("rank", ranks) + " are on node " + std::to_string(node) +
        " of the plan, expected one host, found " +
        std::to_string(machines.size()) + " (" + where + "); start " +
        std::to_string(ranks.size()) +
        " a host in the order of ranks: mpirun --map-by ppr:" +
        std::to_string(ranks.size()) + ":node, srun --distribution=block");
    return; // the others have the same cause
  }
}

} // namespace

std::vector<RankPlace> places_of_ranks(Comm &comm, const Group &world) {
  std::string gpu;
  together(comm, world, "start", [&] { gpu = own_gpu(); });
  PlaceRecord mine{};
  mine.machine = machine_id(comm.rank());
  mine.online = sysconf(_SC_NPROCESSORS_ONLN);
  mine.cores = own_cores();
  gethostname(mine.host, sizeof mine.host - 1);
  std::strncpy(mine.gpu, gpu.c_str(), sizeof mine.gpu - 1);
  constexpr int64_t kWords = sizeof(PlaceRecord) / sizeof(int64_t);
  static_assert(kWords * sizeof(int64_t) == sizeof(PlaceRecord));
  std::vector<PlaceRecord> all(std::size_t(comm.size()));
  comm.wait(comm.all_gather(
      "places", world, flat(&mine, DType::i64, kWords),
      flat(all.data(), DType::i64, kWords * int64_t(all.size()))));
  std::vector<RankPlace> places;
  for (const PlaceRecord &record : all) {
    RankPlace place{
        record.host, record.machine, {}, int(record.online), record.gpu};
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &record.cores))
        place.cores.push_back(core);
    places.push_back(std::move(place));
  }
  return places;
}

std::string describe_hosts(const std::vector<RankPlace> &places) {
  const std::vector<Machine> machines = machines_of(places);
  const auto size = [&](const Machine &machine) {
    return uses_gpus(places)
               ? ""
               : " (" + number_of(machine.cores.size(), "core") + ")";
  };
  std::string text = std::to_string(places.size()) + " on ";
  if (machines.size() == 1)
    return text + "one host: " + machines[0].host + size(machines[0]);
  text += std::to_string(machines.size()) + " hosts: ";
  for (std::size_t i = 0; i < std::min(machines.size(), kShownHosts); ++i)
    text += (i ? "; " : "") + ranges(machines[i].ranks) + " on " +
            machines[i].host + size(machines[i]);
  if (machines.size() > kShownHosts)
    text += "; and " + std::to_string(machines.size() - kShownHosts) + " more";
  return text;
}

std::string map_table(const std::vector<RankPlace> &places,
                      const ProgramInfo &info) {
  std::size_t width = 4, cores = 5;
  for (const RankPlace &place : places) {
    width = std::max(width, place.host.size());
    cores = std::max(cores, ranges(place.cores).size());
  }
  std::string text = format("rank  node  %-*s  %-*s  GPU\n", int(width), "host",
                            int(cores), "cores");
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    text +=
        format("%4zu  %4d  %-*s  %-*s  %s\n", rank, info.rank_info[rank].node,
               int(width), places[rank].host.c_str(), int(cores),
               ranges(places[rank].cores).c_str(),
               places[rank].gpu.empty() ? "-" : places[rank].gpu.c_str());
  return text;
}

std::vector<std::string> map_problems(const std::vector<RankPlace> &places,
                                      const ProgramInfo &info) {
  std::vector<std::string> problems;
  find_node_problems(places, info, problems);
  if (uses_gpus(places))
    find_gpu_problems(places, problems);
  else
    for (const Machine &machine : machines_of(places))
      find_core_problems(machine, places, problems);
  return problems;
}

} // namespace ffrt
