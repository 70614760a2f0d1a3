//===- StrategyFlexFlow.h - strategy files of FlexFlow ----------*- C++ -*-===//
//
// Private to the library: FlexFlow's text, printed and protobuf forms, and what
// they mean for a graph. All functions that read throw Malformed (Text.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STRATEGYFLEXFLOW_H
#define FFC_LIB_PLAN_STRATEGYFLEXFLOW_H

#include "ffc/Plan/StrategyFile.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// An operator's configuration as FlexFlow has it.
struct FlexFlowConfig {
  int at = 0;       ///< line; offset in a protobuf file
  std::string name; ///< "Dense_100"
  bool onCpu = false;
  std::vector<int64_t> dims;     ///< degrees, innermost dimension first
  std::vector<DeviceId> devices; ///< dims[0] fastest; none: 0, 1, 2 ...
};

constexpr int64_t kMaxFlexFlowDegree = 1 << 20;
/// Guards memory against files that name very many.
constexpr int64_t kMaxFlexFlowOps = 1 << 20;

/// Is `text` in FlexFlow's text form (a number alone on the first line), in
/// its printed form ("[Dense_100] num_dims(2) ..."), a protobuf message?
bool isFlexFlowText(const std::string &text);
bool isFlexFlowPrinted(const std::string &text);
bool isFlexFlowProtobuf(const std::string &text);

std::vector<FlexFlowConfig> readFlexFlowText(const std::string &text);
std::vector<FlexFlowConfig> readFlexFlowPrinted(const std::string &text);
std::vector<FlexFlowConfig> readFlexFlowProtobuf(const std::string &text);

/// The operators of `graph` that the name of each of `configs` means, at least
/// one.
std::vector<std::vector<OpId>>
findFlexFlowOps(const Graph &graph, const std::vector<FlexFlowConfig> &configs);

/// FlexFlow's name for each operator, in a program with just these operators;
/// empty for those of a type that it lacks, and all but forward ones.
std::vector<std::string> flexFlowNames(const Graph &graph);

/// The operators of a type by FlexFlow's name for it; none if it has no such.
std::vector<OpId> flexFlowOpsOfType(const Graph &graph,
                                    const std::string &type);

/// What `given` means for operator `id`; legal.
Configuration flexFlowConfiguration(const Graph &graph, OpId id,
                                    const FlexFlowConfig &given,
                                    int numDevices);

/// How `config` splits the result of `op`, innermost dimension first; nothing
/// if FlexFlow cannot say it.
std::optional<std::vector<int64_t>>
flexFlowDegrees(const Op &op, const Configuration &config);

/// What `configs` say about the operators of `graph`; legal on `numDevices`
/// devices.
PartialStrategy fromFlexFlow(const Graph &graph, int numDevices,
                             const std::vector<FlexFlowConfig> &configs);

/// The forward operators of `strategy`. Those whose configuration FlexFlow
/// cannot say go to `leftOut`.
std::vector<FlexFlowConfig> toFlexFlow(const Graph &graph,
                                       const Strategy &strategy,
                                       std::vector<OpId> &leftOut);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STRATEGYFLEXFLOW_H
