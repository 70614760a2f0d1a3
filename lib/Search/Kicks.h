//===- Kicks.h - iterated local search from several answers -----*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_KICKS_H
#define FFC_LIB_SEARCH_KICKS_H

#include "Repair.h"
#include "RoomWatch.h"

#include <memory>

namespace ffc::search {

/// Kicks (Repair.h) of several answers on several threads. What comes out of
/// one does not depend on the others, nor on the threads.
class Kicks {
public:
  /// `goesOn` is asked by all threads. Arguments must outlive it.
  Kicks(const Space &space, const Options &options,
        const std::vector<int64_t> &room, std::function<bool()> goesOn)
      : space(space), options(options), room(room), goesOn(std::move(goesOn)) {}

  /// Before the first run: see Repair.
  void addKnown(std::vector<Choice> choices) {
    known.push_back(std::move(choices));
  }
  /// One more thread, whose table this is.
  void addThread(plan::SegmentTable &table);

  /// What becomes of each strategy, by at most `budget` proposals. With another
  /// `round` others are drawn.
  std::vector<plan::Strategy> run(const std::vector<plan::Strategy> &from,
                                  int64_t budget, uint64_t round);

  MoveCount count() const;
  int64_t proposals() const;

private:
  struct Kicker {
    Kicker(const Kicks &all, plan::SegmentTable &table);

    Walker walker;
    RoomWatch watch;
    Repair repair;
  };

  const Space &space;
  const Options &options;
  const std::vector<int64_t> &room;
  const std::function<bool()> goesOn;
  std::vector<std::vector<Choice>> known;
  std::vector<plan::SegmentTable *> tables;     ///< by thread
  std::vector<std::unique_ptr<Kicker>> kickers; ///< by thread, once needed
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_KICKS_H
