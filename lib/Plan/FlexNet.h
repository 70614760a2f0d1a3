//===- FlexNet.h - measurements of FlexNet ----------------------*- C++ -*-===//
//
// Private to the library: the files measure_*.json, which tell operators apart
// by their structure and times by how the operator is split.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_FLEXNET_H
#define FFC_LIB_PLAN_FLEXNET_H

#include "YamlTree.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Profile.h"

namespace ffc::plan {

/// Forward and backward time of an operator.
struct FlexNetMeasure {
  int line = 0;
  std::string name;                 ///< "Dense_4096_1000", "Conv2D_3_3_64"
  std::vector<int64_t> degrees;     ///< innermost dimension first
  double forward = 0, backward = 0; ///< picoseconds
};

struct FlexNetMeasures {
  int64_t batch = 0;
  std::vector<FlexNetMeasure> list;
};

bool isFlexNet(const YamlNode &root);
/// Throws Malformed (Text.h).
FlexNetMeasures readFlexNet(const YamlNode &root);

/// What `measures` say about the kernels of `graph`: the forward time is that
/// of the operator's kernels, the backward time that of its gradients'; where
/// there are several, each has the share that `cost` gives it.
std::vector<Measurement> kernelsOf(const FlexNetMeasures &measures,
                                   const Graph &graph, const CostModel &cost);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXNET_H
