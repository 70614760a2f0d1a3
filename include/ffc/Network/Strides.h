//===- Strides.h - rings by strides, and sums of them -----------*- C++ -*-===//
//
// TopoOpt's regular rings (NSDI'23, section 4.2): the ring of stride p goes
// from server i to i + p, modulo their number n, and visits all of them if p
// and n have no common divisor. An all-reduce takes as long on each of these
// rings, so that their strides are free to be chosen for all other traffic,
// which adds up its distance from strides as from coins.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_STRIDES_H
#define FFC_NETWORK_STRIDES_H

#include "ffc/Network/Network.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ffc::network {

/// What an interface is joined with.
enum class LinkKind {
  TwoWay, ///< both directions with one other server
  OneWay, ///< sends to one server and receives from one, which may be another
};

/// TotientPerms: the strides of rings through `group` of `servers` servers,
/// evenly spaced, ascending. `group` divides `servers`.
std::vector<int> ringStrides(int servers, int group);

/// 1 and the primes among ringStrides(servers, servers): the paper's cut for
/// large numbers.
std::vector<int> primeRingStrides(int servers);

/// SelectPermutations by the paper: strides near the geometric progression from
/// 1 with ratio servers^(1/count), each the nearest that is left, the smaller
/// of two. All `candidates` if there are no more than `count`. Ascending.
std::vector<int> geometricStrides(const std::vector<int> &candidates,
                                  int servers, int count);

/// The same by the released program: from the smallest candidate with a ratio
/// that is to end at the largest, each the first that is left and not below.
/// Nothing where that runs past the end of the list, as it may by rounding.
std::optional<std::vector<int>>
releasedStrides(const std::vector<int> &candidates, int count, LinkKind kind);

struct BestStrides {
  std::vector<int> strides;
  bool exhaustive = false; ///< no choice is better
};

/// The `count` of ringStrides(servers, servers) with the least diameter and
/// then the least sum of hops: of all choices if they are few, else by local
/// search from `seed`. In two-way links a stride stands for its opposite, too,
/// which is not chosen again; there may be fewer than `count`.
BestStrides bestStrides(int servers, int count, LinkKind kind, uint64_t seed);

/// What `strides` can be added up from: themselves and, if links are two-way,
/// the opposite ones. Ascending, each once.
std::vector<int> coinsOf(const std::vector<int> &strides, int servers,
                         LinkKind kind);

/// The shortest ways to add up every distance modulo the number of servers
/// from coins; the paper's coin change.
struct CoinChange {
  /// How many coins, by distance from 0; -1 where no number of them does.
  std::vector<int> hops;
  /// One shortest choice for each distance, ascending.
  std::vector<std::vector<int>> coins;
  /// How many shortest choices there are, not counting their orders.
  std::vector<int64_t> choices;

  int diameter() const; ///< the most hops; -1 if a distance has none
  int64_t sum() const;  ///< of the hops of all distances
  std::vector<int> histogram() const; ///< distances but 0, by hops
};

CoinChange changeCoins(int servers, const std::vector<int> &coins);

/// How long an all-reduce of `bytes` takes `members` on `rings` rings that
/// share no link, each of `bandwidth` in bytes per second: every member sends
/// 2 (members - 1) / members of the bytes, in 2 (members - 1) steps, each of
/// which takes `latency` besides. 0 with one member.
Picoseconds ringTime(int64_t bytes, int members, int rings, double bandwidth,
                     Picoseconds latency);

} // namespace ffc::network

#endif // FFC_NETWORK_STRIDES_H
