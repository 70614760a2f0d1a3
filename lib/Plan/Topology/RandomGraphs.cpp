//===- RandomGraphs.cpp - random regular graphs and expanders -------------===//

#include "RandomGraphs.h"

#include "Text/Text.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

using namespace ffc::plan;

/// Links that a random graph may have; shuffling visits each some ten times.
static constexpr int64_t kMaxRandomLinks = 1 << 18;
/// How far the search of an expander goes, in words of 64 bits visited and in
/// exchanges proposed: some 50 ms.
static constexpr int64_t kMaxExpanderWork = int64_t(1) << 26;
static constexpr int kExpanderDraws = 8, kExpanderExchanges = 20000;

[[noreturn]] static void fail(const Pattern &pattern,
                              const std::string &message) {
  throw Malformed{pattern.line, message};
}

namespace {

/// SplitMix64: the same numbers everywhere, unlike those of <random>'s
/// distributions.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// A number below `bound`, a few thousand or million: the bias of the
  /// remainder does not matter.
  size_t below(size_t bound) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }

private:
  uint64_t state;
};

/// A graph without double links whose points keep their degree.
class RegularGraph {
public:
  /// The points in a circle, with links to the nearest ones: connected.
  RegularGraph(int count, int degree) : count(count) {
    for (int stride = 1; stride <= degree / 2; ++stride)
      for (int a = 0; a < count; ++a)
        add(a, (a + stride) % count);
    for (int a = 0; degree % 2 == 1 && a < count / 2; ++a)
      add(a, a + count / 2);
  }

  size_t size() const { return pairs.size(); }
  const PointLinks &links() const { return pairs; }

  /// Of the links a-d and c-b makes a-b and c-d, where `crossed` says which end
  /// of the second link is b. Returns false, and does nothing, where these are
  /// no new links. The same exchange, not crossed, undoes it.
  bool exchange(size_t first, size_t second, bool crossed) {
    const auto [a, d] = pairs[first];
    auto [c, b] = pairs[second];
    if (crossed)
      std::swap(b, c);
    if (a == b || c == d || present.count(ordered(a, b)) ||
        present.count(ordered(c, d)))
      return false;
    present.erase(ordered(a, d));
    present.erase(ordered(c, b));
    pairs[first] = {a, b};
    pairs[second] = {c, d};
    present.insert(ordered(a, b));
    present.insert(ordered(c, d));
    return true;
  }

  bool isConnected() const {
    std::vector<int> leader(count);
    std::iota(leader.begin(), leader.end(), 0);
    auto find = [&](int point) {
      while (leader[point] != point)
        point = leader[point] = leader[leader[point]];
      return point;
    };
    int parts = count;
    for (auto [a, b] : pairs)
      if (find(a) != find(b)) {
        leader[find(a)] = find(b);
        --parts;
      }
    return parts == 1;
  }

  /// Both directions of all links, sorted.
  PointLinks directed() const {
    PointLinks links;
    for (auto [a, b] : present) {
      links.push_back({a, b});
      links.push_back({b, a});
    }
    return links;
  }

private:
  static std::pair<int, int> ordered(int a, int b) {
    return std::minmax({a, b});
  }
  void add(int a, int b) {
    pairs.push_back({a, b});
    present.insert(ordered(a, b));
  }

  int count;
  PointLinks pairs;
  std::set<std::pair<int, int>> present;
};

/// How far apart the points of a graph are.
struct Hops {
  int64_t sum = INT64_MAX; ///< of all ordered pairs
  int most = 0;

  bool operator<(const Hops &other) const {
    return std::tie(sum, most) < std::tie(other.sum, other.most);
  }
};

/// Breadth-first search from all points at once, a bit for each.
class HopCounter {
public:
  HopCounter(int count, int degree)
      : count(count), degree(degree), words((size_t(count) + 63) / 64),
        neighbours(size_t(count) * degree), filled(count) {}

  /// Words visited in a round of a search, which has one for each hop.
  int64_t workOfRound() const {
    return static_cast<int64_t>(neighbours.size() * words);
  }
  /// Words visited so far.
  int64_t work() const { return visited; }

  /// The sum is INT64_MAX if not all points reach each other, or if it is clear
  /// that it is above `limit`.
  Hops hopsOf(const PointLinks &links, int64_t limit) {
    std::fill(filled.begin(), filled.end(), 0);
    for (auto [a, b] : links) {
      neighbours[size_t(a) * degree + filled[a]++] = b;
      neighbours[size_t(b) * degree + filled[b]++] = a;
    }
    reached.assign(count * words, 0);
    next.resize(reached.size());
    for (size_t point = 0; point < count; ++point)
      reached[point * words + point / 64] = uint64_t(1) << (point % 64);
    const auto allPairs = static_cast<int64_t>(count * count);
    Hops hops{0, 0};
    for (int64_t near = static_cast<int64_t>(count), before = 0;
         near < allPairs; ++hops.most) {
      // All pairs that are not near yet are farther than the hops so far.
      hops.sum += allPairs - near;
      if (near == before || hops.sum > limit)
        return {};
      before = near;
      near = spread();
    }
    return hops;
  }

private:
  /// One hop more. Returns how many pairs have reached each other.
  int64_t spread() {
    visited += workOfRound();
    int64_t near = 0;
    for (size_t point = 0; point < count; ++point)
      for (size_t w = 0; w < words; ++w) {
        uint64_t bits = reached[point * words + w];
        for (size_t i = 0; i < degree; ++i)
          bits |= reached[neighbours[point * degree + i] * words + w];
        next[point * words + w] = bits;
        near += __builtin_popcountll(bits);
      }
    std::swap(reached, next);
    return near;
  }

  const size_t count, degree, words;
  std::vector<size_t> neighbours; ///< `degree` of each point
  std::vector<int> filled;        ///< by point: how many of them are there
  std::vector<uint64_t> reached, next;
  int64_t visited = 0;
};

} // namespace

/// Is there anything to draw? Fails if there is no such graph.
static bool check(const Pattern &pattern, int count,
                  const std::string &points) {
  const int degree = pattern.degree;
  const std::string what = std::to_string(count) + " " + points;
  if (count < 2)
    return false;
  if (degree >= count)
    fail(pattern, "expected a degree below the " + what + ", found " +
                      std::to_string(degree));
  if (degree % 2 == 1 && count % 2 == 1)
    fail(pattern, "expected an even degree for " + what +
                      ", an odd number, found " + std::to_string(degree));
  if (degree == 1 && count > 2)
    fail(pattern, "expected a degree of at least 2 for " + what +
                      " that are all connected, found 1");
  if (int64_t(degree) * count > 2 * kMaxRandomLinks)
    fail(pattern, "expected a random graph of at most " +
                      std::to_string(kMaxRandomLinks) + " links, found " +
                      std::to_string(int64_t(degree) * count / 2));
  return true;
}

/// Starts from a regular graph and exchanges the ends of two links again and
/// again, which keeps it regular. Unlike drawing pairs until they fit this ends
/// for every degree.
static RegularGraph draw(const RegularGraph &start, Random &random) {
  // Nearly all graphs of degree 3 or more are connected; of degree 2 (one
  // cycle) about one in the root of `count` is. The start is, at the worst.
  constexpr int kRounds = 10, kAttempts = 100;
  RegularGraph graph = start;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (size_t i = 0; i < kRounds * graph.size(); ++i) {
      const size_t first = random.below(graph.size());
      const size_t second = random.below(graph.size());
      graph.exchange(first, second, random.below(2) == 1);
    }
    if (graph.isConnected())
      return graph;
  }
  return start;
}

PointLinks ffc::plan::randomRegular(const Pattern &pattern, int count,
                                    const std::string &points) {
  if (!check(pattern, count, points))
    return {};
  Random random(pattern.seed);
  return draw(RegularGraph(count, pattern.degree), random).directed();
}

/// No graph has a smaller sum (Moore's bound): a point has `degree` others one
/// hop away, and each of those leads to degree - 1 more.
static int64_t leastHops(int count, int degree) {
  int64_t sum = 0, left = count - 1, ring = degree;
  for (int hops = 1; left > 0; ++hops, ring *= degree - 1) {
    ring = std::min(ring, left);
    sum += ring * hops;
    left -= ring;
  }
  return sum * count;
}

PointLinks ffc::plan::expander(const Pattern &pattern, int count,
                               const std::string &points) {
  if (!check(pattern, count, points))
    return {};
  Random random(pattern.seed);
  const RegularGraph start(count, pattern.degree);
  RegularGraph best = draw(start, random);
  HopCounter counter(count, pattern.degree);
  // Most graphs have ways of up to four hops, or a few more.
  if (counter.workOfRound() > kMaxExpanderWork / 16)
    return best.directed();
  Hops least = counter.hopsOf(best.links(), INT64_MAX);
  for (int i = 1; i < kExpanderDraws; ++i) {
    RegularGraph graph = draw(start, random);
    const Hops hops = counter.hopsOf(graph.links(), least.sum);
    if (hops < least) {
      least = hops;
      best = std::move(graph);
    }
  }
  const int64_t bound = leastHops(count, pattern.degree);
  for (int i = 0; i < kExpanderExchanges && least.sum > bound &&
                  counter.work() < kMaxExpanderWork;
       ++i) {
    const size_t first = random.below(best.size());
    const size_t second = random.below(best.size());
    if (!best.exchange(first, second, random.below(2) == 1))
      continue;
    const Hops hops = counter.hopsOf(best.links(), least.sum);
    // Exchanges that change nothing lead away from dead ends.
    if (least < hops)
      best.exchange(first, second, /*crossed=*/false);
    else
      least = hops;
  }
  return best.directed();
}
