//===- FlexFlowSearch.h - searches by FlexFlow's simulator ------*- C++ -*-===//
//
// Looks for the strategy of the least time by FlexFlow's own simulator
// (ffc/Plan/FlexFlowTimer.h), in its own space: samples of a layer in a power
// of two of parts, samples and channels of linear layers in as many parts as
// devices, each part on any device. Simulated annealing (Kirkpatrick et al.,
// Science 1983) from the best recipe, in several rounds, each from the best
// strategy so far; moves place whole groups of layers, too.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_FLEXFLOWSEARCH_H
#define FFC_SEARCH_FLEXFLOWSEARCH_H

#include "ffc/Plan/FlexFlowTimer.h"
#include "ffc/Search/Search.h"

namespace ffc::search {

struct FlexFlowResult {
  plan::FlexFlowStrategy strategy;
  /// In ms: of the strategy, of data parallelism, and of the recipe that the
  /// first round started from.
  float time = 0, dataParallel = 0, start = 0;
  int64_t proposals = 0, accepted = 0;
  double seconds = 0;
};

/// Of `options`, budget, seconds, seed, stop and progress count. Without a
/// budget there are as many proposals as fit into the seconds, or take one or a
/// few. The answer is never slower than a recipe, and depends on the options
/// alone unless there is a time or it was stopped by hand.
FlexFlowResult searchByFlexFlow(const plan::FlexFlowModel &model,
                                const Options &options);

} // namespace ffc::search

#endif // FFC_SEARCH_FLEXFLOWSEARCH_H
