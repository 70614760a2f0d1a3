//===- Recompute.cpp - strategies that keep less --------------------------===//

#include "ffc/Search/Recompute.h"

#include "KernelTime.h"
#include "ffc/Plan/Recomputation.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// By operator: does the backward pass need its results, directly or to compute
/// others again?
static std::vector<bool> neededBackward(const Graph &graph) {
  std::vector<bool> needed(graph.ops.size());
  for (auto id = static_cast<OpId>(graph.ops.size()); id-- > 0;)
    for (ValueId result : graph.op(id).results)
      if (result >= 0)
        for (const Use &use : graph.value(result).uses)
          if (graph.op(use.op).role == OpRole::Gradient || needed[use.op])
            needed[id] = true;
  return needed;
}

Recomputable::Recomputable(const Graph &graph, const CostModel &cost)
    : graph(graph) {
  const std::vector<bool> needed = neededBackward(graph),
                          can = canBeAgain(graph);
  std::vector<int> place(graph.ops.size(), -1);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (graph.op(id).role == OpRole::Forward && can[id] && needed[id]) {
      place[id] = static_cast<int>(forward.size());
      forward.push_back(id);
    }
  crossing.assign(forward.size() + 1, 0);
  for (size_t at = 0; at < forward.size(); ++at) {
    int64_t all = 0;
    size_t last = at;
    for (ValueId result : graph.op(forward[at]).results) {
      if (result < 0)
        continue;
      const Value &value = graph.value(result);
      all += value.type.bytes();
      size_t reader = at;
      for (const Use &use : value.uses)
        if (place[use.op] >= 0)
          reader = std::max(reader, static_cast<size_t>(place[use.op]));
      for (size_t i = at; i < reader; ++i)
        crossing[i] += value.type.bytes();
      last = std::max(last, reader);
    }
    bytes.push_back(all);
    lastReader.push_back(last);
    perByte.push_back(
        static_cast<double>(kernelTime(graph, forward[at], 1, cost)) /
        static_cast<double>(std::max<int64_t>(all, 1)));
  }
}

/// The last place of each segment but the last one.
std::vector<size_t> Recomputable::cuts(int segments) const {
  const int64_t all = std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
  std::vector<size_t> result;
  int64_t sum = 0;
  size_t at = 0;
  for (int s = 1; s < segments; ++s) {
    // Among the places that end about so many bytes.
    const auto from =
        static_cast<int64_t>((s - 0.5) / segments * static_cast<double>(all));
    const auto to =
        static_cast<int64_t>((s + 0.5) / segments * static_cast<double>(all));
    size_t best = forward.size();
    for (; at < forward.size() && sum + bytes[at] <= to; ++at) {
      sum += bytes[at];
      if (sum >= from &&
          (best == forward.size() || crossing[at] < crossing[best]))
        best = at;
    }
    if (best + 1 < forward.size())
      result.push_back(best);
  }
  return result;
}

int64_t Recomputable::bytesOf(int segments) const {
  int64_t kept = 0, all = 0;
  for (size_t cut : cuts(segments))
    kept += crossing[cut];
  for (int64_t each : bytes)
    all += each;
  return kept + all / segments;
}

int Recomputable::leastSegments() const {
  constexpr int kMost = 1024;
  int least = 1;
  for (int segments = 2; segments <= kMost; segments *= 2)
    if (bytesOf(segments) < bytesOf(least))
      least = segments;
  return least;
}

std::vector<OpId> Recomputable::chosen(const Checkpoints &checkpoints) const {
  const std::vector<size_t> ends = cuts(checkpoints.segments);
  const size_t end = ends.empty() ? forward.size() : ends.back() + 1;
  std::vector<size_t> places;
  size_t segment = 0;
  int64_t all = 0;
  for (size_t at = 0; at < end; ++at) {
    if (segment < ends.size() && ends[segment] < at)
      ++segment;
    const bool isKept = segment < ends.size() && lastReader[at] > ends[segment];
    if (isKept)
      continue;
    places.push_back(at);
    all += bytes[at];
  }
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return perByte[a] < perByte[b]; });
  std::vector<OpId> result;
  double left = checkpoints.share * static_cast<double>(all);
  for (size_t at : places) {
    if (left < static_cast<double>(bytes[at]))
      break;
    left -= static_cast<double>(bytes[at]);
    result.push_back(forward[at]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Which ones
//===----------------------------------------------------------------------===//

std::string Recomputation::describe() const {
  auto count = [](int number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text = name;
  if (operators > 0)
    text += ", " + count(operators, "operator") + " computed again";
  if (parameters > 0)
    text += ", " + count(parameters, "parameter") + " sent again";
  return text;
}

namespace {

class RecomputeSearch {
public:
  RecomputeSearch(PlanJudge &judge, const Quality &best,
                  const std::function<bool()> &goesOn)
      : judge(judge), graph(judge.planning().graph), best(best),
        isFarOff(search::isFarOff(best, graph,
                                  judge.planning().topology.numDevices())),
        goesOn(goesOn), recomputable(graph, judge.planning().cost),
        begin(judge.work()) {}

  std::optional<Recomputation> run(std::vector<Unfitting> starts) {
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Unfitting &a, const Unfitting &b) {
                       return a.makespan < b.makespan;
                     });
    int64_t divisor = 1;
    for (const Unfitting &start : starts) {
      if ((best.fits() && start.makespan >= best.makespan) ||
          divisor > kMostWork || judge.work() - begin >= PlanJudge::kMostWork)
        break;
      if (isFarOff) {
        tryLarge(start);
        continue;
      }
      tryStart(start, divisor);
      divisor *= 2;
    }
    return std::move(found);
  }

private:
  /// What is done for the first start, as PlanJudge::work() counts, and then to
  /// keep more; half of it for each that follows. But so many are tried.
  static constexpr int64_t kMostWork = 200000, kMostToKeep = 50000;
  static constexpr int kFewest = 16;

  void tryStart(const Unfitting &start, int64_t divisor) {
    left = kFewest / static_cast<int>(divisor);
    end = judge.work() + kMostWork / divisor;
    const bool isShared = !updatesOfMany(start.strategy).empty();
    const int most = static_cast<int>(recomputable.operators().size());
    if (isShared)
      tryOne(start, {}, true);
    for (int segments = 1; segments <= std::max(most / 2, 1);
         segments += std::max(segments / 2, 1))
      for (double share : {1.0, 0.75, 0.5, 0.25}) {
        const std::vector<OpId> again = recomputable.chosen({segments, share});
        tryOne(start, again, false);
        if (isShared)
          tryOne(start, again, true);
      }
    left = kFewest / static_cast<int>(divisor);
    end = judge.work() + kMostToKeep / divisor;
    if (found && found->name == start.name)
      keepMore(start);
  }

  /// Few plans, each of which takes a second or more: the number of segments
  /// with which least is there at once, then more is kept while that fits.
  void tryLarge(const Unfitting &start) {
    left = kFewest;
    for (double share : {1.0, 0.75, 0.5, 0.25}) {
      const auto quality = tryOne(
          start, recomputable.chosen({recomputable.leastSegments(), share}),
          false);
      if (!quality || !quality->fits())
        return;
    }
  }

  /// Updates of parameters that several devices have: they send each other
  /// parts, or make parts of what they have, for their readers.
  std::vector<OpId> updatesOfMany(const Strategy &strategy) const {
    std::vector<OpId> result;
    for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
      if (graph.op(op).role == OpRole::Update && strategy[op].numPoints() > 1)
        result.push_back(op);
    return result;
  }

  /// Nothing if that was not tried.
  std::optional<Quality> tryOne(const Unfitting &start,
                                const std::vector<OpId> &again,
                                bool sentAgain) {
    if ((again.empty() && !sentAgain) || (--left < 0 && judge.work() >= end) ||
        judge.work() - begin >= PlanJudge::kMostWork || (goesOn && !goesOn()))
      return std::nullopt;
    Recomputation one{start.name, start.strategy, start.schedule, {}, 0, 0};
    for (OpId op : again)
      one.strategy[op].again = true;
    one.operators = static_cast<int>(again.size());
    if (sentAgain)
      for (OpId update : updatesOfMany(start.strategy)) {
        one.strategy[update].again = true;
        ++one.parameters;
      }
    one.quality = judge.qualityIfBetter(one.strategy, one.schedule, best);
    if (one.quality < best) {
      best = one.quality;
      found = std::move(one);
      return best;
    }
    return one.quality;
  }

  /// Keeps what need not be computed again: large parts of it first, those that
  /// take longest for a byte.
  void keepMore(const Unfitting &start) {
    for (size_t parts = 2; parts <= 64; parts *= 2)
      for (size_t part = 0; part < parts; ++part) {
        std::vector<OpId> again;
        for (OpId op : recomputable.operators())
          if (found->strategy[op].again)
            again.push_back(op);
        if (again.size() < parts)
          return;
        const auto first = again.begin() + static_cast<std::ptrdiff_t>(
                                               part * again.size() / parts);
        const auto last =
            again.begin() +
            static_cast<std::ptrdiff_t>((part + 1) * again.size() / parts);
        again.erase(first, last);
        tryOne(start, again, found->parameters > 0);
      }
  }

  PlanJudge &judge;
  const Graph &graph;
  Quality best;
  const bool isFarOff; ///< at the beginning
  const std::function<bool()> &goesOn;
  Recomputable recomputable;
  const int64_t begin; ///< work that was done before
  int left = 0;        ///< to try whatever the work
  int64_t end = 0;     ///< of the work
  std::optional<Recomputation> found;
};

} // namespace

std::optional<Recomputation>
search::bestRecomputation(PlanJudge &judge, std::vector<Unfitting> starts,
                          const Quality &best,
                          const std::function<bool()> &goesOn) {
  return RecomputeSearch(judge, best, goesOn).run(std::move(starts));
}
