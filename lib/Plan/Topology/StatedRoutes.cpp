//===- StatedRoutes.cpp - routes that the file states ---------------------===//

#include "StatedRoutes.h"

#include <algorithm>

using namespace ffc::plan;

const StatedPath &StatedRoute::widest() const {
  return *std::max_element(paths.begin(), paths.end(),
                           [](const StatedPath &a, const StatedPath &b) {
                             return a.share < b.share;
                           });
}

bool StatedRoutes::add(Ends ends, StatedRoute route) {
  isEmpty = false;
  auto &routes = route.isOfNodes ? ofNodes : ofDevices;
  return routes.emplace(key(ends.first, ends.second), std::move(route)).second;
}

const StatedRoute *StatedRoutes::find(Ends devices, Ends nodes) const {
  auto found = ofDevices.find(key(devices.first, devices.second));
  if (found != ofDevices.end())
    return &found->second;
  found = ofNodes.find(key(nodes.first, nodes.second));
  return found == ofNodes.end() ? nullptr : &found->second;
}

std::vector<std::pair<StatedRoutes::Ends, const StatedRoute *>>
StatedRoutes::sorted() const {
  std::vector<std::pair<Ends, const StatedRoute *>> all;
  for (const auto *routes : {&ofDevices, &ofNodes}) {
    const auto begin = static_cast<std::ptrdiff_t>(all.size());
    for (const auto &[ends, route] : *routes)
      all.push_back(
          {{static_cast<int>(ends >> 32), static_cast<int>(ends & UINT32_MAX)},
           &route});
    std::sort(all.begin() + begin, all.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
  }
  return all;
}
