//===- Matching.h - who is joined with whom ---------------------*- C++ -*-===//
//
// TopoOpt's links for traffic between two servers (NSDI'23, section 4.2): a
// matching of the most weight for every interface that is left, with the demand
// of matched pairs reduced from round to round.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_MATCHING_H
#define FFC_NETWORK_MATCHING_H

#include "ffc/Network/Strides.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ffc::network {

/// A square table: what is between one and the other, row by row.
struct Demand {
  explicit Demand(int size = 0) : size(size), values(size_t(size) * size) {}

  double &at(int from, int to) { return values[size_t(from) * size + to]; }
  double at(int from, int to) const { return values[size_t(from) * size + to]; }

  int size;
  std::vector<double> values;
};

using Pairs = std::vector<std::pair<int, int>>;

/// The perfect matching of `members` with the largest sum of `weights`, which
/// are at least 0, by LEMON. Two-way: of pairs (a < b), by the sum of both
/// directions; one of an odd number of members is left over. One-way: everybody
/// is once a first and once a second, and nobody both in one pair. Ascending;
/// none of fewer than two members.
Pairs heaviestMatching(const Demand &weights, const std::vector<int> &members,
                       LinkKind kind);

/// What is left of the demand of two servers after their c-th link.
enum class DemandRule {
  Halved,   ///< one half of what was left: the paper
  Released, ///< c / (c + 1) of what was left: the released program
};

/// `rounds` matchings of all servers, one after the other.
std::vector<Pairs> matchingRounds(const Demand &demand, int rounds,
                                  DemandRule rule, LinkKind kind);

} // namespace ffc::network

#endif // FFC_NETWORK_MATCHING_H
