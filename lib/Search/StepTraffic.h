//===- StepTraffic.h - what has to be sent for a step -----------*- C++ -*-===//
//
// What operators touch of values, as far as it says something of the messages
// that a step takes (ffc/Search/CommunicationBound.h, 3). Internal to Search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STEPTRAFFIC_H
#define FFC_LIB_SEARCH_STEPTRAFFIC_H

#include "Shares.h"

namespace ffc::search {

/// What is known of a value's messages.
struct Traffic {
  double bytes = 0;      ///< of the value; 0: nothing is known
  plan::OpId maker = -1; ///< whose share is credited
  /// Its makers' partial sums and its readers count for themselves.
  bool isSummed = false;
  /// Its makers count as touching it: they make partial sums that are read.
  bool countsParts = false;
  /// Its readers read different parts of it, so that no element counts for two.
  bool isDivided = false;
};

/// What an operator touches: an operand, the result, or operands of which every
/// point touches one (concatenations).
struct Pin {
  std::vector<plan::ValueId> values;
  bool isResult = false;
  double even = 1; ///< the least of all schedules
  /// The part of the points that touch none of them.
  double free = 0;
};

/// An operator as far as prices depend on it.
struct Item {
  ShareTime time;
  std::vector<Pin> pins;
  /// By schedule and pin.
  std::vector<std::vector<EvenAccess>> accesses;
  std::vector<plan::ValueId> made; ///< values for which it is credited
  bool isProduct = false; ///< three of its pins have no dimension in common
};

/// Of all operators and values.
class StepTraffic {
public:
  StepTraffic(const plan::Graph &graph, const plan::Topology &topology);

  const plan::Graph &graph;
  std::vector<Traffic> traffic; ///< by value
  std::vector<Item> items;      ///< by operator
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STEPTRAFFIC_H
