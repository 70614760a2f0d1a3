//===- Trails.h - anchors that go along with others -------------*- C++ -*-===//
//
// Some choices only pay together: the products of one parameter, or those that
// a softmax or a loss follows, which would have to move what it reads. Moves of
// one anchor, or of neighbours in the graph's order, do not make them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_TRAILS_H
#define FFC_LIB_SEARCH_TRAILS_H

#include "ffc/Search/Space.h"

#include <map>
#include <vector>

namespace ffc::search {

class Trails {
public:
  explicit Trails(const Space &space);

  /// Anchors that read a parameter which this one reads, itself included.
  /// Made when it is asked for: all together, they are many where one parameter
  /// is read by many.
  std::vector<plan::OpId> sharing(plan::OpId anchor) const;

  /// Anchors without parameters that would follow this one if they were none
  /// (ffc/Plan/Following.h), directly or behind another of them, with what they
  /// would take over from `config`.
  std::vector<std::pair<plan::OpId, plan::Configuration>>
  behind(plan::OpId anchor, const plan::Configuration &config) const;

private:
  const Space &space;
  std::vector<plan::Leader> leaders; ///< by operator, of anchors too
  /// By anchor: what would follow it directly.
  std::vector<std::vector<plan::OpId>> next;
  /// By parameter, the anchors that read it.
  std::map<plan::ValueId, std::vector<plan::OpId>> readers;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_TRAILS_H
