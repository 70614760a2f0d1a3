//===- batch_rows.h - what an evaluation finds for a batch ------*- C++ -*-===//
#ifndef FFRT_COMMON_BATCH_ROWS_H
#define FFRT_COMMON_BATCH_ROWS_H

#include "common/checkpoint/global_state.h"
#include "common/data/piece.h"
#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace ffrt {

/// Keeps what an evaluation offers of a batch ("rows/loss" and so on), and
/// brings it together on rank 0. Where it comes from is found out once: all
/// batches are alike.
class BatchRows final : public Probe {
public:
  BatchRows(Comm &comm, const Group &world) : comm(comm), world(world) {}

  void offer(const char *name, const Tensor &tensor) override;

  /// Collective, after a batch: what was offered is whole on rank 0.
  void gather();
  /// All of a value, row-major, on rank 0, until the next batch. Throws Error
  /// where there is none.
  const Tensor &at(const std::string &name) const;

private:
  Comm &comm;
  const Group &world;
  std::deque<std::string> names; ///< of the slots
  std::vector<Piece> pieces;
  std::vector<StateSlot> slots;       ///< by piece
  std::unique_ptr<GlobalState> state; ///< of the slots, from the first batch on
  struct Whole {
    std::string name;
    Tensor tensor;
    std::shared_ptr<std::byte> bytes;
  };
  std::vector<Whole> values;
};

} // namespace ffrt

#endif // FFRT_COMMON_BATCH_ROWS_H
