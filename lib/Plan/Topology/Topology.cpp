//===- Topology.cpp - devices and how they are connected ------------------===//

#include "ffc/Plan/Topology.h"

#include "TopologyData.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

using namespace ffc::plan;

const char *ffc::plan::str(Target target) {
  return target == Target::CPU ? "cpu" : "cuda";
}

const char *ffc::plan::str(Arithmetic arithmetic) {
  static const char *const kNames[kNumArithmetics] = {
      "f64", "f32", "tf32", "bf16", "f16", "i64", "i32", "i8"};
  return kNames[static_cast<int>(arithmetic)];
}

//===----------------------------------------------------------------------===//
// Device kinds
//===----------------------------------------------------------------------===//

Arithmetic ffc::plan::arithmeticOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return Arithmetic::F64;
  case ElementType::BF16:
    return Arithmetic::BF16;
  case ElementType::F16:
    return Arithmetic::F16;
  case ElementType::I64:
    return Arithmetic::I64;
  case ElementType::I32:
    return Arithmetic::I32;
  case ElementType::F32:
  case ElementType::U8:
  case ElementType::Bool:
    break;
  }
  return Arithmetic::F32;
}

const char *ffc::plan::str(GpuGeneration generation) {
  switch (generation) {
  case GpuGeneration::None:
    break;
  case GpuGeneration::Volta:
    return "volta";
  case GpuGeneration::Ampere:
    return "ampere";
  case GpuGeneration::Hopper:
    return "hopper";
  case GpuGeneration::Blackwell:
    return "blackwell";
  }
  return "none";
}

double DeviceKind::flopsPerSecond(Arithmetic arithmetic) const {
  if (double given = flops[static_cast<int>(arithmetic)]; given > 0)
    return given;
  const bool isWide =
      arithmetic == Arithmetic::F64 || arithmetic == Arithmetic::I64;
  return flops[static_cast<int>(Arithmetic::F32)] / (isWide ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// Topology
//===----------------------------------------------------------------------===//

Topology::Topology(std::shared_ptr<const Data> data) : data(std::move(data)) {}

Topology Topology::withMemory(int64_t bytes) const {
  auto changed = std::make_shared<Data>();
  changed->name = data->name;
  changed->kinds = data->kinds;
  changed->nodes = data->nodes;
  changed->devices = data->devices;
  changed->vertices = data->vertices;
  changed->links = data->links;
  changed->isSpread = data->isSpread;
  changed->stated = data->stated;
  for (DeviceKind &kind : changed->kinds)
    kind.memoryBytes = bytes;
  changed->buildRoutes();
  return Topology(std::move(changed));
}

const std::string &Topology::name() const { return data->name; }

int Topology::numDevices() const {
  return static_cast<int>(data->devices.size());
}

const Device &Topology::device(DeviceId id) const {
  assert(id >= 0 && id < numDevices() && "device outside the topology");
  return data->devices[id];
}

bool Topology::shareMemory(const std::vector<DeviceId> &devices) const {
  const int node = device(devices.front()).node;
  return std::all_of(devices.begin(), devices.end(), [&](DeviceId id) {
    return device(id).node == node && kindOf(id).target == Target::CPU;
  });
}

const DeviceKind &Topology::kindOf(DeviceId id) const {
  return data->kinds[device(id).kind];
}

const std::vector<DeviceKind> &Topology::kinds() const { return data->kinds; }
const std::vector<std::string> &Topology::nodes() const { return data->nodes; }
const std::vector<Vertex> &Topology::vertices() const { return data->vertices; }
const std::vector<Link> &Topology::links() const { return data->links; }

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

/// The cost of the way whose links `eachLink` calls its argument for.
template <class EachLink>
static RouteCost costOf(const std::vector<Link> &links, EachLink eachLink) {
  RouteCost cost{0, std::numeric_limits<double>::infinity()};
  eachLink([&](LinkId id) {
    cost.latency += links[id].latency;
    cost.bandwidth = std::min(cost.bandwidth, links[id].bandwidth);
  });
  return cost;
}

RouteCost Topology::Data::costOf(const StatedRoute &route, DeviceId src,
                                 DeviceId dst) const {
  return ::costOf(links, [&](auto visit) {
    stated.eachLink(route, route.widest(), src, dst, visit);
  });
}

RouteCost Topology::routeCost(DeviceId src, DeviceId dst) const {
  if (src == dst)
    return {0, kindOf(src).memoryBandwidth};
  const StatedRoute *stated = data->findStated(src, dst);
  return stated ? data->costOf(*stated, src, dst) : data->routes.cost(src, dst);
}

void Topology::appendLinks(DeviceId src, DeviceId dst,
                           std::vector<LinkId> &links) const {
  if (src == dst)
    return;
  if (const StatedRoute *stated = data->findStated(src, dst))
    data->stated.eachLink(*stated, stated->widest(), src, dst,
                          [&](LinkId link) { links.push_back(link); });
  else
    data->routes.appendLinks(src, dst, links);
}

Route Topology::route(DeviceId src, DeviceId dst) const {
  Route route;
  static_cast<RouteCost &>(route) = routeCost(src, dst);
  appendLinks(src, dst, route.links);
  if (src != dst && !data->findStated(src, dst))
    std::reverse(route.links.begin(), route.links.end());
  return route;
}

bool Topology::hasSharedRoutes() const {
  return data->isSpread || !data->stated.empty();
}

std::vector<SharedRoute> Topology::routes(DeviceId src, DeviceId dst) const {
  std::vector<SharedRoute> routes;
  auto add = [&](std::vector<LinkId> links, double share) {
    SharedRoute route;
    route.share = share;
    static_cast<RouteCost &>(route) = costOf(data->links, [&](auto visit) {
      std::for_each(links.begin(), links.end(), visit);
    });
    route.links = std::move(links);
    routes.push_back(std::move(route));
  };
  const StatedRoute *stated = src == dst ? nullptr : data->findStated(src, dst);
  if (stated) {
    for (const StatedPath &path : stated->paths) {
      std::vector<LinkId> links;
      data->stated.eachLink(*stated, path, src, dst,
                            [&](LinkId link) { links.push_back(link); });
      add(std::move(links), path.share);
    }
  } else if (data->isSpread && src != dst) {
    for (auto &[links, share] : waysOf(
             data->spread.loads(data->routes, src, dst), data->links, src, dst))
      add(std::move(links), share);
  } else {
    routes.emplace_back();
    static_cast<Route &>(routes.back()) = route(src, dst);
  }
  return routes;
}

void Topology::appendLoads(
    DeviceId src, DeviceId dst,
    std::vector<std::pair<LinkId, double>> &loads) const {
  if (src == dst)
    return;
  const StatedRoute *stated = data->findStated(src, dst);
  if (stated) {
    // Paths may have links in common.
    std::map<LinkId, double> shares;
    for (const StatedPath &path : stated->paths)
      data->stated.eachLink(*stated, path, src, dst,
                            [&](LinkId link) { shares[link] += path.share; });
    loads.insert(loads.end(), shares.begin(), shares.end());
  } else if (data->isSpread) {
    const LinkLoads shares = data->spread.loads(data->routes, src, dst);
    loads.insert(loads.end(), shares.begin(), shares.end());
  } else {
    data->routes.appendLinks(src, dst, loads);
  }
}
