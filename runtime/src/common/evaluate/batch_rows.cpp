//===- batch_rows.cpp - what an evaluation finds for a batch --------------===//
#include "common/evaluate/batch_rows.h"

#include "common/checkpoint/box_rows.h"
#include "common/checkpoint/gather_value.h"
#include "common/device/host_tensor.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstring>

namespace ffrt {

void BatchRows::offer(const char *name, const Tensor &tensor) {
  if (!tensor.data)
    return;
  Piece piece = keep_piece(tensor);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (names[i] == name && same_box(pieces[i].tensor, piece.tensor)) {
      std::memcpy(pieces[i].bytes.get(), piece.bytes.get(),
                  std::size_t(bytes_of(piece.tensor)));
      return;
    }
  if (state)
    throw Error(std::string("evaluation: '") + name +
                "': expected the parts of the first batch, found another");
  names.push_back(name);
  pieces.push_back(std::move(piece));
}

void BatchRows::gather() {
  constexpr const char *kTask = "validate";
  if (!state) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      slots.push_back(
          {names[i].c_str(), StateKind::slot, {}, pieces[i].tensor});
    state = std::make_unique<GlobalState>(comm, world, slots);
  }
  values.clear();
  for_values(*state, comm.rank(),
             [&](const GlobalValue &value, const std::vector<Cell> &cells,
                 const Cell *homes) {
               auto bytes = gather_value(comm, kTask, value, cells, homes);
               values.push_back(
                   {value.name,
                    box_tensor(value.type, value.rank, {}, value.shape,
                               value.shape, bytes.get()),
                    bytes});
             });
}

const Tensor &BatchRows::at(const std::string &name) const {
  const auto found =
      std::find_if(values.begin(), values.end(),
                   [&](const Whole &value) { return value.name == name; });
  if (found == values.end())
    throw Error("evaluation: expected '" + name + "', found none");
  return found->tensor;
}

} // namespace ffrt
