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

  /// Fills `choices`, which may stay empty, with a proposal for `walker`, which
  /// must be of the same table every time; returns the number of the move.
  /// There must be an anchor to change.
  size_t propose(const Walker &walker, Random &random,
                 std::vector<NumberedChoice> &choices);
  /// The same, of a move that chains do not make: two blocks of neighbouring
  /// devices change places in all that is split over some of the devices, or in
  /// a stretch of it. Seldom better alone.
  void exchangeDevices(const Walker &walker, Random &random,
                       std::vector<NumberedChoice> &choices);

  /// Another one that chains do not make: three or four layers alike each take
  /// the choice of the next.
  void rotate(const Walker &walker, Random &random,
              std::vector<NumberedChoice> &choices);

  /// And a third: two branches each go where the other one is, in a tensor grid
  /// of all that it has there. Both change at once, since devices that two
  /// branches are on, or none is, are seldom better.
  void tradeBranches(const Walker &walker, Random &random,
                     std::vector<NumberedChoice> &choices);

private:
  struct Move {
    const char *name;
    int weight;
    /// Uses and fills the members below.
    void (Moves::*propose)();
  };
  static const std::vector<Move> kMoves;

  void begin(const Walker &from, Random &source,
             std::vector<NumberedChoice> &result);

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
  /// samples x layers, perhaps along both dimensions of these, on a block of
  /// neighbours.
  void group();
  /// Where devices are not equally fast: blocks of all anchors, or of a
  /// stretch, by what they can make, more or less, or equal ones.
  void shares();

  int weightOf(const Move &move) const;
  /// Returns an index of `open`.
  size_t draw();
  plan::OpId anchorAt(size_t at) const { return space.anchors()[open[at]]; }
  /// All open anchors, or a stretch of them: from one to before another.
  std::pair<size_t, size_t> drawStretch();
  NumberedChoice drawCandidate(size_t at);
  int64_t drawDivisorOf(int64_t number);
  /// Of so many devices: samples x layers, perhaps along both dimensions of
  /// these.
  TensorGrid drawGrid(int64_t size);
  /// Proposes that for the anchor on the devices, if it may be so.
  void inGrid(plan::OpId anchor, const TensorGrid &grid,
              const std::vector<plan::DeviceId> &devices);
  /// Proposes for `to` what `from` has.
  void carry(const NumberedChoice &from, plan::OpId to);
  /// Space::grown() or Space::shrunk(), with the factor as a number of
  /// Space::divisors(); -1: nothing.
  plan::ConfigId resized(const NumberedChoice &from, size_t divisor,
                         bool grows);
  using Taken = std::vector<std::pair<plan::OpId, plan::ConfigId>>;
  /// Trails::behind(), of those that are open and may be so.
  const Taken &behind(const NumberedChoice &leader);

  const Space &space;
  Trails trails;
  Roles roles;
  Branches branches;
  std::vector<size_t> open;      ///< indices of anchors that are not pinned
  std::vector<int64_t> elements; ///< that these and those before touch
  std::vector<bool> isOpen;      ///< the same, by operator
  std::vector<plan::OpId> withOptions; ///< of these

  // What was asked before, since the same few configurations come again and
  // again: whether one is a candidate, by class and configuration; what another
  // operator takes over (-1: nothing that it may have), by both and
  // configuration; what is on more or fewer devices; what follows.
  plan::PairMap<bool> candidates;
  plan::PairMap<int32_t> pairs; ///< of operators, numbered
  plan::PairMap<plan::ConfigId> carried, sizes;
  plan::PairMap<Taken> followed;

  // Of the current proposal.
  const Walker *walker = nullptr;
  Random *random = nullptr;
  std::vector<NumberedChoice> *choices = nullptr;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_MOVES_H
