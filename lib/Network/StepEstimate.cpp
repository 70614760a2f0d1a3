//===- StepEstimate.cpp - about how long a step takes ---------------------===//

#include "ffc/Network/StepEstimate.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace ffc::network;

namespace {

class Estimate {
public:
  Estimate(const TaskGraph &graph, const EstimatedNetwork &on)
      : graph(graph), on(on), waitsFor(graph.tasks.size()),
        computes(graph.numServers), sends(graph.numServers) {}

  Picoseconds run();

private:
  void start(int32_t task, Picoseconds time);
  Picoseconds send(VertexId server, Picoseconds time, double bytes);
  Picoseconds transfer(const NetworkTask &task, Picoseconds time);
  Picoseconds allReduce(const NetworkTask &task, Picoseconds time);

  const TaskGraph &graph;
  const EstimatedNetwork &on;
  std::vector<int32_t> waitsFor;
  std::vector<Picoseconds> computes, sends; ///< until when, by server
  using End = std::pair<Picoseconds, int32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
};

} // namespace

static Picoseconds picoseconds(double milliseconds) {
  return static_cast<Picoseconds>(std::llround(milliseconds * 1e9));
}

Picoseconds Estimate::send(VertexId server, Picoseconds time, double bytes) {
  sends[server] = std::max(sends[server], time) +
                  static_cast<Picoseconds>(bytes / on.bandwidth * 1e12);
  return sends[server];
}

Picoseconds Estimate::transfer(const NetworkTask &task, Picoseconds time) {
  const auto bytes = static_cast<double>(task.bytes);
  Picoseconds end = send(task.src, time, bytes) + on.latency;
  if (!on.network)
    return end;
  const auto paths = on.network->paths.find({task.src, task.dst});
  if (paths == on.network->paths.end())
    return end;
  const std::vector<LinkId> &links = paths->second.front().links;
  for (size_t hop = 1; hop < links.size(); ++hop)
    end = std::max(end, send(on.network->links[links[hop]].src, time, bytes) +
                            static_cast<Picoseconds>(hop + 1) * on.latency);
  return end;
}

Picoseconds Estimate::allReduce(const NetworkTask &task, Picoseconds time) {
  const auto members = static_cast<int64_t>(task.members.size());
  if (members < 2)
    return time;
  time += picoseconds(task.milliseconds);
  const int64_t rounds = 2 * (members - 1);
  const double bytes = static_cast<double>(rounds) /
                       static_cast<double>(members) *
                       static_cast<double>(task.bytes);
  Picoseconds end = time;
  for (VertexId member : task.members)
    end = std::max(end, send(member, time, bytes));
  return end + rounds * on.latency;
}

void Estimate::start(int32_t index, Picoseconds time) {
  const NetworkTask &task = graph.tasks[index];
  Picoseconds end = 0;
  switch (task.type) {
  case TaskType::Transfer:
    end = transfer(task, time);
    break;
  case TaskType::AllReduce:
    end = allReduce(task, time);
    break;
  default:
    end =
        std::max(computes[task.server], time) + picoseconds(task.milliseconds);
    computes[task.server] = end;
  }
  ends.push({end, index});
}

Picoseconds Estimate::run() {
  const auto count = static_cast<int32_t>(graph.tasks.size());
  for (const NetworkTask &task : graph.tasks)
    for (int32_t next : task.next)
      ++waitsFor[next];
  for (int32_t i = 0; i < count; ++i)
    if (waitsFor[i] == 0)
      start(i, 0);
  Picoseconds last = 0;
  while (!ends.empty()) {
    const auto [time, index] = ends.top();
    ends.pop();
    last = time;
    for (int32_t next : graph.tasks[index].next)
      if (--waitsFor[next] == 0)
        start(next, time);
  }
  return last;
}

Picoseconds ffc::network::estimateStep(const TaskGraph &graph,
                                       const EstimatedNetwork &network) {
  return Estimate(graph, network).run();
}
