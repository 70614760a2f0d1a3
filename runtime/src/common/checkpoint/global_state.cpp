//===- global_state.cpp - the state of all ranks as one -------------------===//
#include "common/checkpoint/global_state.h"

#include "common/checkpoint/box_rows.h"
#include "common/program/together.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>
#include <tuple>

namespace ffrt {

namespace {

std::vector<int64_t> numbers(int rank, const Index &index) {
  return {index.v, index.v + rank};
}

/// A line for every slot with something of a value.
std::string describe(const std::vector<StateSlot> &states) {
  std::ostringstream text;
  for (const StateSlot &slot : states) {
    const Tensor &t = slot.tensor;
    if (!is_saved(slot))
      continue;
    uint64_t bits;
    std::memcpy(&bits, &slot.init.value, sizeof bits);
    text << (slot.kind == StateKind::parameter) << ' ' << int(t.type) << ' '
         << t.rank;
    for (const Index *index : {&t.global, &t.lo, &t.shape})
      for (int d = 0; d < t.rank; ++d)
        text << ' ' << (*index)[d];
    text << ' ' << int(slot.init.kind) << ' ' << bits << ' ' << slot.init.offset
         << ' ' << slot.name << '\n';
  }
  return text.str();
}

/// The texts of all ranks, by rank.
std::vector<std::string> gather(Comm &comm, const Group &world,
                                std::string text) {
  int64_t size = int64_t(text.size());
  comm.wait(comm.all_reduce("checkpoint", world, flat(&size, DType::i64, 1),
                            ReduceOp::max));
  text.resize(std::size_t(size), '\n');
  std::string all(text.size() * std::size_t(comm.size()), '\n');
  if (size > 0)
    comm.wait(
        comm.all_gather("checkpoint", world, flat(text.data(), DType::u8, size),
                        flat(all.data(), DType::u8, int64_t(all.size()))));
  std::vector<std::string> texts;
  for (int rank = 0; rank < comm.size(); ++rank)
    texts.push_back(all.substr(std::size_t(rank) * text.size(), text.size()));
  return texts;
}

/// A line of describe().
struct Line {
  GlobalValue value;
  Index lo, shape;

  explicit Line(const std::string &text) {
    std::istringstream words(text);
    int type = 0, kind = 0;
    uint64_t bits = 0;
    words >> value.parameter >> type >> value.rank;
    value.type = DType(type);
    for (Index *index : {&value.shape, &lo, &shape})
      for (int d = 0; d < value.rank; ++d)
        words >> (*index)[d];
    words >> kind >> bits >> value.init.offset;
    value.init.kind = Init::Kind(kind);
    std::memcpy(&value.init.value, &bits, sizeof bits);
    std::getline(words.ignore(1), value.name);
  }
};

/// The coordinates along a dimension between which no box begins or ends.
std::vector<int64_t> cuts(const std::vector<std::pair<Index, Index>> &boxes,
                          int64_t extent, int d) {
  std::vector<int64_t> result = {0, extent};
  for (const auto &[lo, shape] : boxes) {
    result.push_back(lo[d]);
    result.push_back(lo[d] + shape[d]);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Calls f(lo, shape) for every box that the cuts make.
template <class F>
void for_cells(const std::vector<std::vector<int64_t>> &cuts, const F &f) {
  const int rank = int(cuts.size());
  Index at;
  for (;;) {
    Index lo, shape;
    for (int d = 0; d < rank; ++d) {
      const std::size_t i = std::size_t(at[d]);
      lo[d] = cuts[std::size_t(d)][i];
      shape[d] = cuts[std::size_t(d)][i + 1] - lo[d];
    }
    f(lo, shape);
    int d = rank - 1;
    while (d >= 0 && ++at[d] + 1 == int64_t(cuts[std::size_t(d)].size()))
      at[d--] = 0;
    if (d < 0)
      return;
  }
}

bool contains(const Index &lo, const Index &shape, const Index &inner_lo,
              const Index &inner_shape, int rank) {
  bool inside = true;
  for (int d = 0; d < rank; ++d)
    inside &= lo[d] <= inner_lo[d] &&
              inner_lo[d] + inner_shape[d] <= lo[d] + shape[d];
  return inside;
}

/// The slot that has a box of a value; null: none.
const StateSlot *find_slot(const std::vector<StateSlot> &states,
                           const GlobalValue &value, const Index &lo,
                           const Index &shape) {
  for (const StateSlot &slot : states) {
    const Tensor &t = slot.tensor;
    if (is_saved(slot) && t.data && value.name == slot.name &&
        value.parameter == (slot.kind == StateKind::parameter) &&
        contains(t.lo, t.shape, lo, shape, value.rank))
      return &slot;
  }
  return nullptr;
}

/// Who has which boxes of a value.
class Holders {
public:
  Holders(int rank, const std::vector<GlobalState::Piece> &pieces)
      : rank(rank) {
    for (const GlobalState::Piece &p : pieces) {
      std::vector<int> &those =
          by_box[{numbers(rank, p.lo), numbers(rank, p.shape)}];
      if (those.empty())
        distinct.emplace_back(p.lo, p.shape);
      those.push_back(p.rank);
    }
  }

  /// The ranks that have all of a box, ascending.
  std::vector<int> of(const Index &lo, const Index &shape) const {
    const auto exact = by_box.find({numbers(rank, lo), numbers(rank, shape)});
    if (exact != by_box.end())
      return exact->second;
    std::vector<int> result;
    for (const auto &[box_lo, box_shape] : distinct)
      if (contains(box_lo, box_shape, lo, shape, rank)) {
        const std::vector<int> &those =
            by_box.at({numbers(rank, box_lo), numbers(rank, box_shape)});
        result.insert(result.end(), those.begin(), those.end());
      }
    std::sort(result.begin(), result.end());
    return result;
  }

  const std::vector<std::pair<Index, Index>> &boxes() const { return distinct; }

private:
  const int rank;
  std::map<std::pair<std::vector<int64_t>, std::vector<int64_t>>,
           std::vector<int>>
      by_box;
  std::vector<std::pair<Index, Index>> distinct;
};

} // namespace

std::size_t GlobalValue::bytes() const {
  return box_elements(rank, shape) * size_of(type);
}

bool is_saved(const StateSlot &slot) {
  return slot.kind != StateKind::constant;
}

GlobalState::GlobalState(Comm &comm, const Group &world,
                         const std::vector<StateSlot> &states) {
  using Key = std::tuple<bool, std::string>;
  std::map<Key, std::pair<GlobalValue, std::vector<Piece>>> found;
  const std::vector<std::string> texts = gather(comm, world, describe(states));
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::istringstream lines(texts[std::size_t(rank)]);
    for (std::string text; std::getline(lines, text);) {
      if (text.empty())
        continue;
      const Line line(text);
      auto &[value, pieces] =
          found
              .emplace(Key(!line.value.parameter, line.value.name),
                       std::pair(line.value, std::vector<Piece>()))
              .first->second;
      if (box_elements(value.rank, line.shape) > 0)
        pieces.push_back({rank, line.lo, line.shape});
    }
  }
  std::vector<std::vector<Piece>> pieces;
  for (auto &[key, entry] : found) {
    all.push_back(std::move(entry.first));
    pieces.push_back(std::move(entry.second));
  }
  assign_homes(comm.rank(), comm.size(), states, pieces);
}

void GlobalState::assign_homes(int rank, int ranks,
                               const std::vector<StateSlot> &states,
                               const std::vector<std::vector<Piece>> &pieces) {
  std::vector<std::size_t> written(static_cast<std::size_t>(ranks));
  for (std::size_t v = 0; v < all.size(); ++v) {
    const GlobalValue &value = all[v];
    const Holders holders(value.rank, pieces[v]);
    std::vector<std::vector<int64_t>> all_cuts;
    for (int d = 0; d < value.rank; ++d)
      all_cuts.push_back(cuts(holders.boxes(), value.shape[d], d));
    if (value.bytes() == 0)
      continue;
    for_cells(all_cuts, [&](const Index &lo, const Index &shape) {
      const std::vector<int> those = holders.of(lo, shape);
      int home = 0;
      if (!those.empty())
        home = *std::min_element(those.begin(), those.end(), [&](int a, int b) {
          return written[std::size_t(a)] < written[std::size_t(b)];
        });
      written[std::size_t(home)] +=
          box_elements(value.rank, shape) * size_of(value.type);
      Cell cell = {v, home, !those.empty(), lo, shape, nullptr};
      if (home == rank) {
        cell.slot = find_slot(states, value, lo, shape);
        own.push_back(cell);
      }
      every.push_back(cell);
    });
  }
}

} // namespace ffrt
