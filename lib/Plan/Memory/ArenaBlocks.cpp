//===- ArenaBlocks.cpp - what takes bytes of an arena, and when -----------===//

#include "ArenaBlocks.h"

#include <algorithm>
#include <iterator>
#include <map>

using namespace ffc::plan;

Blocks ffc::plan::blocksOf(const Graph &graph, const Strategy &strategy,
                           const DeviceProgram &device) {
  const SharedPlaces places = sharedPlacesOf(graph, strategy, device);
  const std::vector<Lifetime> &lifetimes = places.lifetimes;
  Blocks result;
  result.of.assign(device.buffers.size(), -1);
  // The operand that a buffer follows; one buffer follows an operand.
  std::vector<BufferId> before(device.buffers.size(), -1);
  std::vector<bool> taken(device.buffers.size());
  for (auto [buffer, operand] : places.overwrites) {
    const BufferId base = places.base[operand];
    if (before[buffer] < 0 && !taken[base]) {
      taken[base] = true;
      before[buffer] = base;
    }
  }
  std::vector<BufferId> arena;
  for (BufferId b = 0; b < static_cast<BufferId>(device.buffers.size()); ++b)
    if (places.base[b] == b && device.buffers[b].section == Section::Arena &&
        device.buffers[b].bytes > 0 && lifetimes[b].last >= lifetimes[b].first)
      arena.push_back(b);
  // Operands come before what follows them.
  std::stable_sort(arena.begin(), arena.end(), [&](BufferId a, BufferId b) {
    return lifetimes[a].first < lifetimes[b].first;
  });
  for (BufferId b : arena) {
    if (before[b] >= 0) {
      result.of[b] = result.of[before[b]];
      result.blocks[result.of[b]].life.last = lifetimes[b].last;
      continue;
    }
    result.of[b] = static_cast<int>(result.blocks.size());
    result.blocks.push_back({device.buffers[b].bytes, lifetimes[b]});
  }
  for (size_t b = 0; b < places.base.size(); ++b)
    result.of[b] = result.of[places.base[b]];
  return result;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

/// Bytes that are taken: intervals that do not touch each other.
class TakenBytes {
public:
  void add(int64_t begin, int64_t end) {
    auto at = ends.upper_bound(begin);
    if (at != ends.begin() && std::prev(at)->second >= begin)
      --at;
    while (at != ends.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ends.erase(at);
    }
    ends.emplace_hint(at, begin, end);
  }

  /// The end of an interval that takes some of the bytes from `begin` to `end`;
  /// `begin` if none does.
  int64_t endOfOverlap(int64_t begin, int64_t end) const {
    auto at = ends.lower_bound(end);
    return at == ends.begin() ? begin : std::max(begin, std::prev(at)->second);
  }

private:
  std::map<int64_t, int64_t> ends; ///< by their begins
};

/// Where blocks lie, and when: a tree of spans of time, each half as long as
/// the one above. A block is noted in the few spans that it fills and whose
/// parents it does not fill, and in those above. So whether bytes are free for
/// some time takes a few look-ups, however many blocks there are.
class Occupancy {
public:
  explicit Occupancy(const std::vector<Block> &blocks) {
    for (const Block &block : blocks) {
      times.push_back(block.life.first);
      times.push_back(block.life.last);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    while (leaves < times.size())
      leaves *= 2;
    filled.resize(2 * leaves);
    touched.resize(2 * leaves);
  }

  void add(const Block &block) {
    const int64_t end = aligned(block.offset + block.bytes);
    forSpans(block.life, [&](size_t span, bool isWhole) {
      touched[span].add(block.offset, end);
      if (isWhole)
        filled[span].add(block.offset, end);
    });
  }

  /// The lowest offset from `at` on at which `block` fits, and does not lie
  /// across `symmetric`.
  int64_t fit(const Block &block, int64_t at, int64_t symmetric) const {
    std::vector<const TakenBytes *> all;
    forSpans(block.life, [&](size_t span, bool isWhole) {
      all.push_back(isWhole ? &touched[span] : &filled[span]);
    });
    for (int64_t from = -1; from != at;) {
      from = at;
      if (at < symmetric && at + block.bytes > symmetric)
        at = symmetric;
      for (const TakenBytes *taken : all)
        at = taken->endOfOverlap(at, at + block.bytes);
    }
    return at;
  }

private:
  std::vector<int> times; ///< at which lives begin or end
  size_t leaves = 1;
  /// By span, its halves behind it: bytes of blocks that live all the time, and
  /// of those that live for some of it and not for all of the span above.
  std::vector<TakenBytes> filled, touched;

  size_t indexOf(int time) const {
    return static_cast<size_t>(
        std::lower_bound(times.begin(), times.end(), time) - times.begin());
  }

  /// Calls `visit` with spans that are within `life`, and with those above.
  template <class Visit> void forSpans(Lifetime life, Visit visit) const {
    walk(1, 0, leaves - 1, indexOf(life.first), indexOf(life.last), visit);
  }
  template <class Visit>
  void walk(size_t span, size_t begin, size_t end, size_t first, size_t last,
            Visit &visit) const {
    if (last < begin || end < first)
      return;
    const bool isWhole = first <= begin && end <= last;
    visit(span, isWhole);
    if (isWhole)
      return;
    const size_t middle = (begin + end) / 2;
    walk(2 * span, begin, middle, first, last, visit);
    walk(2 * span + 1, middle + 1, end, first, last, visit);
  }
};

} // namespace

/// Places blocks in the order of descending weight, each at the lowest offset
/// that is free during its whole lifetime.
static int64_t place(std::vector<Block> &blocks, int64_t symmetric,
                     int64_t weight(const Block &block)) {
  Occupancy placed(blocks);
  std::vector<Block *> order;
  for (Block &block : blocks)
    if (block.offset < 0)
      order.push_back(&block);
    else
      placed.add(block);
  std::stable_sort(order.begin(), order.end(),
                   [&](Block *a, Block *b) { return weight(*a) > weight(*b); });
  int64_t total = symmetric;
  for (Block *block : order) {
    block->offset = placed.fit(*block, block->apart ? symmetric : 0, symmetric);
    placed.add(*block);
    total = std::max(total, aligned(block->offset + block->bytes));
  }
  return total;
}

static int64_t sizeOf(const Block &block) { return block.bytes; }

int64_t ffc::plan::placeBlocks(std::vector<Block> &blocks, int64_t symmetric) {
  // Neither order is better for all models; the better one is seldom more than
  // a part in a thousand above the bytes that live at the same time.
  std::vector<Block> byArea = blocks;
  const int64_t bytes = place(blocks, symmetric, sizeOf);
  const int64_t otherBytes = place(byArea, symmetric, areaOf);
  if (otherBytes < bytes)
    blocks = std::move(byArea);
  return std::min(bytes, otherBytes);
}

int64_t BlockPlacer::place(std::vector<Block> &blocks, int64_t symmetric) {
  if (blocks != given || symmetric != givenSymmetric || blocks.empty()) {
    given = blocks;
    givenSymmetric = symmetric;
    bytes = placeBlocks(blocks, symmetric);
    placed = blocks;
  } else {
    blocks = placed;
  }
  return bytes;
}
