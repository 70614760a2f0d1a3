//===- SegmentKeys.h - numbers for contents, contents by numbers -*- C++ -*-==//
//
// Internal to the segment table.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SEGMENTKEYS_H
#define FFC_LIB_PLAN_SEGMENTKEYS_H

#include "ffc/Plan/Rules.h"

#include <deque>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace ffc::plan {

/// Bytes that are equal for equal contents.
class Key {
public:
  Key &add(int64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
    return *this;
  }
  Key &add(const std::string &text) {
    add(static_cast<int64_t>(text.size()));
    bytes += text;
    return *this;
  }
  Key &add(double number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
    return *this;
  }
  Key &add(const TensorType &type) {
    add(int64_t(type.type)).add(static_cast<int64_t>(type.shape.size()));
    for (int64_t extent : type.shape)
      add(extent);
    return *this;
  }
  Key &add(const Access &access) {
    add(int64_t(access.order)).add(static_cast<int64_t>(access.dims.size()));
    for (const DimMap &map : access.dims) {
      add(int64_t(map.kind)).add(map.stride).add(map.reach).add(map.pad);
      addAll(map.dims);
    }
    return addAll(access.onlyAtStart);
  }
  template <class Number> Key &addAll(const std::vector<Number> &numbers) {
    static_assert(std::is_integral_v<Number>, "bytes are compared");
    add(static_cast<int64_t>(numbers.size()));
    bytes.append(reinterpret_cast<const char *>(numbers.data()),
                 numbers.size() * sizeof(Number));
    return *this;
  }

  std::string bytes;
};

/// Numbers distinct contents in the order in which they come.
template <class T> class Interner {
public:
  int32_t intern(const Key &key, T item) {
    auto [it, added] =
        ids.emplace(key.bytes, static_cast<int32_t>(items.size()));
    if (added)
      items.push_back(std::move(item));
    return it->second;
  }
  const T &operator[](int32_t id) const { return items[id]; }

private:
  std::unordered_map<std::string, int32_t> ids;
  std::deque<T> items; ///< keep their places
};

/// Numbers distinct regions. Made for one part after the other, which mostly
/// are boxes.
class RegionTable {
public:
  int32_t intern(const Region &region) {
    const uint64_t hash = hashOf(region);
    for (size_t i = hash & (slots.size() - 1);;
         i = (i + 1) & (slots.size() - 1))
      if (slots[i].number < 0) {
        slots[i] = {hash, static_cast<int32_t>(regions.size())};
        regions.push_back(region);
        if (2 * regions.size() > slots.size())
          grow();
        return static_cast<int32_t>(regions.size()) - 1;
      } else if (slots[i].hash == hash && regions[slots[i].number] == region) {
        return slots[i].number;
      }
  }
  const Region &operator[](int32_t id) const { return regions[id]; }

private:
  struct Slot {
    uint64_t hash = 0;
    int32_t number = -1;
  };

  static uint64_t hashOf(const Region &region) {
    auto hash = static_cast<uint64_t>(region.rank());
    for (int d = 0; d < region.rank(); ++d)
      for (Interval interval : region.dim(d)) {
        hash =
            (hash ^ static_cast<uint64_t>(interval.lo)) * 0x9E3779B97F4A7C15u;
        hash =
            (hash ^ static_cast<uint64_t>(interval.hi)) * 0xC2B2AE3D27D4EB4Fu;
        hash ^= hash >> 29;
      }
    return hash;
  }
  void grow() {
    std::vector<Slot> old(2 * slots.size());
    old.swap(slots);
    for (const Slot &slot : old) {
      if (slot.number < 0)
        continue;
      size_t i = slot.hash & (slots.size() - 1);
      while (slots[i].number >= 0)
        i = (i + 1) & (slots.size() - 1);
      slots[i] = slot;
    }
  }

  std::vector<Slot> slots = std::vector<Slot>(64); ///< a power of two
  std::deque<Region> regions;                      ///< keep their places
};

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

#endif // FFC_LIB_PLAN_SEGMENTKEYS_H
