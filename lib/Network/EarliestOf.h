//===- EarliestOf.h - who is next? ------------------------------*- C++ -*-===//
#ifndef FFC_LIB_NETWORK_EARLIESTOF_H
#define FFC_LIB_NETWORK_EARLIESTOF_H

#include "ffc/Network/Transport.h"

#include <cstdint>
#include <vector>

namespace ffc::network {

/// The earliest of a fixed number of times that change one by one, as a
/// tournament (Knuth, The Art of Computer Programming, 3, 5.4.1): every change
/// is played upwards from its leaf, without a branch that could be mispredicted
/// but for the end. Of equal times that with the lowest number is first.
class EarliestOf {
public:
  explicit EarliestOf(int32_t count) {
    while (leaves < count)
      leaves *= 2;
    times.assign(2 * leaves, kNever);
    winners.resize(2 * leaves);
    for (int32_t i = 0; i < leaves; ++i)
      winners[leaves + i] = i;
    for (int32_t i = leaves - 1; i > 0; --i)
      winners[i] = winners[2 * i];
  }

  Picoseconds time() const { return times[1]; }
  int32_t who() const { return winners[1]; }

  void change(int32_t who, Picoseconds time) {
    int32_t at = leaves + who;
    times[at] = time;
    while (at > 1) {
      at /= 2;
      const int32_t left = 2 * at;
      const int32_t best = left + (times[left + 1] < times[left]);
      times[at] = times[best];
      winners[at] = winners[best];
    }
  }

private:
  int32_t leaves = 1;
  std::vector<Picoseconds> times; ///< node i's children are 2i and 2i + 1
  std::vector<int32_t> winners;
};

} // namespace ffc::network

#endif // FFC_LIB_NETWORK_EARLIESTOF_H
