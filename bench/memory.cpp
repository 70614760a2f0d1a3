//===- memory.cpp - the bound on memory against plans ---------------------===//
//
// Random strategies, of which the bound by segments (StepMemory.h) is compared
// with the bytes of the plan, device by device. Prints one line of JSON: how
// many devices were compared, on how many the bound is above the plan, and how
// far it is below: in the median, and on how many by more than a tenth. Fails
// if one is above.
//
//===----------------------------------------------------------------------===//

#include "ReadGraph.h"

#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/StepMemory.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

namespace cl = llvm::cl;
static cl::opt<int> numStrategies("strategies", cl::init(20));
static cl::opt<unsigned> seed("seed", cl::init(1));

/// By how much the bounds of devices are below their plans', as shares of
/// these; negative where one is above.
static std::vector<double> gapsOf(const plan::Graph &graph,
                                  const plan::CostModel &cost, int numDevices) {
  plan::SegmentTable table(graph, numDevices, cost);
  std::mt19937 random(seed);
  std::vector<double> gaps;
  for (int i = 0; i < numStrategies; ++i) {
    const plan::Strategy strategy =
        plan::randomStrategy(graph, numDevices, random);
    std::vector<plan::ConfigId> configs;
    for (const plan::Configuration &config : strategy)
      configs.push_back(table.intern(config));
    const std::vector<int64_t> bounds = plan::stepMemory(table, configs);
    const plan::Program program =
        plan::planProgram(graph, strategy, numDevices, cost);
    for (int d = 0; d < numDevices; ++d) {
      const plan::DeviceProgram &device = program.devices[d];
      const auto bytes =
          static_cast<double>(device.stateBytes + device.arenaBytes);
      if (bytes > 0)
        gaps.push_back(1 - static_cast<double>(bounds[d]) / bytes);
    }
  }
  return gaps;
}

int main(int argc, char **argv) {
  const auto problem = bench::readProblem(argc, argv, "the bound on memory\n");
  const plan::Graph &graph = problem->graph;
  const plan::Topology &topology = problem->topology;
  const plan::CostModel &cost = problem->cost;
  std::vector<double> gaps = gapsOf(graph, cost, topology.numDevices());
  if (gaps.empty())
    return 1;
  std::sort(gaps.begin(), gaps.end());
  const auto above = std::count_if(gaps.begin(), gaps.end(),
                                   [](double gap) { return gap < 0; });
  llvm::json::Object result;
  result["strategies"] = numStrategies.getValue();
  result["devices"] = static_cast<int64_t>(gaps.size());
  result["above"] = static_cast<int64_t>(above);
  result["over_a_tenth"] = static_cast<int64_t>(std::count_if(
      gaps.begin(), gaps.end(), [](double gap) { return gap > 0.1; }));
  result["median"] = gaps[gaps.size() / 2];
  result["most"] = gaps.back();
  llvm::outs() << llvm::json::Value(std::move(result)) << "\n";
  return above != 0;
}
