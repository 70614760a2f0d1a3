//===- FollowerTable.h - what followers make of their leaders ---*- C++ -*-===//
//
// Internal to the segment table. What an operator makes of the configuration
// of its leader (Following.h) is found out once for equal operators that follow
// equal ones: a model has many layers, and few kinds of them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_FOLLOWERTABLE_H
#define FFC_LIB_PLAN_FOLLOWERTABLE_H

#include "SegmentKeys.h"
#include "ffc/Plan/Following.h"
#include "ffc/Plan/Segments.h"

namespace ffc::plan {

class FollowerTable {
public:
  /// `classes`: of operators, equal where rules and types of operands and
  /// results are (but for names).
  FollowerTable(const Graph &graph, const std::vector<int32_t> &classes);

  /// As in SegmentTable.
  ConfigId follow(OpId op, ConfigId leader, bool sharesCopies,
                  ConfigurationTable &configs);

private:
  const Graph &graph;
  std::vector<Leader> leaders; ///< by operator
  std::vector<int32_t> kinds;  ///< by operator; -1: it has no leader
  /// By kind, leader's configuration, and whether copies are shared.
  PairMap<ConfigId> followed;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FOLLOWERTABLE_H
