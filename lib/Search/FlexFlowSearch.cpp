//===- FlexFlowSearch.cpp - searches by FlexFlow's simulator --------------===//

#include "ffc/Search/FlexFlowSearch.h"

#include "FlexFlowMoves.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

/// Rounds of annealing, each from the best strategy so far. A proposal that
/// takes longer by this share of the time of a step, at the start and at the
/// end of a round, is accepted with probability 1 / e.
constexpr int kRounds = 4;
constexpr double kWarmest = 1e-2, kColdest = 3e-5;

/// At the clock, and at whether it is to stop.
constexpr int64_t kProposalsBetweenLooks = 32;

class Annealing {
public:
  Annealing(const FlexFlowModel &model, const Options &options)
      : model(model), options(options), random(options.seed), moves(model),
        timer(model), best(timer.strategy()), bestTime(timer.time()) {}

  FlexFlowResult run();

private:
  using Clock = std::chrono::steady_clock;

  FlexFlowStrategy recipe(const FlexFlowSplit &split, int samples,
                          bool linearTogether) const;
  void tryRecipes();
  void anneal();
  /// How much longer than now a proposal may take; drawn by Metropolis's rule.
  float uphill(double share);
  /// Of the budget of proposals or time, 0 to 1.
  double shareDone() const;
  void showProgress(double share) const;
  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  void keepBest();

  const FlexFlowModel &model;
  const Options &options;
  Random random;
  FlexFlowMoves moves;
  FlexFlowTimer timer;
  FlexFlowStrategy best;
  float bestTime;
  int64_t budget = 0, proposals = 0, accepted = 0;
  Clock::time_point begin = Clock::now();
};

} // namespace

/// The more parts, the more there is to place; but not more than take some
/// seconds.
static int64_t defaultProposals(const FlexFlowModel &model) {
  constexpr int64_t kLeast = 100'000, kPerPart = 1100, kParts = 112'000'000;
  const auto parts = static_cast<int64_t>(model.layers().size()) *
                     model.machine().numDevices();
  return std::max<int64_t>(
      std::min(std::max(kLeast, kPerPart * parts), kParts / parts), 10'000);
}

void Annealing::keepBest() {
  if (timer.time() >= bestTime)
    return;
  bestTime = timer.time();
  best = timer.strategy();
}

double Annealing::shareDone() const {
  const double share =
      static_cast<double>(proposals) / static_cast<double>(budget);
  return options.seconds > 0 ? std::max(share, elapsed() / options.seconds)
                             : share;
}

void Annealing::showProgress(double share) const {
  if (!options.progress)
    return;
  const auto picoseconds = [](float ms) {
    return static_cast<Picoseconds>(static_cast<double>(ms) * 1e9);
  };
  Progress progress;
  progress.best = picoseconds(bestTime);
  progress.current = picoseconds(timer.time());
  progress.proposals = proposals;
  progress.accepted = accepted;
  progress.share = share;
  options.progress(progress);
}

/// All layers as `split` has samples, but linear ones in `samples` parts of
/// them, on the same devices, block by block, or all on the first one.
FlexFlowStrategy Annealing::recipe(const FlexFlowSplit &split, int samples,
                                   bool linearTogether) const {
  FlexFlowStrategy strategy;
  for (int layer = 0; layer < static_cast<int>(model.layers().size());
       ++layer) {
    if (!model.layers()[layer].isLinear()) {
      strategy.push_back(split);
      continue;
    }
    FlexFlowSplit linear = placedAlike(model, layer, split, samples);
    const auto numParts = static_cast<size_t>(linear.numParts());
    for (size_t part = 0; part < numParts; ++part)
      linear.devices[part] =
          split.devices[linearTogether ? 0 : part * split.samples / numParts];
    strategy.push_back(std::move(linear));
  }
  return strategy;
}

/// On 1, 2, 4, ... devices, the first ones or every k-th one.
void Annealing::tryRecipes() {
  const int numDevices = model.machine().numDevices();
  for (int devices = 1; devices <= numDevices; devices *= 2)
    for (int stride = 1; stride * devices <= numDevices; stride *= 2) {
      FlexFlowSplit split;
      split.samples = devices;
      for (int i = 0; i < devices; ++i)
        split.devices.push_back(i * stride);
      for (int samples = 1; samples <= numDevices; samples *= 2)
        for (bool linearTogether : {false, true}) {
          timer.assign(recipe(split, samples, linearTogether));
          keepBest();
        }
    }
}

float Annealing::uphill(double share) {
  return static_cast<float>(-std::log(random.unit()) * share) * timer.time();
}

void Annealing::anneal() {
  FlexFlowMoves::Changes changes;
  int round = -1;
  double warmth = 0;
  for (; proposals < budget; ++proposals) {
    if (proposals % kProposalsBetweenLooks == 0) {
      const double share = shareDone();
      if (share >= 1 || (options.stop && *options.stop))
        return;
      showProgress(share);
      const double at = share * kRounds;
      if (static_cast<int>(at) != round)
        timer.assign(best);
      round = static_cast<int>(at);
      warmth = kWarmest * std::pow(kColdest / kWarmest, at - round);
    }
    const float limit = timer.time() + uphill(warmth);
    moves.draw(timer.strategy(), random, changes);
    if (timer.propose(changes, limit) > limit) {
      timer.reject(changes);
      continue;
    }
    timer.accept();
    ++accepted;
    keepBest();
  }
}

FlexFlowResult Annealing::run() {
  FlexFlowResult result;
  result.dataParallel = timer.time();
  budget = options.budget.value_or(options.seconds > 0
                                       ? std::numeric_limits<int64_t>::max()
                                       : defaultProposals(model));
  tryRecipes();
  result.start = bestTime;
  anneal();
  result.strategy = best;
  result.time = bestTime;
  result.proposals = proposals;
  result.accepted = accepted;
  result.seconds = elapsed();
  return result;
}

FlexFlowResult search::searchByFlexFlow(const FlexFlowModel &model,
                                        const Options &options) {
  return Annealing(model, options).run();
}
