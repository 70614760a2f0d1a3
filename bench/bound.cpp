//===- bound.cpp - do strategies take at least the lower bounds? ----------===//
//
// Random strategies, pipelines and recomputations, the recipes of experts, what
// a search finds, and neighbours of those, all planned and timed as programs.
// Prints one line of JSON with the bounds and the least time of each kind;
// fails if one is below a bound.
//
//===----------------------------------------------------------------------===//

#include "ReadGraph.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Search/CommunicationBound.h"
#include "ffc/Search/Search.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <map>

using namespace mlir;
using namespace ffc;
using plan::Picoseconds;

namespace {

namespace cl = llvm::cl;
cl::opt<int> numStrategies("strategies", cl::init(1000));
cl::opt<bool> boundsOnly("bounds-only", cl::desc("no strategies"));
cl::opt<unsigned> seed("seed", cl::init(1));

double milliseconds(Picoseconds time) {
  return static_cast<double>(time) * 1e-9;
}

class Run {
public:
  Run(const plan::Graph &graph, const plan::Topology &topology,
      const plan::CostModel &cost)
      : graph(graph), topology(topology), cost(cost),
        space(graph, topology.numDevices()), random(seed), draw(seed) {}

  llvm::json::Object run() {
    const auto begin = std::chrono::steady_clock::now();
    device = search::lowerBound(graph, topology);
    bound = search::communicationBound(graph, topology, device);
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;

    if (boundsOnly)
      return llvm::json::Object{{"device_bound_ms", milliseconds(device)},
                                {"bound_ms", milliseconds(bound)},
                                {"bounds_s", took.count()},
                                {"below", 0}};

    search::Options options;
    options.threads = 1;
    const search::Result found =
        search::searchStrategy(graph, topology, cost, options);
    time("searched", found.strategy);
    std::vector<const plan::Strategy *> good = {&found.strategy};
    for (const search::Baseline &recipe : found.baselines) {
      time("recipe", recipe.strategy);
      good.push_back(&recipe.strategy);
    }
    for (int i = 0; i < numStrategies; ++i)
      switch (plan::PipelineSchedule schedule; i % 4) {
      case 0:
        time("random", randomStrategy(graph, topology.numDevices(), random));
        break;
      case 1: {
        auto strategy =
            randomPipeline(graph, topology.numDevices(), schedule, random);
        time("random-pipeline", strategy, schedule);
        break;
      }
      case 2: {
        auto strategy =
            randomRecomputation(graph, topology.numDevices(), schedule, random);
        time("random-recompute", strategy, schedule);
        break;
      }
      default:
        time("neighbour",
             neighbour(*good[static_cast<size_t>(i / 4) % good.size()]));
      }
    llvm::json::Object least;
    for (const auto &[kind, best] : times)
      least[kind] = milliseconds(best);
    return llvm::json::Object{{"device_bound_ms", milliseconds(device)},
                              {"bound_ms", milliseconds(bound)},
                              {"bounds_s", took.count()},
                              {"least_ms", std::move(least)},
                              {"strategies", tried},
                              {"below", below}};
  }

private:
  /// With other choices for a few anchors.
  plan::Strategy neighbour(const plan::Strategy &strategy) {
    search::Walker walker(space, cost);
    walker.assign(strategy);
    const auto &anchors = space.anchors();
    for (int moves = 1 + static_cast<int>(draw.below(3)); moves > 0; --moves) {
      const plan::OpId anchor =
          anchors[draw.below(static_cast<int64_t>(anchors.size()))];
      walker.propose(
          {{anchor, space.candidate(anchor, draw),
            draw.oneIn(2) ? space.options(anchor) : search::ChoiceOptions()}});
      walker.accept();
    }
    return walker.strategy();
  }

  void time(const std::string &kind, const plan::Strategy &strategy,
            const plan::PipelineSchedule &schedule = {}) {
    const plan::Program program = plan::planProgram(
        graph, strategy, topology.numDevices(), cost, schedule);
    const Picoseconds makespan =
        plan::timeProgram(graph, strategy, program, cost).makespan;
    auto known = times.emplace(kind, makespan).first;
    known->second = std::min(known->second, makespan);
    ++tried;
    below += makespan < bound;
  }

  const plan::Graph &graph;
  const plan::Topology &topology;
  const plan::CostModel &cost;
  search::Space space;
  std::mt19937 random;
  search::Random draw;
  Picoseconds device = 0, bound = 0;
  std::map<std::string, Picoseconds> times;
  int64_t tried = 0, below = 0;
};

} // namespace

int main(int argc, char **argv) {
  const auto problem =
      bench::readProblem(argc, argv, "strategies and lower bounds\n");
  const plan::Graph &graph = problem->graph;
  const plan::Topology &topology = problem->topology;
  const plan::CostModel &cost = problem->cost;
  llvm::json::Object result = Run(graph, topology, cost).run();
  const bool holds = result.getInteger("below") == 0;
  result["operators"] = static_cast<int64_t>(graph.ops.size());
  llvm::outs() << llvm::json::Value(std::move(result)) << "\n";
  return !holds;
}
