//===- SegmentKeys.h - numbers for contents, contents by numbers -*- C++ -*-==//
//
// Internal to the segment table.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SEGMENTKEYS_H
#define FFC_LIB_PLAN_SEGMENTKEYS_H

#include "ffc/Plan/Configuration.h"
#include "ffc/Plan/PairMap.h"

#include <deque>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace ffc::plan {

/// Bytes that are equal for equal contents.
class Key {
public:
  /// Most keys are shorter, so that a string of them does not move.
  Key() { bytes.reserve(256); }
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
        ids.try_emplace(key.bytes, static_cast<int32_t>(items.size()));
    if (added)
      items.push_back(std::move(item));
    return it->second;
  }
  const T &operator[](int32_t id) const { return items[id]; }

private:
  std::unordered_map<std::string, int32_t> ids;
  std::deque<T> items; ///< keep their places
};

/// Numbers distinct things that come one after the other, without making a key
/// of them first.
template <class T, uint64_t (*hashOf)(const T &)> class ContentTable {
public:
  int32_t intern(const T &item) {
    const uint64_t hash = hashOf(item);
    for (size_t i = hash & (slots.size() - 1);;
         i = (i + 1) & (slots.size() - 1))
      if (slots[i].number < 0) {
        slots[i] = {hash, static_cast<int32_t>(items.size())};
        items.push_back(item);
        if (2 * items.size() > slots.size())
          grow();
        return static_cast<int32_t>(items.size()) - 1;
      } else if (slots[i].hash == hash && items[slots[i].number] == item) {
        return slots[i].number;
      }
  }
  const T &operator[](int32_t id) const { return items[id]; }

private:
  struct Slot {
    uint64_t hash = 0;
    int32_t number = -1;
  };

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
  std::deque<T> items;                             ///< keep their places
};

inline uint64_t mixed(uint64_t hash, int64_t a, int64_t b) {
  hash = (hash ^ static_cast<uint64_t>(a)) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ static_cast<uint64_t>(b)) * 0xC2B2AE3D27D4EB4Fu;
  return hash ^ hash >> 29;
}

inline uint64_t hashOfRegion(const Region &region) {
  auto hash = static_cast<uint64_t>(region.rank());
  for (int d = 0; d < region.rank(); ++d)
    for (Interval interval : region.dim(d))
      hash = mixed(hash, interval.lo, interval.hi);
  return hash;
}

inline uint64_t hashOfConfiguration(const Configuration &config) {
  auto hash = static_cast<uint64_t>(config.again);
  for (const GridAxis &axis : config.axes) {
    hash = mixed(hash, axis.dim, axis.degree);
    for (int64_t share : axis.shares)
      hash = mixed(hash, share, 0);
  }
  for (DeviceId device : config.devices)
    hash = mixed(hash, device, 0);
  return hash;
}

using RegionTable = ContentTable<Region, hashOfRegion>;
using ConfigurationTable = ContentTable<Configuration, hashOfConfiguration>;

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SEGMENTKEYS_H
