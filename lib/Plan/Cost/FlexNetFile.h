//===- FlexNetFile.h - reads measurements of FlexNet ------------*- C++ -*-===//
//
// Private to the library: the files measure_*.json, which tell operators apart
// by their structure and times by how the operator is split.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_FLEXNETFILE_H
#define FFC_LIB_PLAN_FLEXNETFILE_H

#include "Text/YamlTree.h"

#include <string>
#include <vector>

namespace ffc::plan {

constexpr double kFlexNetMillisecond = 1e9; ///< in picoseconds

/// Forward and backward time of an operator.
struct FlexNetMeasure {
  int line = 0;
  std::string name;                 ///< "Dense_4096_1000", "Conv2D_3_3_64"
  std::vector<int64_t> degrees;     ///< innermost dimension first
  double forward = 0, backward = 0; ///< picoseconds
  int64_t memoryBytes = 0;
};

struct FlexNetMeasures {
  int64_t batch = 0;
  int64_t devices = 0; ///< GPUs, or servers of several GPUs each
  std::vector<FlexNetMeasure> list;
};

bool isFlexNet(const YamlNode &root);
/// Throws Malformed (Text.h).
FlexNetMeasures readFlexNet(const YamlNode &root);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXNETFILE_H
