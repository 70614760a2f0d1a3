//===- Shares.h - what a share of an operator needs -------------*- C++ -*-===//
//
// What devices that compute a share of an operator's iteration space, in
// whatever tiles, have at least: time, and parts of operands and results.
// Internal to Search.
//
// A share is a set of points. An access is *even* if different points in the
// iteration dimensions that it follows touch different elements, equally many
// each (or some of them the same one, at most so many). So the elements that
// the share touches are at least `even` times the tensor's, times the part of
// the points of those dimensions over which the share lies, its *projection*.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_SHARES_H
#define FFC_LIB_SEARCH_SHARES_H

#include "BestDevice.h"

#include <cstdint>
#include <vector>

namespace ffc::search {

/// Iteration dimensions of which there is more than one point, a bit each.
using DimSet = uint32_t;

struct EvenAccess {
  /// 0: not even, nothing is known.
  double even = 0;
  DimSet dims = 0;
};
EvenAccess evenAccess(const plan::Access &access,
                      const std::vector<plan::IterDim> &dims,
                      const plan::Shape &shape);

/// How the points of an operator make a result.
struct Making {
  /// Every element needs equally many points, those that differ in dimensions
  /// which the result does not follow, in one place or as partial sums from
  /// several.
  bool isEven = false;
  /// Where it is from several.
  bool isPartial = false;
  EvenAccess access; ///< of an even result
};
Making makingOf(const plan::Graph &graph, plan::OpId id, int result);

/// Picoseconds that devices with the best figures take at least for a share.
struct ShareTime {
  double starts = 0; ///< for any
  double whole = 0;  ///< for all; a share takes its part of this
};
ShareTime timeOfShares(const plan::Graph &graph, plan::OpId id,
                       const BestDevice &best);

/// What is touched of a value, at least.
struct Touch {
  double bytes = 0; ///< by a projection on all of its dimensions
  DimSet dims = 0;
};
/// The least that shares touch together, as a function of the share: nothing
/// less than it is the projection on any dimensions, and of three touches that
/// have no dimension in common, the product is at least the square of the share
/// (Loomis and Whitney, 1949; with fractional exponents Finner, 1992).
/// Concave, 0 for nothing, the sum of all bytes for everything.
class LeastTouched {
public:
  explicit LeastTouched(const std::vector<Touch> &touches);
  double operator()(double share) const;

private:
  double three[3] = {0, 0, 0}; ///< those that have no dimension in common
  double others = 0;
};
/// The least that a share of complete elements touches of the operands: of each
/// of the elements, which follow the dimensions `result`, all points are in it.
/// Each is at a place of one operand and one of another if these follow all of
/// its dimensions, so that the product of those two is at least the share.
/// Concave, 0 for nothing, the sum of all bytes for everything.
class LeastOfComplete {
public:
  /// With the two operands of which most is known for a certain share.
  LeastOfComplete(const std::vector<Touch> &operands, DimSet result,
                  double share);
  double operator()(double share) const;

private:
  double two[2] = {0, 0};
  double others = 0;
};
/// Are there three that have no dimension in common?
bool hasThree(const std::vector<Touch> &touches);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_SHARES_H
