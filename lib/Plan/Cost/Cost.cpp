//===- Cost.cpp - how long kernels and transfers take ---------------------===//

#include "CostInternals.h"

#include "Collectives/DirectWays.h"

#include "ffc/Plan/Profile.h"
#include "ffc/Plan/Reached.h"

#include <cassert>

using namespace ffc::plan;

CostModel::CostModel(const Topology &topology,
                     std::shared_ptr<const Profile> profile,
                     CollectiveRules collectives)
    : topology(topology), measured(std::move(profile)),
      collectives(std::move(collectives)), isDirect(isDirectNetwork(topology)),
      known(std::make_shared<PathCache>()) {
  for (const DeviceKind &kind : topology.kinds())
    overlapping &= kind.overlap;
}

bool CostModel::isMeasured(DeviceId device) const {
  return measured && (measured->device().empty() ||
                      measured->device() == topology.kindOf(device).name);
}

bool CostModel::isMeasured(const std::vector<DeviceId> &members) const {
  const int node = topology.device(members.front()).node;
  return std::all_of(members.begin(), members.end(), [&](DeviceId member) {
    return isMeasured(member) && topology.device(member).node == node;
  });
}

bool CostModel::messageIsMeasured(DeviceId src, DeviceId dst) const {
  return measured && measured->message() && isMeasured({src, dst});
}

CostModel::Estimate CostModel::local(DeviceId device,
                                     const LocalWork &work) const {
  if (isMeasured(device)) {
    if (auto time = measured->find(work))
      return {*time, Source::Measured};
    if (auto time = measured->calibrated(work))
      return {*time, Source::Calibrated};
  }
  const bool isCollected =
      work.startsWithOthers && topology.kindOf(device).collectsKernels();
  return {kernel(device, work.flops, work.bytes, work.arithmetic,
                 isCollected ? 0 : work.parts, work.kernel),
          Source::Roofline};
}

Picoseconds CostModel::kernel(DeviceId device, double flops, int64_t bytes,
                              Arithmetic arithmetic, int64_t parts,
                              std::string_view name) const {
  assert(flops >= 0 && bytes >= 0 && parts >= 0 && "negative work");
  const DeviceKind &kind = topology.kindOf(device);
  const Reached reached = reachedBy(kind.generation, name);
  const Picoseconds compute =
      toPicoseconds(flops / (kind.flopsPerSecond(arithmetic) * reached.flops));
  const Picoseconds memory = toPicoseconds(
      static_cast<double>(bytes) / (kind.memoryBandwidth * reached.bandwidth));
  const auto exposed = static_cast<Picoseconds>(
      static_cast<double>(std::min(compute, memory)) * reached.exposed);
  return sum(times(parts, kind.launch + reached.ramp),
             sum(std::max(compute, memory), exposed));
}

Picoseconds CostModel::copy(DeviceId device, int64_t bytes) const {
  assert(bytes >= 0 && "negative work");
  if (isMeasured(device))
    if (auto time = measured->atRates(kCopy, 0, 2 * bytes))
      return *time;
  return kernel(device, 0, 2 * std::min(bytes, INT64_MAX / 2), Arithmetic::F32);
}

Picoseconds CostModel::transfer(DeviceId src, DeviceId dst,
                                int64_t bytes) const {
  assert(bytes >= 0 && "negative work");
  if (src == dst)
    return copy(src, bytes);
  if (messageIsMeasured(src, dst))
    return measured->message()->at(bytes);
  const RouteCost route = topology.routeCost(src, dst);
  return sum(route.latency,
             toPicoseconds(static_cast<double>(bytes) / route.bandwidth));
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

std::vector<std::pair<DeviceId, Picoseconds>>
CostModel::exchange(const std::vector<Transfer> &messages) const {
  struct Device {
    bool used = false;
    Picoseconds start = 0; ///< once for all messages; measured ones have it
    Picoseconds sending = 0, receiving = 0, passing = 0;
    /// How much longer where as much goes the other way.
    Picoseconds sendingMore = 0, receivingMore = 0;
  };
  DeviceId last = -1;
  for (const Transfer &message : messages)
    last = std::max({last, message.src, message.dst});
  std::vector<Device> devices(last + 1);

  std::vector<LinkId> links; // of all messages, one after the other
  std::vector<size_t> endOfLinks;
  links.reserve(4 * messages.size());
  endOfLinks.reserve(messages.size());
  std::vector<int64_t> bytesOver(topology.links().size());
  auto addTo = [&](LinkId link, int64_t bytes) {
    bytesOver[link] = std::min(bytesOver[link], INT64_MAX - bytes) + bytes;
  };
  const bool isShared = topology.hasSharedRoutes();
  std::vector<std::pair<LinkId, double>> loads;
  auto addLinksOf = [&](const Transfer &message) {
    if (!isShared) {
      const size_t begin = links.size();
      topology.appendLinks(message.src, message.dst, links);
      for (size_t l = begin; l < links.size(); ++l)
        addTo(links[l], message.bytes);
      return;
    }
    // Each link carries its share only.
    loads.clear();
    topology.appendLoads(message.src, message.dst, loads);
    for (auto [link, load] : loads) {
      links.push_back(link);
      addTo(link, load < 1 ? static_cast<int64_t>(
                                 load * static_cast<double>(message.bytes))
                           : message.bytes);
    }
  };
  for (const Transfer &message : messages) {
    Picoseconds time = transfer(message.src, message.dst, message.bytes);
    Device &src = devices[message.src], &dst = devices[message.dst];
    src.used = dst.used = true;
    src.sending = sum(src.sending, time);
    dst.receiving = sum(dst.receiving, time);
    // What was measured says all about how long a message takes its ends.
    if (!messageIsMeasured(message.src, message.dst)) {
      for (DeviceId id : {message.src, message.dst})
        devices[id].start = topology.kindOf(id).messageStart();
      addLinksOf(message);
    } else {
      const Picoseconds more = std::max<Picoseconds>(
          0, measured->exchange()->at(message.bytes) - time);
      src.sendingMore = sum(src.sendingMore, more);
      dst.receivingMore = sum(dst.receivingMore, more);
    }
    endOfLinks.push_back(links.size());
  }
  std::vector<double> secondsOver(bytesOver.size());
  for (size_t link = 0; link < bytesOver.size(); ++link)
    if (bytesOver[link] > 0)
      secondsOver[link] = static_cast<double>(bytesOver[link]) /
                          topology.links()[link].bandwidth;
  size_t l = 0;
  for (size_t m = 0; m < messages.size(); ++m) {
    if (l == endOfLinks[m])
      continue;
    double seconds = 0;
    for (; l < endOfLinks[m]; ++l)
      seconds = std::max(seconds, secondsOver[links[l]]);
    Picoseconds passing = toPicoseconds(seconds);
    passing = sum(passing,
                  topology.routeCost(messages[m].src, messages[m].dst).latency);
    for (DeviceId id : {messages[m].src, messages[m].dst})
      devices[id].passing = std::max(devices[id].passing, passing);
  }
  std::vector<std::pair<DeviceId, Picoseconds>> busy;
  for (DeviceId id = 0; id <= last; ++id)
    if (const Device &device = devices[id]; device.used)
      busy.push_back(
          {id,
           sum(device.start,
               std::max(sum(std::max(device.sending, device.receiving),
                            std::min(device.sendingMore, device.receivingMore)),
                        device.passing))});
  return busy;
}
