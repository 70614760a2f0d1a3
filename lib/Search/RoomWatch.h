//===- RoomWatch.h - whether what a search takes fits -----------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_ROOMWATCH_H
#define FFC_LIB_SEARCH_ROOMWATCH_H

#include "Chain.h"

#include <utility>

namespace ffc::search {

/// Whether what a walker has, an open proposal included, fits into memory. An
/// account of memory takes as long as many proposals of a large graph: while
/// less than a quarter of it is needed, that is looked at after 1, 2, 4, ...
/// questions only. So it may turn out late that what was taken before does not
/// fit. Arguments must outlive it.
class RoomWatch {
public:
  /// `planned` as in neededBytes().
  RoomWatch(Walker &walker, const std::vector<int64_t> &room,
            std::function<std::vector<int64_t>(const plan::Strategy &)> planned)
      : walker(walker), room(room), planned(std::move(planned)) {}

  /// The next question is answered by an account.
  void restart() {
    asked = 0;
    next = 1;
  }

  bool seemsToFit() {
    if (++asked < next)
      return true;
    const double share = neededLoad(walker, room, planned);
    next = share < kFarFromFull ? 2 * asked : asked + 1;
    return share <= 1;
  }

private:
  static constexpr double kFarFromFull = 0.25;

  Walker &walker;
  const std::vector<int64_t> &room;
  const std::function<std::vector<int64_t>(const plan::Strategy &)> planned;
  int64_t asked = 0, next = 1;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_ROOMWATCH_H
