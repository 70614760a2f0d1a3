//===- dump.cpp - global values into .npy files ---------------------------===//
#include "common/data/dump.h"

#include "common/checkpoint/box_rows.h"
#include "common/checkpoint/gather_value.h"
#include "common/copy/host_copy.h"
#include "common/data/npy.h"
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

} // namespace

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
  Piece piece = keep_piece(t);
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
      kept.push_back(keep_piece(slot.tensor));
      slot.tensor = kept.back().tensor;
    }
    result.push_back(slot);
  }
  return result;
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
  for_values(all, comm.rank(),
             [&](const GlobalValue &value, const std::vector<Cell> &cells,
                 const Cell *homes) {
               const std::shared_ptr<std::byte> whole =
                   gather_value(comm, kTask, value, cells, homes);
               const std::string path = paths.add(value.name, value.parameter);
               keep_cause("'" + path + "': ",
                          [&] { complete(value, cells, whole.get(), begin); });
               keep_cause("", [&] {
                 files.add(path + ".npy",
                           npy_head(value.type, value.rank, value.shape),
                           whole.get(), value.bytes());
               });
             });
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
