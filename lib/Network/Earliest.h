//===- Earliest.h - which of many comes first -------------------*- C++ -*-===//
//
// Private to the library. A tournament tree: every number has one time, which
// may change at any time, where a heap of events would fill up with those that
// hold no longer.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_NETWORK_EARLIEST_H
#define FFC_LIB_NETWORK_EARLIEST_H

#include "ffc/Network/Transport.h"

#include <algorithm>

namespace ffc::network {

class Earliest {
public:
  /// kNever for all numbers that have not been set.
  void set(size_t number, Picoseconds time) {
    if (number >= leaves)
      grow(number + 1);
    size_t node = leaves + number;
    times[node] = time;
    while (node > 1) {
      node /= 2;
      const Picoseconds first = std::min(times[2 * node], times[2 * node + 1]);
      if (times[node] == first)
        return;
      times[node] = first;
    }
  }
  Picoseconds time() const { return times[1]; }
  /// The least number with that time, which is not kNever.
  size_t number() const {
    size_t node = 1;
    while (node < leaves)
      node = 2 * node + (times[2 * node] == times[node] ? 0 : 1);
    return node - leaves;
  }

private:
  void grow(size_t count) {
    const std::vector<Picoseconds> before(
        times.begin() + static_cast<std::ptrdiff_t>(leaves), times.end());
    while (leaves < count)
      leaves *= 2;
    times.assign(2 * leaves, kNever);
    std::copy(before.begin(), before.end(),
              times.begin() + static_cast<std::ptrdiff_t>(leaves));
    for (size_t node = leaves - 1; node > 0; --node)
      times[node] = std::min(times[2 * node], times[2 * node + 1]);
  }

  size_t leaves = 1;
  /// Of inner nodes, the earliest below: node n is above 2 n and 2 n + 1.
  std::vector<Picoseconds> times = {kNever, kNever};
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_EARLIEST_H
