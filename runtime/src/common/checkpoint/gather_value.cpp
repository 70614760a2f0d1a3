//===- gather_value.cpp - a value of all ranks on rank 0 ------------------===//
#include "common/checkpoint/gather_value.h"

#include "common/checkpoint/box_rows.h"
#include "common/copy/host_copy.h"
#include "common/data/piece.h"
#include "common/program/together.h"

namespace ffrt {

namespace {

constexpr int kTag = 7001;

} // namespace

std::shared_ptr<std::byte> gather_value(Comm &comm, const char *task,
                                        const GlobalValue &value,
                                        const std::vector<Cell> &cells,
                                        const Cell *homes) {
  const std::size_t size = size_of(value.type);
  const auto bytes_of = [&](int rank) {
    std::size_t n = 0;
    for (const Cell &cell : cells)
      n += cell.rank == rank ? box_elements(value.rank, cell.shape) * size : 0;
    return n;
  };
  const auto message = [&](std::byte *bytes, std::size_t n) {
    return flat(bytes, value.type, int64_t(n / size));
  };
  if (comm.rank() != 0) {
    const std::size_t n = bytes_of(comm.rank());
    if (n == 0)
      return nullptr;
    const auto mine = host_bytes(n);
    std::byte *at = mine.get();
    for (const Cell &cell : cells) {
      if (cell.rank != comm.rank())
        continue;
      const Tensor &from = (homes++)->slot->tensor;
      copy_on_host(box_tensor(value.type, value.rank, cell.lo, cell.shape,
                              value.shape, at),
                   {}, from, place_in(from, cell.lo), cell.shape);
      at += box_elements(value.rank, cell.shape) * size;
    }
    comm.wait(comm.exchange(task, kTag, {{0, message(mine.get(), n)}}, {}));
    return nullptr;
  }
  if (cells.size() == 1 && cells[0].rank == 0 && homes->slot &&
      homes->slot->tensor.order == Order::row_major &&
      homes->slot->tensor.elements() ==
          int64_t(box_elements(value.rank, value.shape)))
    return {std::shared_ptr<void>(), homes->slot->tensor.as<std::byte>()};
  const std::shared_ptr<std::byte[]> whole = host_bytes(value.bytes());
  const Tensor all = box_tensor(value.type, value.rank, {}, value.shape,
                                value.shape, whole.get());
  for (const Cell &cell : cells) {
    if (cell.rank != 0)
      continue;
    const StateSlot *slot = (homes++)->slot;
    if (slot)
      copy_on_host(all, cell.lo, slot->tensor, place_in(slot->tensor, cell.lo),
                   cell.shape);
  }
  for (int peer = 1; peer < comm.size(); ++peer) {
    const std::size_t n = bytes_of(peer);
    if (n == 0)
      continue;
    const auto theirs = host_bytes(n);
    comm.wait(
        comm.exchange(task, kTag, {}, {{peer, message(theirs.get(), n)}}));
    const std::byte *at = theirs.get();
    for (const Cell &cell : cells) {
      if (cell.rank != peer)
        continue;
      copy_on_host(all, cell.lo,
                   box_tensor(value.type, value.rank, cell.lo, cell.shape,
                              value.shape, at),
                   {}, cell.shape);
      at += box_elements(value.rank, cell.shape) * size;
    }
  }
  return {whole, whole.get()};
}

void for_values(const GlobalState &state, int rank,
                const std::function<void(const GlobalValue &value,
                                         const std::vector<Cell> &cells,
                                         const Cell *homes)> &visit) {
  const Cell *homes = state.homes().data();
  auto cell = state.cells().begin();
  for (std::size_t v = 0; v < state.values().size(); ++v) {
    std::vector<Cell> cells;
    std::size_t own = 0;
    for (; cell != state.cells().end() && cell->value == v; ++cell) {
      cells.push_back(*cell);
      own += cell->rank == rank;
    }
    visit(state.values()[v], cells, homes);
    homes += own;
  }
}

} // namespace ffrt
