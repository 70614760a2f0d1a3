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
  bool parameter; ///< StateSlot::parameter
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
struct HomeBox {
  std::size_t value; ///< into GlobalState::values()
  Index lo, shape;
  const StateSlot *slot; ///< which has it; null: what the value began with
};

/// The same, as all ranks know it.
struct Cell {
  std::size_t value;
  int rank;
  bool held; ///< by a rank
  Index lo, shape;
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
  /// Of this rank.
  const std::vector<HomeBox> &homes() const { return own; }
  /// Of all ranks, by value, in the order of homes().
  const std::vector<Cell> &cells() const { return every; }

private:
  struct Piece;
  void assign_homes(int rank, int ranks, const std::vector<StateSlot> &states,
                    const std::vector<std::vector<Piece>> &pieces);

  std::vector<GlobalValue> all;
  std::vector<HomeBox> own;
  std::vector<Cell> every;
};

} // namespace ffrt

#endif // FFRT_COMMON_GLOBAL_STATE_H
