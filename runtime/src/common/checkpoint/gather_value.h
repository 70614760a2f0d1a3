//===- gather_value.h - a value of all ranks on rank 0 ----------*- C++ -*-===//
#ifndef FFRT_COMMON_GATHER_VALUE_H
#define FFRT_COMMON_GATHER_VALUE_H

#include "common/checkpoint/global_state.h"
#include "ffrt/comm.h"

#include <functional>
#include <memory>
#include <vector>

namespace ffrt {

/// Collective: all of a value whose slots are in the host's memory, on rank 0,
/// where it may be that of a slot; null on others. `homes` are those of this
/// rank among `cells`. `task` is what the communication is for.
std::shared_ptr<std::byte> gather_value(Comm &comm, const char *task,
                                        const GlobalValue &value,
                                        const std::vector<Cell> &cells,
                                        const Cell *homes);

/// The cells of value after value, with the first home of this rank in each.
void for_values(const GlobalState &state, int rank,
                const std::function<void(const GlobalValue &value,
                                         const std::vector<Cell> &cells,
                                         const Cell *homes)> &visit);

} // namespace ffrt

#endif // FFRT_COMMON_GATHER_VALUE_H
