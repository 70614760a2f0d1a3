//===- ScheduleTime.cpp - how long a schedule takes -----------------------===//

#include "ScheduleTime.h"

#include <algorithm>

using namespace ffc::plan;

namespace {

/// When every member has, or may send, every chunk; in seconds.
class ReadyTimes {
public:
  explicit ReadyTimes(const CollectiveSchedule &schedule)
      : chunks(static_cast<size_t>(schedule.chunks)),
        times(static_cast<size_t>(schedule.members) * chunks) {}

  double of(int member, int chunk) const {
    return times[static_cast<size_t>(member) * chunks +
                 static_cast<size_t>(chunk)];
  }
  void arrives(int member, int chunk, double time) {
    double &at = times[static_cast<size_t>(member) * chunks +
                       static_cast<size_t>(chunk)];
    at = std::max(at, time);
    last = std::max(last, time);
  }
  double end() const { return last; }

private:
  const size_t chunks;
  std::vector<double> times;
  double last = 0;
};

} // namespace

namespace {
/// Transfers that reduce, or those that do not.
struct Span {
  size_t begin, end;
};
} // namespace

/// Of chunks without bytes: nobody waits for a link.
static double latencyOf(const CollectiveSchedule &schedule, Span span,
                        const MemberGraph &graph) {
  ReadyTimes ready(schedule);
  std::vector<int> started(static_cast<size_t>(schedule.members));
  for (size_t i = span.begin; i < span.end; ++i) {
    const ChunkTransfer &t = schedule.transfers[i];
    const double launches =
        static_cast<double>(graph.launch(t.src)) * 1e-12 * started[t.src]++;
    ready.arrives(t.dst, t.chunk,
                  std::max(ready.of(t.src, t.chunk), launches) +
                      static_cast<double>(graph.way(t.src, t.dst).latency) *
                          1e-12);
  }
  return ready.end();
}

/// Without latencies.
static double transmission(const CollectiveSchedule &schedule, Span span,
                           const MemberGraph &graph, double bytes) {
  const double chunkBytes = bytes / schedule.chunks;
  ReadyTimes ready(schedule);
  std::vector<double> freeAt(graph.bandwidths().size());
  for (size_t i = span.begin; i < span.end; ++i) {
    const ChunkTransfer &t = schedule.transfers[i];
    const MemberGraph::Way &way = graph.way(t.src, t.dst);
    double start = ready.of(t.src, t.chunk);
    for (int link : way.links)
      start = std::max(start, freeAt[link]);
    for (int link : way.links)
      freeAt[link] = start + chunkBytes / graph.bandwidths()[link];
    ready.arrives(t.dst, t.chunk, start + chunkBytes / way.bandwidth);
  }
  return ready.end();
}

ScheduleTime ffc::plan::timeOf(const CollectiveSchedule &schedule,
                               const MemberGraph &graph) {
  ScheduleTime time;
  constexpr double kBytes = 1 << 30; // all is linear in them
  for (Span span : {Span{0, schedule.reducing},
                    Span{schedule.reducing, schedule.transfers.size()}}) {
    time.latency +=
        static_cast<Picoseconds>(latencyOf(schedule, span, graph) * 1e12 + 0.5);
    time.secondsPerByte += transmission(schedule, span, graph, kBytes) / kBytes;
  }
  return time;
}

std::vector<double> ffc::plan::loadsOf(const CollectiveSchedule &schedule,
                                       const MemberGraph &graph) {
  std::vector<double> loads(graph.bandwidths().size());
  for (const ChunkTransfer &transfer : schedule.transfers)
    for (int link : graph.way(transfer.src, transfer.dst).links)
      loads[link] += 1.0 / schedule.chunks;
  return loads;
}
