//===- Search.cpp - finds a strategy --------------------------------------===//

#include "ffc/Search/Search.h"

#include "Chain.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

using Clock = std::chrono::steady_clock;

/// The order of answers: what fits first, then the faster.
template <class A, class B> bool isBetter(const A &a, const B &b) {
  return a.fits != b.fits ? a.fits : a.makespan < b.makespan;
}

class Run {
public:
  Run(const Graph &graph, const Topology &topology, const CostModel &cost,
      const Options &options)
      : space(graph, topology.numDevices()), cost(cost), options(options),
        begin(Clock::now()) {
    for (DeviceId d = 0; d < topology.numDevices(); ++d)
      room.push_back(options.memoryLimit ? options.memoryLimit
                                         : topology.kindOf(d).memoryBytes);
    result.bound = lowerBound(graph, topology);
  }

  Result run() {
    Walker walker(space, cost);
    tryBaselines(walker);
    makeChains();
    runChains();
    const Baseline &first = result.baselines.front();
    result.strategy = first.strategy;
    result.makespan = first.makespan;
    result.fits = first.fits;
    for (const auto &chain : chains) {
      result.proposals += chain->proposals();
      result.accepted += chain->accepted();
      struct {
        bool fits;
        Picoseconds makespan;
      } found{chain->bestFits(), chain->bestMakespan()};
      if (!isBetter(found, result))
        continue;
      result.strategy = chain->best();
      result.makespan = found.makespan;
      result.fits = found.fits;
    }
    walker.assign(result.strategy);
    for (int64_t bytes : walker.memory())
      result.bytesPerDevice = std::max(result.bytesPerDevice, bytes);
    result.seconds = secondsSinceStart();
    return std::move(result);
  }

private:
  double secondsSinceStart() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void tryBaselines(Walker &walker) {
    result.baselines = baselines(space, options.pinned, walker);
    if (options.start) {
      walker.assign(*options.start);
      result.baselines.push_back(
          {"given", *options.start, walker.makespan(), true});
    }
    for (Baseline &baseline : result.baselines) {
      walker.assign(baseline.strategy);
      baseline.fits = fitsInto(walker.memory(), room);
    }
    std::stable_sort(result.baselines.begin(), result.baselines.end(),
                     isBetter<Baseline, Baseline>);
  }

  /// Chains start from the best recipes in turn.
  void makeChains() {
    int64_t each = options.budget / options.chains;
    if (each == 0 || space.numDevices() == 1)
      return;
    size_t starts = std::min<size_t>(result.baselines.size(), 3);
    for (int c = 0; c < options.chains; ++c)
      chains.push_back(std::make_unique<Chain>(
          space, cost, options, room, each,
          options.seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(c),
          result.baselines[static_cast<size_t>(c) % starts]));
  }

  bool stopped() const {
    return (options.stop && *options.stop) ||
           (options.seconds > 0 && secondsSinceStart() >= options.seconds);
  }

  /// Chains do not know of each other, so that it does not matter which thread
  /// runs which, and when.
  void runChains() {
    constexpr int64_t kAtOnce = 64;
    int threads = options.threads
                      ? options.threads
                      : static_cast<int>(std::thread::hardware_concurrency());
    threads = std::clamp(threads, 1, std::max(1, int(chains.size())));
    std::atomic<size_t> next{0};
    auto work = [&](bool reports) {
      for (size_t c; (c = next++) < chains.size();)
        while (!stopped() && chains[c]->run(kAtOnce))
          if (reports && options.progress)
            report(*chains[c], static_cast<double>(c));
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t)
      others.emplace_back(work, false);
    work(true);
    for (std::thread &other : others)
      other.join();
  }

  void report(const Chain &chain, double before) {
    Progress progress;
    progress.best =
        std::min(chain.bestMakespan(), result.baselines.front().makespan);
    progress.current = chain.current();
    progress.proposals = chain.proposals();
    progress.accepted = chain.accepted();
    double each = static_cast<double>(options.budget / options.chains);
    progress.share = (before + static_cast<double>(chain.proposals()) / each) /
                     options.chains;
    if (options.seconds > 0)
      progress.share =
          std::max(progress.share, secondsSinceStart() / options.seconds);
    options.progress(progress);
  }

  Space space;
  const CostModel &cost;
  const Options &options;
  Clock::time_point begin;
  std::vector<int64_t> room;
  std::vector<std::unique_ptr<Chain>> chains;
  Result result;
};

} // namespace

Result search::searchStrategy(const Graph &graph, const Topology &topology,
                              const CostModel &cost, const Options &options) {
  return Run(graph, topology, cost, options).run();
}
