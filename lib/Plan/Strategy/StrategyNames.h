//===- StrategyNames.h - operators by the names people use ------*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STRATEGYNAMES_H
#define FFC_LIB_PLAN_STRATEGYNAMES_H

#include "ffc/Plan/Graph.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace ffc::plan {

/// "conv" for "conv2d": `family` without a trailing "1d", "2d" or "3d".
std::string shortFamily(const std::string &family);

/// Finds operators by node name, by output name, or by family and ordinal
/// ("conv2", "conv2d2": the second conv2d of the forward pass in graph order).
/// The first of these that matches counts.
class OperatorNames {
public:
  /// Keeps a reference to `graph`.
  explicit OperatorNames(const Graph &graph);

  /// The operator called `name`, or -1 and `error` says why there is none or
  /// which ones it could be.
  OpId find(const std::string &name, std::string &error) const;

private:
  using Candidates = std::vector<OpId>;

  std::string describeMissing(const std::string &name) const;

  const Graph &graph;
  std::unordered_map<std::string, Candidates> nodes, outputs, ordinals;
  std::unordered_map<std::string, int> familySizes; ///< also by short name
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STRATEGYNAMES_H
