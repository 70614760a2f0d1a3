//===- TopologyPattern.cpp - regular networks -----------------------------===//

#include "TopologyPattern.h"

#include "Text/Text.h"
#include "ffc/Plan/Topology.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

using namespace ffc::plan;

using Links = std::vector<std::pair<int, int>>;

static constexpr int kMaxAllToAll = 256;
/// Links that a random graph may have; shuffling visits each some ten times.
static constexpr int64_t kMaxRandomLinks = 1 << 18;

[[noreturn]] static void fail(const Pattern &pattern,
                              const std::string &message) {
  throw Malformed{pattern.line, message};
}

static void addBothWays(Links &links, int a, int b) {
  links.push_back({a, b});
  links.push_back({b, a});
}

static std::string listed(const std::vector<int> &numbers,
                          const char *separator) {
  std::string text;
  for (int number : numbers)
    text += (text.empty() ? "" : separator) + std::to_string(number);
  return text;
}

static Links allToAll(const Pattern &pattern, int count,
                      const std::string &points) {
  if (count > kMaxAllToAll)
    fail(pattern, "expected at most " + std::to_string(kMaxAllToAll) + " " +
                      points + " connected all to all, found " +
                      std::to_string(count) + "; use 'type: switch'");
  Links links;
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < count; ++b)
      if (a != b)
        links.push_back({a, b});
  return links;
}

static Links ring(const Pattern &pattern, int count,
                  const std::string &points) {
  int divisor = count;
  std::set<int> seen;
  for (int stride : pattern.strides) {
    if (count > 1 && stride > count / 2)
      fail(pattern, "expected strides of at most half of the " +
                        std::to_string(count) + " " + points + ", found " +
                        std::to_string(stride));
    if (!seen.insert(stride).second)
      fail(pattern, "the stride " + std::to_string(stride) + " is given twice");
    divisor = std::gcd(divisor, stride);
  }
  if (count > 1 && divisor != 1)
    fail(pattern,
         "expected strides that lead to all " + std::to_string(count) + " " +
             points + ", found " + listed(pattern.strides, ", ") +
             ", which have the common divisor " + std::to_string(divisor));
  Links links;
  for (int stride : pattern.strides)
    // With a stride of half the ring both ends have the same link.
    for (int a = 0; a < (2 * stride == count ? stride : count) && count > 1;
         ++a)
      addBothWays(links, a, (a + stride) % count);
  return links;
}

static Links torus(const Pattern &pattern, int count,
                   const std::string &points) {
  int64_t size = 1;
  for (int extent : pattern.shape)
    size = std::min<int64_t>(size * extent, kMaxDevices + 1);
  if (size != count)
    fail(pattern,
         "expected a shape of " + std::to_string(count) + " " + points +
             ", found " + listed(pattern.shape, " x ") + ", which is " +
             (size > kMaxDevices ? "over " + std::to_string(kMaxDevices)
                                 : std::to_string(size)));
  Links links;
  for (int point = 0; point < count; ++point) {
    int step = count;
    for (int extent : pattern.shape) {
      const int block = step;
      step /= extent;
      const int at = point % block / step;
      // Two points have one link, not one round each side.
      if (extent == 1 || (extent == 2 && at == 1))
        continue;
      const int next = at + 1 < extent ? point + step : point - at * step;
      addBothWays(links, point, next);
    }
  }
  return links;
}

//===----------------------------------------------------------------------===//
// Random regular graphs
//===----------------------------------------------------------------------===//

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

} // namespace

static bool isConnected(const Links &pairs, int count) {
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

/// Starts from a regular graph and exchanges the ends of two links again and
/// again, which keeps it regular. Unlike drawing pairs until they fit this ends
/// for every degree.
static Links randomRegular(const Pattern &pattern, int count,
                           const std::string &points) {
  const int degree = pattern.degree;
  const std::string what = std::to_string(count) + " " + points;
  if (count < 2)
    return {};
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
  Links pairs;
  std::set<std::pair<int, int>> present;
  auto ordered = [](int a, int b) { return std::minmax({a, b}); };
  auto add = [&](int a, int b) {
    pairs.push_back({a, b});
    present.insert(ordered(a, b));
  };
  for (int stride = 1; stride <= degree / 2; ++stride)
    for (int a = 0; a < count; ++a)
      add(a, (a + stride) % count);
  for (int a = 0; degree % 2 == 1 && a < count / 2; ++a)
    add(a, a + count / 2);

  Random random(pattern.seed);
  // Nearly all graphs of degree 3 or more are connected; of degree 2 (one
  // cycle) about one in the root of `count` is. The start is, at the worst.
  constexpr int kRounds = 10, kAttempts = 100;
  const Links start = pairs;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (size_t i = 0; i < kRounds * pairs.size(); ++i) {
      auto &first = pairs[random.below(pairs.size())];
      auto &second = pairs[random.below(pairs.size())];
      const bool crossed = random.below(2) == 1;
      const int b = crossed ? second.first : second.second;
      const int c = crossed ? second.second : second.first;
      // a-d, c-b become a-b, c-d.
      const int a = first.first, d = first.second;
      if (a == b || c == d || present.count(ordered(a, b)) ||
          present.count(ordered(c, d)))
        continue;
      present.erase(ordered(a, d));
      present.erase(ordered(c, b));
      first = {a, b};
      second = {c, d};
      present.insert(ordered(a, b));
      present.insert(ordered(c, d));
    }
    if (isConnected(pairs, count))
      break;
  }
  if (!isConnected(pairs, count))
    pairs = start;
  for (auto &pair : pairs)
    pair = ordered(pair.first, pair.second);
  std::sort(pairs.begin(), pairs.end());
  Links links;
  for (auto [a, b] : pairs)
    addBothWays(links, a, b);
  return links;
}

Links ffc::plan::linksOf(const Pattern &pattern, int count,
                         const std::string &points) {
  switch (pattern.type) {
  case Pattern::Type::AllToAll:
    return allToAll(pattern, count, points);
  case Pattern::Type::Ring:
    return ring(pattern, count, points);
  case Pattern::Type::Torus:
    return torus(pattern, count, points);
  case Pattern::Type::RandomRegular:
    return randomRegular(pattern, count, points);
  case Pattern::Type::Switch:
  case Pattern::Type::SharedMemory:
  case Pattern::Type::FatTree:
    break;
  }
  assert(false && "not a direct pattern");
  return {};
}

//===----------------------------------------------------------------------===//
// Fat trees
//===----------------------------------------------------------------------===//

FatTree::FatTree(const Pattern &pattern, int count, const std::string &points) {
  auto capacity = [](int64_t ports) { return ports * ports * ports / 4; };
  int ports = pattern.ports;
  if (ports == 0)
    for (ports = 2; capacity(ports) < count;)
      ports += 2;
  if (ports % 2 == 1)
    fail(pattern, "expected switches with an even number of ports, found " +
                      std::to_string(ports));
  if (capacity(ports) < count)
    fail(pattern, "expected ports for " + std::to_string(count) + " " + points +
                      ", found " + std::to_string(ports) +
                      ", which are enough for " +
                      std::to_string(capacity(ports)));
  half = ports / 2;
  edges = (count + half - 1) / half;
  aggregations = edges > 1 ? pods() * half : 0;
  cores = pods() > 1 ? half * half : 0;
}
