//===- Earliest.h - which of many comes first -------------------*- C++ -*-===//
//
// Private to the library. A tournament (Knuth, The Art of Computer Programming
// 3, 5.4.1): every number has one time, which may change at any time, where a
// heap of events would fill up with those that hold no longer.
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
    size_t at = leaves + number;
    nodes[at].time = time;
    nodes[at].turn = ++turns;
    while (at > 1) {
      at /= 2;
      const Node &left = nodes[2 * at], &right = nodes[2 * at + 1];
      const Node &first = right.isBefore(left) ? right : left;
      if (first.number != number && nodes[at].number != number)
        return; // What is above has not changed.
      nodes[at] = first;
    }
  }
  Picoseconds time() const { return nodes[1].time; }
  /// Of those with that time, the one that was set first.
  size_t number() const { return nodes[1].number; }

private:
  struct Node {
    Picoseconds time = kNever;
    uint64_t turn = 0;
    size_t number = 0;
    bool isBefore(const Node &other) const {
      return time < other.time || (time == other.time && turn < other.turn);
    }
  };

  void grow(size_t count) {
    const std::vector<Node> before(
        nodes.begin() + static_cast<std::ptrdiff_t>(leaves), nodes.end());
    while (leaves < count)
      leaves *= 2;
    nodes.assign(2 * leaves, {});
    std::copy(before.begin(), before.end(),
              nodes.begin() + static_cast<std::ptrdiff_t>(leaves));
    for (size_t number = 0; number < leaves; ++number)
      nodes[leaves + number].number = number;
    for (size_t at = leaves - 1; at > 0; --at)
      nodes[at] =
          std::min(nodes[2 * at], nodes[2 * at + 1],
                   [](const Node &a, const Node &b) { return a.isBefore(b); });
  }

  size_t leaves = 1;
  uint64_t turns = 0;
  /// Node n has the first of its children, 2 n and 2 n + 1; numbers are leaves.
  std::vector<Node> nodes = std::vector<Node>(2);
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_EARLIEST_H
