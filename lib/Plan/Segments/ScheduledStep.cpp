//===- ScheduledStep.cpp - a step with a schedule, by segments ------------===//

#include "ffc/Plan/ScheduledStep.h"

#include "BufferLives.h"

#include <algorithm>

using namespace ffc::plan;

int64_t ffc::plan::numPoints(const Strategy &strategy) {
  int64_t points = 0;
  for (const Configuration &config : strategy)
    points += config.numPoints();
  return points;
}

namespace {

/// What is done in a step, in its order.
class StepItems : public StepWalk::Sink {
public:
  void run(const TimedTasks &tasks) override {
    if (!tasks.empty())
      add(Kind::Run, &tasks);
  }
  void start(int id, const TimedTasks &tasks) override {
    starts.push_back({&tasks, numMarks, false});
    numMarks += tasks.numParts();
    add(Kind::Start, &tasks, id);
  }
  void wait(int id, StepWalk::Waiting who,
            const std::vector<DeviceId> &receivers) override {
    Item &item = add(Kind::Wait, starts[id].tasks, id);
    item.who = who;
    item.receivers = receivers;
  }
  void endMicroBatch() override { add(Kind::EndMicroBatch, nullptr); }

  Picoseconds sweep(const Graph &graph, size_t devices, bool overlaps) {
    if (!overlaps)
      markLate(devices);
    std::vector<Picoseconds> local(devices), network(devices), receive(devices);
    QueueTimes times(local.data(), local.data());
    if (overlaps)
      times = {local.data(), network.data(), receive.data()};
    std::vector<Picoseconds> marks(numMarks);
    auto last = [&] {
      Picoseconds most = 0;
      for (const auto *queues : {&local, &network, &receive})
        most =
            std::max(most, *std::max_element(queues->begin(), queues->end()));
      return most;
    };
    for (const Item &item : items)
      switch (item.kind) {
      case Kind::Run:
        item.tasks->advance(times);
        break;
      case Kind::Start:
        item.tasks->begin(times, starts[item.id].isLate,
                          marks.data() + starts[item.id].firstMark);
        break;
      case Kind::Wait:
        item.tasks->finish(times.local, starts[item.id].isLate,
                           marks.data() + starts[item.id].firstMark,
                           [&](DeviceId device) { return item.is(device); });
        break;
      case Kind::EndMicroBatch: {
        const Picoseconds others = otherMicroBatches(graph, last());
        for (auto *queues : {&local, &network, &receive})
          for (Picoseconds &time : *queues)
            time += others;
        break;
      }
      }
    return last();
  }

private:
  enum class Kind : uint8_t { Run, Start, Wait, EndMicroBatch };
  struct Item {
    Kind kind = Kind::Run;
    const TimedTasks *tasks = nullptr;
    int id = -1;
    StepWalk::Waiting who = StepWalk::Waiting::All;
    std::vector<DeviceId> receivers;

    /// Does the device wait?
    bool is(DeviceId device) const {
      return who == StepWalk::Waiting::All ||
             std::binary_search(receivers.begin(), receivers.end(), device) ==
                 (who == StepWalk::Waiting::Receivers);
    }
  };
  struct Started {
    const TimedTasks *tasks;
    size_t firstMark; ///< of its parts
    bool isLate;
  };

  Item &add(Kind kind, const TimedTasks *tasks, int id = -1) {
    Item &item = items.emplace_back();
    item.kind = kind;
    item.tasks = tasks;
    item.id = id;
    return item;
  }

  /// Where devices do not communicate beside their kernels, messages pass in
  /// the wait if something else is done before.
  void markLate(size_t devices) {
    std::vector<size_t> last(devices);
    std::vector<size_t> startedAt(starts.size());
    for (size_t i = 0; i < items.size(); ++i) {
      const Item &item = items[i];
      if (item.kind == Kind::EndMicroBatch)
        continue;
      if (item.kind == Kind::Start)
        startedAt[item.id] = i;
      item.tasks->eachDevice([&](DeviceId device) {
        if (item.kind == Kind::Wait) {
          if (!item.is(device))
            return;
          starts[item.id].isLate |= last[device] != startedAt[item.id];
        }
        last[device] = i;
      });
    }
  }

  std::vector<Item> items;
  std::vector<Started> starts;
  size_t numMarks = 0;
};

} // namespace

struct ScheduledStep::Order {
  Order(SegmentTable &table, const Strategy &strategy,
        const PipelineSchedule &schedule)
      : table(table), entries(table.order(strategy, schedule)) {
    for (const Configuration &config : strategy)
      configs.push_back(table.intern(config));
  }

  SegmentTable &table;
  StepOrder entries;
  std::vector<ConfigId> configs;
};

ScheduledStep::ScheduledStep(SegmentTable &table, const Strategy &strategy,
                             const PipelineSchedule &schedule)
    : order(std::make_unique<Order>(table, strategy, schedule)) {}
ScheduledStep::~ScheduledStep() = default;

std::optional<Picoseconds> ScheduledStep::time() const {
  const auto &[table, entries, configs] = *order;
  StepItems items;
  StepWalk walk(table, entries, configs, StepWalk::Wants::Times, items);
  if (!walk.run())
    return std::nullopt;
  return items.sweep(table.graph(), static_cast<size_t>(table.numDevices()),
                     table.cost().overlaps());
}

std::optional<std::vector<int64_t>> ScheduledStep::memory() const {
  const auto &[table, entries, configs] = *order;
  const BufferLives lives(table, entries, configs);
  if (!lives.isRegular())
    return std::nullopt;
  return mostBytes(lives, table.numDevices());
}
