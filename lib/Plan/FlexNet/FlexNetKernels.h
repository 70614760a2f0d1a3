//===- FlexNetKernels.h - layers as FlexNet measures them -------*- C++ -*-===//
#ifndef FFC_LIB_PLAN_FLEXNETKERNELS_H
#define FFC_LIB_PLAN_FLEXNETKERNELS_H

#include "ffc/Plan/Configuration.h"

#include <optional>
#include <vector>

namespace ffc::plan {

/// The batch: the first extent of the first input that has one.
std::optional<int64_t> batchOf(const Graph &graph);

/// A split along samples, with all parts on device 0: where they are does not
/// change what they do.
struct SampleSplit {
  Configuration config;
  std::vector<int64_t> degrees; ///< innermost dimension first
};
/// Nothing if the operator cannot be split so.
std::optional<SampleSplit> splitOfSamples(const Graph &graph, OpId op,
                                          int64_t parts);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXNETKERNELS_H
