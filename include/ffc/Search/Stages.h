//===- Stages.h - the search for plans of stages ----------------*- C++ -*-===//
//
// Cuts a chain of measured operators into stages (StagePlan.h): how many, where
// they are cut, their devices, the size of micro-batches, and for every
// operator its degree of tensor parallelism, its algorithm and whether it is
// computed again. The least (m - 1) max t + sum t within a limit on memory, the
// time and memory of Aceso's model (StageTimer.h).
//
// Outside, dynamic programming over cuts, devices and the number of stages
// behind (as PipeDream's, SOSP 2019, section 3.1) on estimated times of stages;
// for the best divisions of devices then again with solved stages, bisecting
// the time of the slowest. Inside, a stage is a multiple-choice knapsack that
// is solved nearly exactly (docs/stages.md).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_STAGES_H
#define FFC_SEARCH_STAGES_H

#include "ffc/Plan/StageTimer.h"

#include <optional>
#include <string>

namespace ffc::search {

struct StageSearchOptions {
  int devices = 1;
  int devicesPerNode = 1;
  int batch = 1;          ///< samples of an iteration
  double memoryLimit = 0; ///< MiB of a device that a plan stays below
  int microBatch = 0;     ///< 0: any that divides the batch
  int stages = 0;         ///< 0: any number
};

struct StageSearchResult {
  plan::StagePlan plan;
  plan::StagePlanCost cost;
};

/// Nothing if no plan fits.
std::optional<StageSearchResult>
searchStages(const plan::StageProfile &profile, const plan::StageModel &model,
             const StageSearchOptions &options);

} // namespace ffc::search

#endif // FFC_SEARCH_STAGES_H
