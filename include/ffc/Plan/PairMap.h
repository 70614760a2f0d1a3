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

/// Where things are, by key. Open addressing, since looking them up is most of
/// what a proposal does.
class PairSlots {
public:
  /// Null if there is none.
  const void *find(uint64_t key) const {
    for (size_t i = slotOf(key); slots[i].item;
         i = (i + 1) & (slots.size() - 1))
      if (slots[i].key == key)
        return slots[i].item;
    return nullptr;
  }
  /// `key` must be new, `item` not null.
  void insert(uint64_t key, const void *item);

private:
  struct Slot {
    uint64_t key = 0;
    const void *item = nullptr;
  };

  size_t slotOf(uint64_t key) const {
    return (key * 0x9E3779B97F4A7C15u >> 32) & (slots.size() - 1);
  }
  void place(const Slot &slot);

  std::vector<Slot> slots = std::vector<Slot>(64); ///< a power of two
  size_t used = 0;
};

/// Things by two numbers; they keep their places.
template <class T> class PairMap {
public:
  /// Null if there is none.
  const T *find(uint64_t key) const {
    return static_cast<const T *>(slots.find(key));
  }
  /// `key` must be new.
  const T &insert(uint64_t key, T item) {
    items.push_back(std::move(item));
    slots.insert(key, &items.back());
    return items.back();
  }
  size_t size() const { return items.size(); }

private:
  PairSlots slots;
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
