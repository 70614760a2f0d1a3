//===- EarliestOf.h - who is next? ------------------------------*- C++ -*-===//
#ifndef FFC_LIB_NETWORK_EARLIESTOF_H
#define FFC_LIB_NETWORK_EARLIESTOF_H

#include "ffc/Network/Transport.h"

#include <cstdint>
#include <vector>

namespace ffc::network {

/// The earliest of a fixed number of times that change one by one, as a
/// tournament (Knuth, The Art of Computer Programming 3, 5.4.1): a change is
/// played upwards from its leaf. Of equal times that which was set first is
/// first.
class EarliestOf {
public:
  explicit EarliestOf(int32_t count) {
    while (leaves < count)
      leaves *= 2;
    nodes.resize(2 * static_cast<size_t>(leaves));
    for (int32_t i = 0; i < leaves; ++i)
      nodes[leaves + i].who = i;
  }

  /// kNever: none has a time.
  Picoseconds time() const { return nodes[1].time; }
  int32_t who() const { return nodes[1].who; }

  void change(int32_t who, Picoseconds time) {
    int32_t at = leaves + who;
    nodes[at].time = time;
    nodes[at].turn = ++turns;
    for (at /= 2; at > 0; at /= 2) {
      const Node &left = nodes[2 * at], &right = nodes[2 * at + 1];
      nodes[at] = right.isBefore(left) ? right : left;
    }
  }

private:
  struct Node {
    Picoseconds time = kNever;
    int64_t turn = 0;
    int32_t who = 0;
    bool isBefore(const Node &other) const {
      return time < other.time || (time == other.time && turn < other.turn);
    }
  };

  int32_t leaves = 1;
  int64_t turns = 0;
  std::vector<Node> nodes; ///< the children of node i are 2i and 2i + 1
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_EARLIESTOF_H
