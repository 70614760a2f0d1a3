//===- DealtOut.h - strategies in other orders of devices -------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_DEALTOUT_H
#define FFC_LIB_SEARCH_DEALTOUT_H

#include "ffc/Search/Search.h"

#include <functional>
#include <optional>
#include <vector>

namespace ffc::search {

/// A strategy with blocks of devices dealt out to parts of the machine: what is
/// on neighbours, which may share the interface of a node, is on several nodes
/// then, and what was on several is on one.
class DealtOut {
public:
  /// Pinned anchors stay where they are. `room` is in bytes, by device. All but
  /// `pinned` must outlive it.
  DealtOut(const Space &space, const std::vector<Choice> &pinned,
           const std::vector<int64_t> &room, Walker &walker);

  /// Is anything on some of the devices only? Else there is nothing to deal.
  bool isWorthwhile(const Baseline &strategy) const;

  /// The fastest order that is faster; nothing: none is, of those that were
  /// tried before `goesOn` said that it is over.
  std::optional<Baseline> best(const Baseline &strategy,
                               const std::function<bool()> &goesOn);

private:
  /// Blocks of `unit` devices, the next one for the next of so many parts.
  struct Order {
    int64_t unit = 1, parts = 1;
  };

  std::vector<Order> orders() const;
  std::vector<Choice> dealt(const Order &order) const;

  const Space &space;
  std::vector<bool> isPinned; ///< by operator
  const std::vector<int64_t> &room;
  Walker &walker;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_DEALTOUT_H
