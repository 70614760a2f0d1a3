//===- TopologyPattern.cpp - regular networks -----------------------------===//

#include "TopologyPattern.h"

#include "RandomGraphs.h"
#include "Text/Text.h"
#include "ffc/Plan/Topology.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>

using namespace ffc::plan;

using Links = PointLinks;

static constexpr int kMaxAllToAll = 256;

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

//===----------------------------------------------------------------------===//
// Tori and hypercubes
//===----------------------------------------------------------------------===//

/// Twisted tori as Camara et al. define them ("Twisted torus topologies for
/// enhanced interconnection networks", IEEE TPDS 2010), and TPU v4 has them:
/// the extents are a and 2a, and once round a short dimension leads a further
/// in all long ones.
static std::vector<std::vector<int>> standardTwists(const Pattern &pattern) {
  const std::vector<int> &shape = pattern.shape;
  const int least = *std::min_element(shape.begin(), shape.end());
  std::vector<std::vector<int>> twists(shape.size(),
                                       std::vector<int>(shape.size()));
  bool isTwisted = false;
  for (size_t i = 0; i < shape.size(); ++i)
    for (size_t j = 0; j < shape.size(); ++j)
      if (shape[i] == least && shape[j] == 2 * least) {
        twists[i][j] = least;
        isTwisted = true;
      }
  if (!isTwisted)
    fail(pattern, "expected twists, or a shape with an extent twice the least, "
                  "found " +
                      listed(shape, " x "));
  return twists;
}

static void checkTwists(const Pattern &pattern) {
  const std::vector<int> &shape = pattern.shape;
  const std::string forEach =
      "for each of the " + std::to_string(shape.size()) + " extents";
  if (pattern.twists.size() != shape.size())
    fail(pattern, "expected a list in twists " + forEach + ", found " +
                      std::to_string(pattern.twists.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::vector<int> &twist = pattern.twists[i];
    if (twist.size() != shape.size())
      fail(pattern, "expected a number in each of the twists " + forEach +
                        ", found " + std::to_string(twist.size()));
    for (size_t j = 0; j < shape.size(); ++j) {
      if (twist[j] >= shape[j])
        fail(pattern, "expected twists below the extents, found " +
                          std::to_string(twist[j]) + " in a dimension of " +
                          std::to_string(shape[j]));
      if (twist[j] == 0)
        continue;
      if (i == j)
        fail(pattern, "expected no twist of a dimension into itself, found " +
                          std::to_string(twist[j]));
      // Else the order of steps would count, and points would differ.
      if (std::any_of(pattern.twists[j].begin(), pattern.twists[j].end(),
                      [](int further) { return further > 0; }))
        fail(pattern, "expected twists into dimensions that are not twisted "
                      "themselves, found [" +
                          listed(twist, ", ") + "] and [" +
                          listed(pattern.twists[j], ", ") + "]");
    }
  }
}

static void checkShape(const Pattern &pattern, int count,
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
}

static Links torus(const Pattern &pattern, int count) {
  const std::vector<int> &shape = pattern.shape;
  const size_t dims = shape.size();
  std::vector<std::vector<int>> twists(dims, std::vector<int>(dims));
  if (pattern.type == Pattern::Type::TwistedTorus)
    twists = pattern.twists.empty() ? standardTwists(pattern) : pattern.twists;
  auto numberOf = [&](const std::vector<int> &at) {
    int number = 0;
    for (size_t d = 0; d < dims; ++d)
      number = number * shape[d] + at[d];
    return number;
  };
  Links links;
  std::vector<std::vector<int>> linked(count);
  std::vector<int> at(dims);
  for (int point = 0; point < count; ++point) {
    for (size_t d = dims, rest = point; d-- > 0; rest /= shape[d])
      at[d] = static_cast<int>(rest % shape[d]);
    for (size_t d = 0; d < dims; ++d) {
      std::vector<int> next = at;
      if (++next[d] == shape[d]) {
        next[d] = 0;
        for (size_t e = 0; e < dims; ++e)
          next[e] = (next[e] + twists[d][e]) % shape[e];
      }
      const int other = numberOf(next);
      // Two points have one link, not one round each side.
      std::vector<int> &known = linked[point];
      if (other == point ||
          std::find(known.begin(), known.end(), other) != known.end())
        continue;
      known.push_back(other);
      linked[other].push_back(point);
      addBothWays(links, point, other);
    }
  }
  return links;
}

static Links hypercube(const Pattern &pattern, int count,
                       const std::string &points) {
  if ((count & (count - 1)) != 0)
    fail(pattern, "expected a power of two of " + points +
                      " for a hypercube, found " + std::to_string(count));
  Links links;
  for (int point = 0; point < count; ++point)
    for (int bit = 1; bit < count; bit *= 2)
      if (!(point & bit))
        addBothWays(links, point, point + bit);
  return links;
}

Links ffc::plan::linksOf(const Pattern &pattern, int count,
                         const std::string &points) {
  switch (pattern.type) {
  case Pattern::Type::AllToAll:
    return allToAll(pattern, count, points);
  case Pattern::Type::Ring:
    return ring(pattern, count, points);
  case Pattern::Type::TwistedTorus:
    if (!pattern.twists.empty())
      checkTwists(pattern);
    [[fallthrough]];
  case Pattern::Type::Torus:
    checkShape(pattern, count, points);
    return torus(pattern, count);
  case Pattern::Type::Hypercube:
    return hypercube(pattern, count, points);
  case Pattern::Type::RandomRegular:
    return randomRegular(pattern, count, points);
  case Pattern::Type::Expander:
    return expander(pattern, count, points);
  case Pattern::Type::Switch:
  case Pattern::Type::SharedMemory:
  case Pattern::Type::FatTree:
  case Pattern::Type::RailOptimised:
  case Pattern::Type::RailOnly:
  case Pattern::Type::Dragonfly:
    break;
  }
  assert(false && "not a direct pattern");
  return {};
}

//===----------------------------------------------------------------------===//
// Fat trees
//===----------------------------------------------------------------------===//

FatTree::FatTree(const Pattern &pattern, int count, const std::string &points) {
  const int perUplink = pattern.oversubscription;
  auto capacity = [&](int64_t ports) {
    return ports * (ports / 2) * (ports / (perUplink + 1) * perUplink);
  };
  const int step = std::lcm(2, perUplink + 1);
  int ports = pattern.ports;
  if (ports == 0)
    for (ports = step; capacity(ports) < count;)
      ports += step;
  if (ports % 2 == 1)
    fail(pattern, "expected switches with an even number of ports, found " +
                      std::to_string(ports));
  if (ports % (perUplink + 1) != 0)
    fail(pattern, "expected a number of ports that " +
                      std::to_string(perUplink + 1) +
                      " divides, for one up by " + std::to_string(perUplink) +
                      " down, found " + std::to_string(ports));
  if (capacity(ports) < count)
    fail(pattern, "expected ports for " + std::to_string(count) + " " + points +
                      ", found " + std::to_string(ports) +
                      ", which are enough for " +
                      std::to_string(capacity(ports)));
  half = ports / 2;
  up = ports / (perUplink + 1);
  down = ports - up;
  edges = (count + down - 1) / down;
  aggregations = edges > 1 ? pods() * up : 0;
  cores = pods() > 1 ? up * half : 0;
}

//===----------------------------------------------------------------------===//
// Dragonflies
//===----------------------------------------------------------------------===//

Dragonfly::Dragonfly(const Pattern &pattern, int count,
                     const std::string &points)
    : routers(pattern.routers) {
  // A group has a link to each other one at least.
  const int64_t ports = int64_t(routers) * pattern.global;
  const int64_t perGroup = int64_t(routers) * pattern.terminals;
  if ((ports + 1) * perGroup < count)
    fail(pattern, "expected a dragonfly for " + std::to_string(count) + " " +
                      points + ", found one with room for " +
                      std::to_string((ports + 1) * perGroup));
  groups = static_cast<int>((count + perGroup - 1) / perGroup);
  if (groups < 2)
    return;
  // Port m (groups - 1) + d - 1 of a group leads to the m-th link with the
  // group d farther on, for which it is the one groups - d farther on.
  auto routerAt = [&](int group, int64_t m, int distance) {
    const int64_t port = m * (groups - 1) + distance - 1;
    return group * routers + static_cast<int>(port / pattern.global);
  };
  for (int group = 0; group < groups; ++group)
    for (int64_t m = 0; m < ports / (groups - 1); ++m)
      for (int other = group + 1; other < groups; ++other)
        global.push_back({routerAt(group, m, other - group),
                          routerAt(other, m, groups - (other - group))});
}
