//===- FlexFlowSearch.cpp - searches by FlexFlow's simulator --------------===//

#include "ffc/Search/FlexFlowSearch.h"

#include "FlexFlowMoves.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

/// Rounds of annealing, each from the best strategy so far, and the shares of
/// the time of a step that a proposal may take longer, at the start and at the
/// end of a round, to be accepted with probability 1 / e.
constexpr int kRounds = 4;
constexpr double kWarmest = 1e-2, kColdest = 1e-5;

class Annealing {
public:
  Annealing(const FlexFlowModel &model, const Options &options)
      : model(model), options(options), random(options.seed), moves(model),
        timer(model), best(timer.strategy()), bestTime(timer.time()) {}

  FlexFlowResult run();

private:
  using Clock = std::chrono::steady_clock;

  void tryRecipes();
  void round(int64_t first, int64_t last);
  /// How much longer than now a proposal may take; drawn by Metropolis's rule.
  float uphill(double share);
  bool isOver();
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

/// A proposal takes the longer the more parts there are. The default keeps to
/// a second on four devices and a few on sixteen.
static int64_t defaultProposals(const FlexFlowModel &model) {
  constexpr int64_t kParts = 12'000'000;
  const auto parts = static_cast<int64_t>(model.layers().size()) *
                     model.machine().numDevices();
  return std::clamp<int64_t>(kParts / parts, 10'000, 200'000);
}

void Annealing::keepBest() {
  if (timer.time() >= bestTime)
    return;
  bestTime = timer.time();
  best = timer.strategy();
}

bool Annealing::isOver() {
  return (options.stop && *options.stop) ||
         (options.seconds > 0 && elapsed() >= options.seconds);
}

/// Data parallelism; the first 1, 2, 4, ... devices, or every k-th one; of each
/// of these also with linear layers on the first device.
void Annealing::tryRecipes() {
  const int numDevices = model.machine().numDevices();
  const auto numLayers = static_cast<int>(model.layers().size());
  for (int devices = 1; devices <= numDevices; devices *= 2)
    for (int stride = 1; stride * devices <= numDevices; stride *= 2)
      for (int samples = 1; samples <= numDevices; samples *= 2) {
        FlexFlowSplit split;
        split.samples = devices;
        for (int i = 0; i < devices; ++i)
          split.devices.push_back(i * stride);
        for (bool together : {false, true}) {
          FlexFlowStrategy strategy;
          for (int layer = 0; layer < numLayers; ++layer) {
            const bool isLinear = model.layers()[layer].isLinear();
            FlexFlowSplit own =
                placedAlike(model, layer, split, isLinear ? samples : devices);
            for (size_t part = 0; isLinear && part < own.devices.size();
                 ++part)
              own.devices[part] =
                  together ? 0
                           : split.devices[part * devices / numDevices];
            strategy.push_back(std::move(own));
          }
          timer.assign(strategy);
          keepBest();
        }
      }
}

float Annealing::uphill(double share) {
  return static_cast<float>(-std::log(random.unit()) * share) * timer.time();
}

void Annealing::round(int64_t first, int64_t last) {
  timer.assign(best);
  FlexFlowMoves::Changes changes;
  for (int64_t i = first; i < last; ++i) {
    if (i % 64 == 0 && isOver())
      return;
    const double passed =
        static_cast<double>(i - first) / static_cast<double>(last - first);
    const double share = kWarmest * std::pow(kColdest / kWarmest, passed);
    const float limit = timer.time() + uphill(share);
    moves.draw(timer.strategy(), random, changes);
    ++proposals;
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
  budget = options.budget.value_or(defaultProposals(model));
  tryRecipes();
  result.start = bestTime;
  for (int number = 0; number < kRounds; ++number)
    round(budget * number / kRounds, budget * (number + 1) / kRounds);
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
