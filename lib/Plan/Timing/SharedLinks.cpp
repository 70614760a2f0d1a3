//===- SharedLinks.cpp - times with links shared by everybody -------------===//

#include "ffc/Plan/SharedLinks.h"

#include "LinkShares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>

using namespace ffc::plan;

using Task = TimedTasks::Task;
using Kind = TimedTasks::Kind;

//===----------------------------------------------------------------------===//
// Speeds
//===----------------------------------------------------------------------===//

namespace {

/// A collective, or a device's part of an exchange.
struct Flow {
  uint32_t firstPart, endPart;
  const LinkShares *shares;
  double left;           ///< of its work, in picoseconds at speed 1
  double speed = 0;      ///< 0: does not run
  Picoseconds since = 0; ///< when `left` was true
  Picoseconds start = 0;
  int version = 0; ///< of its end, which changes with its speed
};

/// Max-min fair speeds by progressive filling: all flows get faster alike until
/// a link is full, whose flows stay as they are, and so on.
class FairSpeeds {
public:
  /// By flow of `running`.
  std::vector<double> operator()(const std::vector<const Flow *> &running) {
    std::vector<double> speeds(running.size(), -1);
    links.clear();
    for (size_t f = 0; f < running.size(); ++f)
      for (auto [link, share] : *running[f]->shares)
        links[link].flows.push_back({f, share});
    while (true) {
      const auto [speed, full] = nextFull(speeds);
      // Shares of what was planned to be at once add up to 1, but for rounding.
      constexpr double kRounding = 1e-6;
      if (!full || speed >= 1 - kRounding)
        break;
      for (auto [f, share] : full->flows)
        if (speeds[f] < 0)
          speeds[f] = speed;
    }
    for (double &speed : speeds)
      if (speed < 0)
        speed = 1;
    return speeds;
  }

private:
  struct Load {
    std::vector<std::pair<size_t, double>> flows;
  };

  /// The link that is full first, and the speed of its open flows then.
  std::pair<double, const Load *>
  nextFull(const std::vector<double> &speeds) const {
    double least = HUGE_VAL;
    const Load *full = nullptr;
    for (const auto &[id, link] : links) {
      double taken = 0, wanted = 0;
      for (auto [f, share] : link.flows)
        (speeds[f] < 0 ? wanted : taken) +=
            speeds[f] < 0 ? share : share * speeds[f];
      if (wanted <= 0)
        continue;
      const double speed = std::max(0.0, 1 - taken) / wanted;
      if (speed < least) {
        least = speed;
        full = &link;
      }
    }
    // Rounding must not leave a flow without any speed at all.
    return {std::max(least, 1e-9), full};
  }

  std::map<LinkId, Load> links;
};

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

class Sweep {
public:
  Sweep(const TimedTasks &tasks, const std::vector<LinkShares> &shares,
        int numDevices, bool overlap);
  std::vector<ActionTime> run();

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Device {
    std::vector<uint32_t> parts; ///< in order
    size_t next = 0;
    Picoseconds local = 0, network = 0; ///< when the queues are free
    std::queue<uint32_t> issued;        ///< communication that has not ended
    uint32_t waitsFor = kNone; ///< a part, in the way of the local queue
  };
  /// A start or an end; earlier ones first, of flows in order.
  struct Event {
    Picoseconds time;
    uint32_t flow;
    int version; ///< -1: a start
    bool operator>(const Event &o) const {
      return std::tie(time, flow, version) >
             std::tie(o.time, o.flow, o.version);
    }
  };

  const Task &taskOf(uint32_t part) const { return tasks.all()[task[part]]; }
  /// Does what a device can do without another communication ending.
  void advance(Device &device);
  /// A part has come to the front of its device's network queue.
  void comeToFront(uint32_t part);
  /// Starts a flow if all its parts, or those it meets, have come.
  void startIfReady(uint32_t flow);
  void end(uint32_t flow, Picoseconds now);
  void changeSpeeds(Picoseconds now);

  const TimedTasks &tasks;
  const bool overlap;
  std::vector<uint32_t> task, flowOf;       ///< by part
  std::vector<std::vector<uint32_t>> meets; ///< parts of an exchange, by part
  std::vector<Flow> flows;
  std::vector<uint32_t> running;
  std::vector<Device> devices;
  std::vector<ActionTime> times;
  std::vector<bool> atFront, ended; ///< by part
  FairSpeeds fairSpeeds;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
};

} // namespace

Sweep::Sweep(const TimedTasks &tasks, const std::vector<LinkShares> &shares,
             int numDevices, bool overlap)
    : tasks(tasks), overlap(overlap), task(tasks.numParts()),
      flowOf(tasks.numParts(), kNone), meets(tasks.numParts()),
      devices(numDevices), times(tasks.numParts()), atFront(tasks.numParts()),
      ended(tasks.numParts()) {
  for (uint32_t t = 0; t < tasks.all().size(); ++t) {
    const Task &each = tasks.all()[t];
    for (uint32_t p = each.firstPart; p < each.endPart; ++p) {
      task[p] = t;
      devices[tasks.part(p).device].parts.push_back(p);
      if (each.kind != Kind::Exchange && each.kind != Kind::Collective)
        continue;
      const bool whole = each.kind == Kind::Collective;
      if (!whole || p == each.firstPart)
        flows.push_back({p, whole ? each.endPart : p + 1, &shares[p],
                         static_cast<double>(tasks.part(p).duration)});
      flowOf[p] = static_cast<uint32_t>(flows.size()) - 1;
    }
    for (uint32_t p = each.firstPart; p < each.endPart; ++p)
      tasks.eachMet(each, p,
                    [&](uint32_t other) { meets[p].push_back(other); });
  }
}

void Sweep::advance(Device &device) {
  while (device.next < device.parts.size()) {
    if (device.waitsFor != kNone) {
      if (!ended[device.waitsFor])
        return;
      device.local = std::max(device.local, times[device.waitsFor].end);
      device.waitsFor = kNone;
    }
    const uint32_t part = device.parts[device.next];
    ActionTime &time = times[part];
    switch (taskOf(part).kind) {
    case Kind::Local:
      time.busy = tasks.part(part).duration;
      time.start = device.local;
      time.end = device.local += time.busy;
      break;
    case Kind::Wait: {
      const uint32_t waited = taskOf(part).waited;
      if (!ended[waited])
        return;
      time.start = device.local;
      time.end = device.local = std::max(device.local, times[waited].end);
      break;
    }
    case Kind::Collective:
    case Kind::Exchange:
      time.start = device.local;
      if (!overlap)
        device.waitsFor = part;
      device.issued.push(part);
      if (device.issued.size() == 1)
        comeToFront(part);
      break;
    }
    ++device.next;
  }
}

void Sweep::comeToFront(uint32_t part) {
  times[part].start =
      std::max(times[part].start, devices[tasks.part(part).device].network);
  atFront[part] = true;
  startIfReady(flowOf[part]);
  for (uint32_t other : meets[part])
    startIfReady(flowOf[other]);
}

void Sweep::startIfReady(uint32_t number) {
  Flow &flow = flows[number];
  flow.start = 0;
  auto isReady = [&](uint32_t part) {
    flow.start = std::max(flow.start, times[part].start);
    return atFront[part];
  };
  for (uint32_t p = flow.firstPart; p < flow.endPart; ++p)
    if (!isReady(p))
      return;
  for (uint32_t other : meets[flow.firstPart])
    if (!isReady(other))
      return;
  events.push({flow.start, number, -1});
}

void Sweep::end(uint32_t number, Picoseconds now) {
  running.erase(std::find(running.begin(), running.end(), number));
  const Flow &flow = flows[number];
  for (uint32_t p = flow.firstPart; p < flow.endPart; ++p) {
    times[p].end = now;
    times[p].busy = now - flow.start;
    ended[p] = true;
  }
  for (uint32_t p = flow.firstPart; p < flow.endPart; ++p) {
    Device &device = devices[tasks.part(p).device];
    device.network = now;
    device.issued.pop();
    if (!device.issued.empty())
      comeToFront(device.issued.front());
    advance(device);
  }
}

void Sweep::changeSpeeds(Picoseconds now) {
  std::vector<const Flow *> all;
  for (uint32_t number : running)
    all.push_back(&flows[number]);
  const std::vector<double> speeds = fairSpeeds(all);
  for (size_t i = 0; i < running.size(); ++i) {
    Flow &flow = flows[running[i]];
    // Who keeps its speed keeps its end, without another rounding.
    if (flow.speed == speeds[i])
      continue;
    flow.left -= flow.speed * static_cast<double>(now - flow.since);
    flow.left = std::max(flow.left, 0.0);
    flow.since = now;
    flow.speed = speeds[i];
    const double rest = std::min(std::ceil(flow.left / flow.speed),
                                 static_cast<double>(kMaxCost));
    events.push(
        {now + static_cast<Picoseconds>(rest), running[i], ++flow.version});
  }
}

std::vector<ActionTime> Sweep::run() {
  for (Device &device : devices)
    advance(device);
  while (!events.empty()) {
    const Picoseconds now = events.top().time;
    // Speeds change once for all that happens at once.
    while (!events.empty() && events.top().time == now) {
      const Event event = events.top();
      events.pop();
      Flow &flow = flows[event.flow];
      if (event.version < 0) {
        flow.since = now;
        running.push_back(event.flow);
      } else if (event.version == flow.version) {
        end(event.flow, now);
      }
    }
    changeSpeeds(now);
  }
  return std::move(times);
}

std::vector<ActionTime>
ffc::plan::timeWithSharedLinks(const TimedTasks &tasks,
                               const std::vector<LinkShares> &shares,
                               int numDevices, bool overlap) {
  return Sweep(tasks, shares, numDevices, overlap).run();
}

Timeline ffc::plan::timeWithSharedLinks(const Graph &graph,
                                        const Strategy &strategy,
                                        const Program &program,
                                        const Topology &topology,
                                        const CostModel &cost) {
  const TimedTasks tasks(graph, strategy, program, cost);
  const std::vector<ActionTime> times =
      timeWithSharedLinks(tasks, linkSharesOf(program, tasks, topology, cost),
                          topology.numDevices(), cost.overlaps());
  Timeline line;
  line.overlaps = cost.overlaps();
  for (const DeviceProgram &device : program.devices)
    line.devices.emplace_back(device.actions.size());
  const size_t microBatchEnd = numMicroBatchActions(program);
  Picoseconds others = 0;
  for (size_t part = 0; part < times.size(); ++part) {
    const ActionRef ref = program.order[part];
    ActionTime &time = line.devices[ref.device][ref.index];
    time = times[part];
    time.start += others;
    time.end += others;
    line.makespan = std::max(line.makespan, time.end);
    if (part + 1 == microBatchEnd) {
      others = otherMicroBatches(graph, line.makespan);
      line.makespan += others;
    }
  }
  return line;
}
