//===- PassOrder.cpp - the passes of a pipeline, in one order -------------===//

#include "PassOrder.h"

#include <algorithm>
#include <iterator>
#include <map>

using namespace ffc::plan;

namespace {

class PassOrder {
public:
  PassOrder(const std::vector<PassStage> &stages,
            const PipelineSchedule &schedule, bool overlaps, double travel)
      : stages(stages), schedule(schedule), overlaps(overlaps), travel(travel),
        ends(2 * stages.size()) {
    if (const int groups = interleavedGroups())
      for (int group = 0; group < groups; ++group)
        queues.push_back(interleaved(group, groups));
    else
      for (int stage = 0; stage < numStages(); ++stage)
        queues.push_back(passesOf(stage));
    next.resize(queues.size());
  }

  std::vector<TimedPass> run() {
    std::vector<TimedPass> order;
    for (;;) {
      int best = -1;
      double bestStart = 0;
      for (int queue = 0; queue < static_cast<int>(queues.size()); ++queue) {
        if (!isReady(queue))
          continue;
        const double start = startOf(front(queue));
        if (best < 0 || start < bestStart ||
            (start == bestStart &&
             depthOf(front(queue)) > depthOf(front(best)))) {
          best = queue;
          bestStart = start;
        }
      }
      if (best < 0)
        return order;
      order.push_back(front(best));
      ++next[best];
      finish(order.back(), bestStart);
    }
  }

private:
  using Kind = PassKind;

  int numStages() const { return static_cast<int>(stages.size()); }

  const TimedPass &front(int queue) const { return queues[queue][next[queue]]; }

  std::vector<TimedPass> passesOf(int stage) const {
    const int all = schedule.microBatches;
    const int later = numStages() - 1 - stage;
    const int warm = static_cast<int>(
        std::min<int64_t>(all, 1 + int64_t(schedule.ahead) * later));
    std::vector<TimedPass> result;
    // The last stage of GPipe does all forward passes first, too.
    int forward = schedule.ahead >= all && !schedule.defersWeights ? all : warm;
    for (int i = 0; i < forward; ++i)
      result.push_back({stage, Kind::Forward, i});
    const int64_t lag = int64_t(schedule.ahead) * stage;
    int weights = 0;
    for (int backward = 0; backward < all; ++backward) {
      result.push_back({stage, Kind::Backward, backward});
      if (schedule.defersWeights && backward >= lag)
        result.push_back({stage, Kind::Weights, weights++});
      if (forward < all)
        result.push_back({stage, Kind::Forward, forward++});
    }
    while (schedule.defersWeights && weights < all)
      result.push_back({stage, Kind::Weights, weights++});
    return result;
  }

  /// The number of groups of devices over which stages go several times, as
  /// long as 1F1B can be interleaved; else 0.
  int interleavedGroups() const {
    const int all = numStages();
    if (schedule.ahead != 1 || schedule.defersWeights)
      return 0;
    for (int groups = 2; groups < all; ++groups) {
      bool comesBack = all % groups == 0 && schedule.microBatches % groups == 0;
      for (int stage = 0; comesBack && stage < all; ++stage)
        for (int other = 0; comesBack && other < groups; ++other)
          comesBack = areDisjoint(stage, other) == (stage % groups != other);
      if (comesBack)
        return groups;
    }
    return 0;
  }

  bool areDisjoint(int a, int b) const {
    std::vector<DeviceId> both;
    std::set_intersection(stages[a].devices.begin(), stages[a].devices.end(),
                          stages[b].devices.begin(), stages[b].devices.end(),
                          std::back_inserter(both));
    return both.empty();
  }

  /// As many micro-batches as there are groups go through a group's first
  /// stage, then through its next one (Megatron-LM, figure 4).
  std::vector<TimedPass> interleaved(int group, int groups) const {
    const int times = numStages() / groups, all = schedule.microBatches * times;
    auto pass = [&](int i, Kind kind) -> TimedPass {
      const int round = i / groups % times,
                time = kind == Kind::Forward ? round : times - 1 - round;
      return {time * groups + group, kind,
              i / (groups * times) * groups + i % groups};
    };
    const int warm =
        std::min(all, 2 * (groups - group - 1) + (times - 1) * groups);
    std::vector<TimedPass> result;
    for (int i = 0; i < warm; ++i)
      result.push_back(pass(i, Kind::Forward));
    for (int i = 0; i < all; ++i) {
      if (warm + i < all)
        result.push_back(pass(warm + i, Kind::Forward));
      result.push_back(pass(i, Kind::Backward));
    }
    return result;
  }

  /// The stages of both passes in the order in which a micro-batch goes through
  /// them.
  int depthOf(const TimedPass &pass) const {
    switch (pass.kind) {
    case Kind::Forward:
      return pass.stage;
    case Kind::Backward:
      return 2 * numStages() - 1 - pass.stage;
    case Kind::Weights:
      break; // nobody waits for it
    }
    return -1;
  }

  bool isReady(int queue) const {
    if (next[queue] == queues[queue].size())
      return false;
    const TimedPass &pass = front(queue);
    const int before = depthOf(pass) - 1;
    return before < 0 ||
           static_cast<int>(ends[before].size()) > pass.microBatch;
  }

  double durationOf(const TimedPass &pass) const {
    return stages[pass.stage].durationOf(pass.kind);
  }

  double startOf(const TimedPass &pass) const {
    const int before = depthOf(pass) - 1;
    const bool isSent = before >= 0 && before != numStages() - 1;
    double start = before < 0 ? 0 : ends[before][pass.microBatch];
    if (isSent)
      start += travel;
    // What travels is asked for before the pass in front is done, if the stage
    // before is ahead by more than what it makes in between.
    if (overlaps && schedule.ahead > 1 && isSent)
      start += durationOf(pass);
    for (DeviceId device : stages[pass.stage].devices) {
      const auto it = busy.find(device);
      start = std::max(start, it == busy.end() ? 0 : it->second);
    }
    return start;
  }

  void finish(TimedPass &pass, double start) {
    pass.start = start;
    pass.end = start + durationOf(pass);
    if (pass.kind != Kind::Weights)
      ends[depthOf(pass)].push_back(pass.end);
    for (DeviceId device : stages[pass.stage].devices)
      busy[device] = pass.end;
  }

  const std::vector<PassStage> &stages;
  const PipelineSchedule &schedule;
  const bool overlaps;
  const double travel;
  /// Those of a stage or, interleaved, of a group of devices.
  std::vector<std::vector<TimedPass>> queues;
  std::vector<size_t> next;              ///< by queue
  std::vector<std::vector<double>> ends; ///< by depth and micro-batch
  std::map<DeviceId, double> busy;       ///< until when
};

} // namespace

std::vector<TimedPass>
ffc::plan::orderPasses(const std::vector<PassStage> &stages,
                       const PipelineSchedule &schedule, bool overlaps,
                       double travel) {
  return PassOrder(stages, schedule, overlaps, travel).run();
}
