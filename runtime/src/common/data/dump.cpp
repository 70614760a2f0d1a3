//===- dump.cpp - global values into .npy files ---------------------------===//
#include "common/data/dump.h"

#include "common/checkpoint/box_rows.h"
#include "common/copy/host_copy.h"
#include "common/data/npy.h"
#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "common/elementwise/cast.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ffrt {

namespace {

constexpr const char *kTask = "dump";
constexpr int kTag = 7001;

bool same_box(const Tensor &a, const Tensor &b) {
  return std::memcmp(&a.lo, &b.lo, sizeof a.lo) == 0 &&
         std::memcmp(&a.shape, &b.shape, sizeof a.shape) == 0;
}

/// Entries past the rank are not part of a box.
Index cut(int rank, const Index &values) {
  Index result;
  for (int d = 0; d < rank; ++d)
    result[d] = values[d];
  return result;
}

std::shared_ptr<std::byte[]> host_bytes(std::size_t bytes) {
  return std::shared_ptr<std::byte[]>(new std::byte[bytes]);
}

/// bf16 and f16 become f32.
void widen(const Tensor &narrow, std::byte *wide) {
  with_float(narrow.type, [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    const T *from = narrow.as<T>();
    for (int64_t i = 0; i < narrow.elements(); ++i) {
      const float value = from[i];
      std::memcpy(wide + std::size_t(i) * sizeof value, &value, sizeof value);
    }
  });
}

} // namespace

Dump::Piece Dump::keep(const Tensor &on_device) {
  const HostTensor copy(on_device, HostTensor::Contents::copied);
  const Tensor &t = copy.tensor();
  const std::size_t n = std::size_t(t.elements());
  Piece piece;
  piece.bytes = host_bytes(n * size_of(t.type));
  piece.tensor = box_tensor(t.type, t.rank, cut(t.rank, t.lo),
                            cut(t.rank, t.shape), t.global, piece.bytes.get());
  if (n > 0)
    copy_on_host(piece.tensor, {}, t, {}, t.shape);
  if (is_low_precision(t.type)) {
    const auto wide = host_bytes(n * sizeof(float));
    widen(piece.tensor, wide.get());
    piece.bytes = wide;
    piece.tensor.data = wide.get();
    piece.tensor.type = DType::f32;
  }
  return piece;
}

void Dump::record_batch(int64_t first, int64_t count) {
  recording = true;
  first_sample = first;
  samples = count;
}

bool Dump::batched(const std::string &name) const {
  for (const OutputInfo &output : info.outputs)
    if (name == output.name)
      return output.rank > 0 && output.shape[0] == info.batch &&
             name.compare(0, 4, "out/") == 0;
  return false;
}

void Dump::offer(const char *name, const Tensor &tensor) {
  if (!recording || !tensor.data)
    return;
  std::vector<Piece> &pieces = offered[name];
  Tensor t = tensor;
  const bool rows = samples > 0 && batched(name);
  if (rows)
    t.shape[0] = std::min(t.shape[0], samples - first_sample - t.lo[0]);
  if (rows && t.shape[0] <= 0)
    return;
  Piece piece = keep(t);
  if (rows) {
    piece.tensor.lo[0] += first_sample;
    piece.tensor.global[0] = samples;
    pieces.push_back(std::move(piece));
    return;
  }
  for (Piece &old : pieces)
    if (same_box(old.tensor, piece.tensor)) {
      old = std::move(piece);
      return;
    }
  pieces.push_back(std::move(piece));
}

void Dump::unscale_gradients() {
  const std::string name = "loss_scale", gradients = "grad/";
  if (std::none_of(
          info.outputs.begin(), info.outputs.end(),
          [&](const OutputInfo &output) { return name == output.name; }))
    return;
  Real scale = 0; // not every rank has it
  for (const Piece &piece : offered[name])
    scale = *piece.tensor.as<Real>();
  comm.wait(
      comm.all_reduce(kTask, world, flat(&scale, kReal, 1), ReduceOp::max));
  for (auto &[output, pieces] : offered)
    if (output.compare(0, gradients.size(), gradients) == 0)
      for (Piece &piece : pieces) {
        Real *values = piece.tensor.as<Real>();
        for (int64_t i = 0; i < piece.tensor.elements(); ++i)
          values[i] /= scale;
      }
}

std::vector<StateSlot> Dump::slots(const std::vector<StateSlot> &states) {
  std::vector<StateSlot> result;
  for (const OutputInfo &output : info.outputs)
    for (const Piece &piece : offered[output.name])
      result.push_back({output.name, StateKind::slot, {}, piece.tensor});
  for (StateSlot slot : states) {
    if (slot.kind != StateKind::parameter)
      continue;
    if (!target_is_host() || is_low_precision(slot.tensor.type)) {
      kept.push_back(keep(slot.tensor));
      slot.tensor = kept.back().tensor;
    }
    result.push_back(slot);
  }
  return result;
}

std::shared_ptr<std::byte> Dump::gather(const GlobalValue &value,
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
    comm.wait(comm.exchange(kTask, kTag, {{0, message(mine.get(), n)}}, {}));
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
        comm.exchange(kTask, kTag, {}, {{peer, message(theirs.get(), n)}}));
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

void Dump::complete(const GlobalValue &value, const std::vector<Cell> &cells,
                    std::byte *whole, const Begin &begin) {
  const std::size_t total = box_elements(value.rank, value.shape);
  std::size_t held = 0;
  for (const Cell &cell : cells)
    held += cell.held ? box_elements(value.rank, cell.shape) : 0;
  if (held == total)
    return;
  const Error missing("expected all of " + std::to_string(total) +
                      " elements, found " + std::to_string(held));
  if (!value.parameter)
    throw missing;
  const auto of_value = [&](const Index &lo, const Index &shape,
                            std::byte *bytes) {
    return box_tensor(value.type, value.rank, lo, shape, value.shape, bytes);
  };
  const auto begun = host_bytes(value.bytes());
  const Tensor first = of_value({}, value.shape, begun.get()),
               last = of_value({}, value.shape, whole);
  begin({value.name.c_str(), StateKind::parameter, value.init, first});
  for (const Cell &cell : cells) {
    if (!cell.held) {
      copy_on_host(last, cell.lo, first, cell.lo, cell.shape);
      continue;
    }
    const std::size_t n =
        box_elements(value.rank, cell.shape) * size_of(value.type);
    const auto a = host_bytes(n), b = host_bytes(n);
    copy_on_host(of_value(cell.lo, cell.shape, a.get()), {}, first, cell.lo,
                 cell.shape);
    copy_on_host(of_value(cell.lo, cell.shape, b.get()), {}, last, cell.lo,
                 cell.shape);
    if (std::memcmp(a.get(), b.get(), n) != 0)
      throw missing;
  }
}

void Dump::write(const std::string &folder,
                 const std::vector<StateSlot> &states,
                 const std::vector<double> &losses, const Begin &begin) {
  unscale_gradients();
  kept.clear();
  const std::vector<StateSlot> mine = slots(states);
  const GlobalState all(comm, world, mine);
  DumpPaths paths;
  if (info.training)
    paths.add("loss", false);
  FileSet files(folder);
  std::string cause; // of rank 0, which goes on to receive what others send
  const auto keep_cause = [&](const std::string &what, const auto &f) {
    try {
      if (comm.rank() == 0 && cause.empty())
        f();
    } catch (const Error &error) {
      cause = what + error.what();
    }
  };
  for (const OutputInfo &output : info.outputs)
    keep_cause("'" + dump_path(output.name) + "': ", [&] {
      const bool found = std::any_of(
          all.values().begin(), all.values().end(), [&](const auto &value) {
            return !value.parameter && value.name == output.name;
          });
      if (!found)
        throw Error("expected all of " +
                    std::to_string(box_elements(output.rank, output.shape)) +
                    " elements, found 0");
    });
  const Cell *homes = all.homes().data();
  auto cell = all.cells().begin();
  for (std::size_t v = 0; v < all.values().size(); ++v) {
    const GlobalValue &value = all.values()[v];
    std::vector<Cell> cells;
    std::size_t own = 0;
    for (; cell != all.cells().end() && cell->value == v; ++cell) {
      cells.push_back(*cell);
      own += cell->rank == comm.rank();
    }
    const std::shared_ptr<std::byte> whole = gather(value, cells, homes);
    homes += own;
    const std::string path = paths.add(value.name, value.parameter);
    keep_cause("'" + path + "': ",
               [&] { complete(value, cells, whole.get(), begin); });
    keep_cause("", [&] {
      files.add(path + ".npy", npy_head(value.type, value.rank, value.shape),
                whole.get(), value.bytes());
    });
  }
  keep_cause("", [&] {
    if (info.training)
      files.add("loss.npy",
                npy_head(DType::f64, 1, Index{int64_t(losses.size())}),
                losses.data(), losses.size() * sizeof(double));
    if (const std::string names = paths.unusual(); !names.empty())
      files.add(kNamesFile, names, nullptr, 0);
    files.commit();
  });
  agree(comm, world, kTask, cause);
  offered.clear();
  kept.clear();
  recording = false;
}

} // namespace ffrt
