//===- global_state.h - the state of all ranks as one -----------*- C++ -*-===//
#ifndef FFRT_COMMON_GLOBAL_STATE_H
#define FFRT_COMMON_GLOBAL_STATE_H

#include "ffrt/program.h"

#include <string>
#include <vector>

namespace ffrt {

/// A value that steps carry on, all of it: a parameter, a running statistic, a
/// slot of the optimizer.
struct GlobalValue {
  std::string name;
  bool parameter; ///< StateKind::parameter, else a slot
  DType type;
  int rank;
  Index shape;
  Init init;

  std::size_t bytes() const;
};

/// True unless a slot can be made anew from others or the program: rounded
/// copies, and tables of constants.
bool is_saved(const StateSlot &slot);

/// A box of a value, which one rank writes for all.
struct Cell {
  std::size_t value; ///< into GlobalState::values()
  int rank;          ///< its home
  bool held;         ///< by a rank; else it is what the value began with
  Index lo, shape;
  const StateSlot *slot; ///< which has it; null on ranks that are not its home
};

/// The values of all ranks that are saved, in the order of names, parameters
/// first, and which rank writes which part of them: every element one rank,
/// of those that have it the one with the fewest bytes so far. What no rank has
/// (of parameters that do not change, where no kernel reads them) is rank 0's.
class GlobalState {
public:
  /// Collective. `states` must outlive this.
  GlobalState(Comm &comm, const Group &world,
              const std::vector<StateSlot> &states);

  const std::vector<GlobalValue> &values() const { return all; }
  /// By value.
  const std::vector<Cell> &cells() const { return every; }
  /// Those whose home is this rank.
  const std::vector<Cell> &homes() const { return own; }

  /// What a rank has of a value.
  struct Piece {
    int rank;
    Index lo, shape;
  };

private:
  void assign_homes(int rank, int ranks, const std::vector<StateSlot> &states,
                    const std::vector<std::vector<Piece>> &pieces);

  std::vector<GlobalValue> all;
  std::vector<Cell> every, own;
};

} // namespace ffrt

#endif // FFRT_COMMON_GLOBAL_STATE_H
