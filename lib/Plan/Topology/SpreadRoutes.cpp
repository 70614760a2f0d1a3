//===- SpreadRoutes.cpp - messages over all shortest ways -----------------===//

#include "SpreadRoutes.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

using namespace ffc::plan;

void SpreadRoutes::build(size_t numVertices,
                         const std::vector<Link> &allLinks) {
  links = &allLinks;
  first.assign(numVertices + 1, 0);
  for (const Link &link : allLinks)
    ++first[link.dst + 1];
  for (size_t v = 0; v < numVertices; ++v)
    first[v + 1] += first[v];
  arriving.resize(allLinks.size());
  std::vector<int> next(first.begin(), first.end() - 1);
  for (size_t i = 0; i < allLinks.size(); ++i)
    arriving[next[allLinks[i].dst]++] = static_cast<LinkId>(i);
}

LinkLoads SpreadRoutes::loads(const RouteTable &routes, DeviceId src,
                              DeviceId dst) const {
  std::unordered_map<int, RouteTable::Distance> known;
  auto distance = [&](int vertex) {
    auto [found, inserted] = known.emplace(vertex, RouteTable::Distance());
    if (inserted)
      found->second = routes.distance(src, vertex);
    return found->second;
  };
  // Back from the destination: the links of shortest ways, by hops from the
  // source and the vertex that they leave.
  std::map<std::pair<int, int>, std::vector<LinkId>> leaving;
  std::vector<int> open = {dst};
  std::set<int> seen = {dst};
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    const RouteTable::Distance there = distance(v);
    for (int i = first[v]; i < first[v + 1]; ++i) {
      const Link &link = (*links)[arriving[i]];
      const RouteTable::Distance here = distance(link.src);
      if (here.hops < 0 || here.hops + 1 != there.hops ||
          here.latency + link.latency != there.latency)
        continue;
      leaving[{here.hops, link.src}].push_back(arriving[i]);
      if (seen.insert(link.src).second)
        open.push_back(link.src);
    }
  }
  LinkLoads loads;
  std::unordered_map<int, double> passing = {{src, 1.0}};
  for (const auto &[from, choices] : leaving) {
    const double share =
        passing[from.second] / static_cast<double>(choices.size());
    for (LinkId link : choices) {
      loads.push_back({link, share});
      passing[(*links)[link].dst] += share;
    }
  }
  return loads;
}

std::vector<std::pair<std::vector<LinkId>, double>>
ffc::plan::waysOf(LinkLoads loads, const std::vector<Link> &links, DeviceId src,
                  DeviceId dst) {
  std::map<int, std::vector<size_t>> leaving; // by vertex: into `loads`
  for (size_t i = 0; i < loads.size(); ++i)
    leaving[links[loads[i].first].src].push_back(i);
  std::vector<std::pair<std::vector<LinkId>, double>> ways;
  // What rounding leaves of the whole goes with the first way.
  constexpr double kNothing = 1e-12;
  double left = 1;
  while (left > kNothing) {
    std::vector<size_t> way;
    double share = left;
    for (int v = src; v != dst; v = links[loads[way.back()].first].dst) {
      const std::vector<size_t> &choices = leaving[v];
      way.push_back(*std::max_element(
          choices.begin(), choices.end(), [&](size_t a, size_t b) {
            return loads[a].second < loads[b].second;
          }));
      share = std::min(share, loads[way.back()].second);
    }
    if (share <= kNothing)
      break;
    ways.emplace_back();
    ways.back().second = share;
    for (size_t i : way) {
      ways.back().first.push_back(loads[i].first);
      loads[i].second -= share;
    }
    left -= share;
  }
  ways.front().second += left;
  return ways;
}
