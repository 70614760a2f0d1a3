//===- StrategyFuzz.cpp - strategy files in every format ------------------===//

#include "Fuzz.h"

#include "AlexNetGraph.h"

#include "ffc/Plan/StrategyFile.h"

using namespace ffc;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const plan::Graph graph = plan::testing::alexNet();
  const std::string text = fuzz::textOf(data, size);
  std::string error;
  const auto strategy = plan::parseStrategy(text, "s.txt", graph, 4, error);
  if (!strategy && error.empty())
    std::abort();
  if (strategy) {
    // What was accepted reads back as it is.
    const auto again = plan::parseStrategy(
        plan::printStrategy(graph, *strategy), "again.txt", graph, 4, error);
    if (!again || *again != *strategy)
      std::abort();
  }
  plan::loadRewrites(fuzz::fileOf("s.txt", text), {"merge-products"}, error);
  return 0;
}
