//===- LinkShares.cpp - what a program's flows take of links --------------===//

#include "LinkShares.h"

#include "PlannedCollectives.h"

#include <map>

using namespace ffc::plan;

namespace {

/// What the flows of a program take of links.
class ShareFinder {
public:
  ShareFinder(const Program &program, const Topology &topology,
              const CostModel &cost)
      : program(program), topology(topology), cost(cost),
        collectives(program, cost) {}

  LinkShares ofCollective(ActionRef ref) const {
    const CostModel::CollectiveCost taken = collectives.cost(ref);
    const auto &collective = program.action(ref).get<CollectiveAction>();
    LinkShares shares = cost.linksOf(taken, program.groups[collective.group]);
    const auto bytes = static_cast<double>(collectives.bytes(ref));
    for (auto &[link, load] : shares)
      load = share(link, load * bytes, taken.time);
    return shares;
  }

  /// Half of a message goes with its sender's part of an exchange, half with
  /// its receiver's.
  LinkShares ofExchange(ActionRef ref, Picoseconds duration) const {
    const DeviceProgram &device = program.devices[ref.device];
    const auto &exchange = program.action(ref).get<ExchangeAction>();
    std::map<LinkId, double> bytes;
    auto add = [&](DeviceId src, DeviceId dst, BufferId buffer) {
      std::vector<std::pair<LinkId, double>> loads;
      topology.appendLoads(src, dst, loads);
      for (auto [link, load] : loads)
        bytes[link] +=
            load * static_cast<double>(device.buffers[buffer].bytes) / 2;
    };
    for (const Message &sent : exchange.sends)
      add(ref.device, sent.peer, sent.buffer);
    for (const Message &received : exchange.receives)
      add(received.peer, ref.device, received.buffer);
    LinkShares shares;
    for (auto [link, load] : bytes)
      shares.push_back({link, share(link, load, duration)});
    return shares;
  }

private:
  double share(LinkId link, double bytes, Picoseconds duration) const {
    const double seconds = static_cast<double>(duration) * 1e-12;
    const double most = topology.links()[link].bandwidth * seconds;
    return bytes < most ? bytes / most : 1;
  }

  const Program &program;
  const Topology &topology;
  const CostModel &cost;
  const PlannedCollectives collectives;
};

} // namespace

std::vector<LinkShares> ffc::plan::linkSharesOf(const Program &program,
                                                const TimedTasks &tasks,
                                                const Topology &topology,
                                                const CostModel &cost) {
  const ShareFinder find(program, topology, cost);
  std::vector<LinkShares> shares(tasks.numParts());
  for (const TimedTasks::Task &task : tasks.all()) {
    if (task.kind == TimedTasks::Kind::Collective)
      shares[task.firstPart] = find.ofCollective(program.order[task.firstPart]);
    if (task.kind == TimedTasks::Kind::Exchange)
      for (uint32_t p = task.firstPart; p < task.endPart; ++p)
        shares[p] = find.ofExchange(program.order[p], tasks.part(p).duration);
  }
  return shares;
}
