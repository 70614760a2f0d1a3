//===- Moves.h - what a chain proposes --------------------------*- C++ -*-===//
//
// The moves are a table: name, weight, function. Another one is another line
// (and a method); the report counts how often each was taken.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_MOVES_H
#define FFC_LIB_SEARCH_MOVES_H

#include "Branches.h"
#include "Roles.h"
#include "Trails.h"

#include "ffc/Search/Search.h"

namespace ffc::search {

class Moves {
public:
  /// Of the anchors that are not pinned.
  Moves(const Space &space, const std::vector<Choice> &pinned);

  /// Anchors that moves change.
  size_t size() const { return open.size(); }
  /// The names of all moves, with counts of zero.
  static std::vector<MoveCount> counts();

  /// Fills `choices`, which may stay empty, with a proposal for `walker`;
  /// returns the number of the move. There must be an anchor to change.
  size_t propose(const Walker &walker, Random &random,
                 std::vector<Choice> &choices);

private:
  struct Move {
    const char *name;
    int weight;
    /// Uses and fills the members below.
    void (Moves::*propose)();
  };
  static const std::vector<Move> kMoves;

  // The moves, in the order of the table.
  /// A random candidate for one anchor.
  void candidate();
  /// The configuration of the anchor before or behind it.
  void neighbour();
  /// A candidate for all layers alike.
  void alike();
  /// A candidate for all layers that share a parameter, and for what would
  /// follow them.
  void trail();
  /// A candidate that a stretch of neighbours takes over.
  void stretch();
  /// All anchors, or a stretch of them, on more devices or on fewer. Between,
  /// where only some of them are, values would have to move.
  void resize();
  /// An option of one anchor, or no longer.
  void option();
  /// Two anchors, layers alike or not, take each other's configuration.
  void trade();
  /// All anchors, a stretch or a branch of the model, as experts split them:
  /// samples x layers, on a block of neighbours.
  void group();
  /// Where devices are not equally fast: blocks of all anchors, or of a
  /// stretch, by what they can make, more or less, or equal ones.
  void shares();

  int weightOf(const Move &move) const;
  plan::OpId drawAnchor(size_t &at);
  /// All open anchors, or a stretch of them: from one to before another.
  std::pair<size_t, size_t> drawStretch();
  Choice drawCandidate(plan::OpId anchor);
  /// Proposes for `to` what `from` has.
  void carry(const Choice &from, plan::OpId to);

  const Space &space;
  Trails trails;
  Roles roles;
  Branches branches;
  std::vector<size_t> open;   ///< indices of anchors that are not pinned
  std::vector<int64_t> sizes; ///< elements of these and those before
  std::vector<bool> isOpen;   ///< the same, by operator
  std::vector<plan::OpId> withOptions; ///< of these

  // Of the current proposal.
  const Walker *walker = nullptr;
  Random *random = nullptr;
  std::vector<Choice> *choices = nullptr;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_MOVES_H
