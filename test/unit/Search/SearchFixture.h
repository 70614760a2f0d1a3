//===- SearchFixture.h - what tests of the search share ---------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_SEARCH_SEARCHFIXTURE_H
#define FFC_TEST_UNIT_SEARCH_SEARCHFIXTURE_H

#include "ffc/Search/Elimination.h"
#include "ffc/Search/Search.h"

#include "TestGraph.h"
#include "TestTopology.h"

#include <gtest/gtest.h>

#include <optional>

namespace ffc::search::testing {

/// Devices on which computing and communicating take about as long, one after
/// the other unless they overlap.
inline plan::Topology chips(int devices, const std::string &memory = "8 GB",
                            bool overlap = false) {
  return plan::testing::parse(
      "kinds:\n  chip:\n    target: cpu\n    flops: {f32: 1 TFLOP/s}\n"
      "    memory: {size: " +
      memory +
      ", bandwidth: 100 GB/s}\n"
      "    launch: 1 us\n    overlap: " +
      (overlap ? "true" : "false") + "\ndevices: " + std::to_string(devices) +
      " x chip\n"
      "interconnect: {type: shared-memory, bandwidth: 3 GB/s, latency: 2 "
      "us}\n");
}

/// x[64, k] times two products with parameters of k x k.
inline plan::testing::TestGraph layers(int64_t k) {
  plan::testing::TestGraph g;
  plan::ValueId x = g.input("x", {64, k});
  plan::ValueId y = g.product("first", x, g.state("w1", {k, k}));
  plan::ValueId z = g.product("second", y, g.state("w2", {k, k}));
  g.output("out/z", z);
  return g;
}

/// Two layers beside a way past them, with the gradient and update of the
/// second.
inline plan::testing::TestGraph residual(int64_t k) {
  plan::testing::TestGraph g;
  plan::ValueId x =
      g.product("in", g.input("x", {64, k}), g.state("w0", {k, k}));
  plan::ValueId a = g.product("a", x, g.state("w1", {k, k}));
  plan::ValueId w = g.state("w2", {k, k});
  plan::ValueId b = g.product("b", a, w);
  plan::ValueId sum = g.sum("sum", b, x);
  g.output("out/sum", sum);
  g.update("b.update", w, g.outer("b.gradient", a, sum, "b"), "b");
  return g;
}

/// The least sum of all choices.
inline plan::Picoseconds least(const AdditiveProblem &problem) {
  plan::Picoseconds best = plan::kMaxCost;
  std::vector<size_t> choice(problem.nodes.size());
  while (true) {
    best = std::min(best, problem.total(choice));
    size_t n = 0;
    while (n < choice.size() && ++choice[n] == problem.nodes[n].size())
      choice[n++] = 0;
    if (n == choice.size())
      return best;
  }
}

/// A search of devices that a test says.
class SearchTest : public ::testing::Test {
protected:
  void use(int devices, const std::string &memory = "8 GB") {
    topology = chips(devices, memory);
    cost.emplace(*topology);
  }

  Result run(const plan::Graph &graph) {
    return searchStrategy(graph, *topology, *cost, options);
  }

  std::optional<plan::Topology> topology;
  std::optional<plan::CostModel> cost;
  Options options;
};

} // namespace ffc::search::testing

#endif // FFC_TEST_UNIT_SEARCH_SEARCHFIXTURE_H
