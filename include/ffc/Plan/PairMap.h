//===- PairMap.h - things by two numbers ------------------------*- C++ -*-===//
#ifndef FFC_PLAN_PAIRMAP_H
#define FFC_PLAN_PAIRMAP_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace ffc::plan {

inline uint64_t pairKey(int32_t a, int32_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 |
         static_cast<uint32_t>(b);
}

/// Things by two numbers; they keep their places. Open addressing, since
/// looking them up is most of what a proposal does.
template <class T> class PairMap {
public:
  /// Null if there is none.
  const T *find(uint64_t key) const {
    for (size_t i = slotOf(key); slots[i].item; i = (i + 1) & (slots.size() - 1))
      if (slots[i].key == key)
        return slots[i].item;
    return nullptr;
  }
  /// `key` must be new.
  const T &insert(uint64_t key, T item) {
    if (2 * (items.size() + 1) > slots.size())
      grow();
    items.push_back(std::move(item));
    place({key, &items.back()});
    return items.back();
  }

  size_t size() const { return items.size(); }

private:
  struct Slot {
    uint64_t key = 0;
    const T *item = nullptr;
  };

  size_t slotOf(uint64_t key) const {
    return (key * 0x9E3779B97F4A7C15u >> 32) & (slots.size() - 1);
  }
  void place(const Slot &slot) {
    size_t i = slotOf(slot.key);
    while (slots[i].item)
      i = (i + 1) & (slots.size() - 1);
    slots[i] = slot;
  }
  void grow() {
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot &slot : old)
      if (slot.item)
        place(slot);
  }

  std::vector<Slot> slots = std::vector<Slot>(64); ///< a power of two
  std::deque<T> items;
};

/// What `map` has for two numbers; made when first asked for.
template <class T, class Make>
const T &lookUp(PairMap<T> &map, int32_t a, int32_t b, Make make) {
  const uint64_t key = pairKey(a, b);
  if (const T *known = map.find(key))
    return *known;
  return map.insert(key, make());
}

} // namespace ffc::plan

#endif // FFC_PLAN_PAIRMAP_H
