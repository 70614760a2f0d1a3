//===- TaskGraphWriter.cpp - FlexNet's task graphs written ----------------===//

#include "ffc/Network/TaskGraphFile.h"

#include "TaskGraph_generated.h"

#include <cmath>

using namespace ffc::network;
namespace file = ffc::network::file;
using flatbuffers::Offset;

namespace {

using Ends = std::pair<VertexId, VertexId>;

class Writer {
public:
  explicit Writer(const TaskGraphFile &from) : from(from) {}

  std::string write();

private:
  std::vector<Offset<file::Connection>> connections();
  std::vector<Offset<file::Task>> tasks();
  std::vector<Offset<file::Device>> devices();
  std::vector<Offset<file::Route>> routes();
  std::vector<Offset<file::Rings>> rings();
  uint64_t deviceOf(const NetworkTask &task);
  uint64_t deviceOf(const Ends &ends);

  const TaskGraphFile &from;
  flatbuffers::FlatBufferBuilder builder;
  /// Ids of the file's pairs and of those that send.
  std::map<Ends, uint64_t> pairs;
  std::vector<Ends> pairOrder;
};

} // namespace

/// Links with the same interfaces both ways are one row, which names the larger
/// number first; others are a row for each way, even one that is not there.
std::vector<Offset<file::Connection>> Writer::connections() {
  std::map<Ends, uint32_t> interfaces;
  for (const Link &link : from.network.links)
    interfaces[{link.src, link.dst}] = static_cast<uint32_t>(link.interfaces);
  std::vector<Offset<file::Connection>> rows;
  std::map<Ends, bool> written;
  for (const Link &link : from.network.links) {
    const VertexId a = std::max(link.src, link.dst);
    const VertexId b = std::min(link.src, link.dst);
    if (!written.emplace(Ends(a, b), true).second)
      continue;
    const auto there = interfaces.find({a, b}), back = interfaces.find({b, a});
    const uint32_t ab = there == interfaces.end() ? 0 : there->second;
    const uint32_t ba = back == interfaces.end() ? 0 : back->second;
    auto add = [&](VertexId src, VertexId dst, uint32_t count) {
      rows.push_back(file::CreateConnection(builder, static_cast<uint32_t>(src),
                                            static_cast<uint32_t>(dst), count));
    };
    add(a, b, ab);
    if (ab != ba)
      add(b, a, ba);
  }
  return rows;
}

/// Servers are devices 0 to numServers - 1, pairs follow.
uint64_t Writer::deviceOf(const Ends &ends) {
  auto [pair, isNew] = pairs.emplace(
      ends, static_cast<uint64_t>(from.graph.numServers) + pairOrder.size());
  if (isNew)
    pairOrder.push_back(ends);
  return pair->second;
}

uint64_t Writer::deviceOf(const NetworkTask &task) {
  switch (task.type) {
  case TaskType::AllReduce:
    return 0;
  case TaskType::Transfer:
    return deviceOf(Ends(task.src, task.dst));
  default:
    return static_cast<uint64_t>(task.server);
  }
}

std::vector<Offset<file::Task>> Writer::tasks() {
  std::vector<Offset<file::Task>> rows;
  for (size_t i = 0; i < from.graph.tasks.size(); ++i) {
    const NetworkTask &task = from.graph.tasks[i];
    const bool reduces = task.type == TaskType::AllReduce;
    const std::vector<int32_t> &after = reduces ? task.members : task.next;
    const std::vector<uint64_t> next(after.begin(), after.end());
    rows.push_back(file::CreateTaskDirect(
        builder, static_cast<int16_t>(task.type), i, deviceOf(task),
        task.milliseconds, static_cast<uint64_t>(task.bytes), &next));
  }
  return rows;
}

std::vector<Offset<file::Device>> Writer::devices() {
  constexpr int16_t kGpu = 0, kServerPair = 14;
  std::vector<Offset<file::Device>> rows;
  for (uint64_t s = 0; s < static_cast<uint64_t>(from.graph.numServers); ++s)
    rows.push_back(file::CreateDevice(builder, kGpu, s, s, s));
  const int vertices = from.network.numVertices();
  for (auto [src, dst] : pairOrder)
    rows.push_back(file::CreateDevice(
        builder, kServerPair, pairs[{src, dst}], UINT64_MAX,
        static_cast<uint64_t>(src) * static_cast<uint64_t>(vertices) +
            static_cast<uint64_t>(dst)));
  return rows;
}

/// Of all pairs; those without paths, as a server and itself, have empty ones.
std::vector<Offset<file::Route>> Writer::routes() {
  std::vector<Offset<file::Route>> rows;
  const auto servers = static_cast<VertexId>(from.graph.numServers);
  for (VertexId src = 0; src < servers; ++src)
    for (VertexId dst = 0; dst < servers; ++dst) {
      std::vector<Offset<file::Path>> list;
      const auto paths = from.network.paths.find({src, dst});
      if (paths != from.network.paths.end())
        for (const Path &path : paths->second) {
          std::vector<uint32_t> hops = {static_cast<uint32_t>(src)};
          for (LinkId link : path.links)
            hops.push_back(static_cast<uint32_t>(from.network.links[link].dst));
          list.push_back(file::CreatePathDirect(
              builder, &hops, static_cast<float>(path.share)));
        }
      rows.push_back(
          file::CreateRouteDirect(builder, static_cast<uint32_t>(src),
                                  static_cast<uint32_t>(dst), &list));
    }
  return rows;
}

std::vector<Offset<file::Rings>> Writer::rings() {
  std::vector<Offset<file::Rings>> rows;
  for (const auto &[members, rings] : from.network.rings) {
    std::vector<Offset<file::RingDescriptor>> list;
    for (const std::vector<int32_t> &jumps : rings)
      list.push_back(file::CreateRingDescriptorDirect(builder, &jumps));
    rows.push_back(file::CreateRingsDirect(
        builder, static_cast<uint64_t>(members), &list));
  }
  return rows;
}

std::string Writer::write() {
  const auto conn = connections();
  std::vector<Offset<file::Operator>> ops;
  for (const FileOperator &op : from.operators)
    ops.push_back(
        file::CreateOperatorDirect(builder, op.id, op.type, op.name.c_str()));
  for (const Ends &ends : from.pairs)
    deviceOf(ends);
  const auto taskRows = tasks();
  const auto deviceRows = devices();
  const auto routeRows = routes();
  const auto ringRows = rings();
  builder.Finish(file::CreateTaskGraphDirect(
      builder, static_cast<uint32_t>(from.gpusPerServer),
      static_cast<uint32_t>(from.graph.numServers),
      static_cast<uint32_t>(from.network.numSwitches), from.gpuBandwidth,
      from.memoryBandwidth, from.networkBandwidth, &conn, &ops, &taskRows,
      &deviceRows, &routeRows, &ringRows));
  return {reinterpret_cast<const char *>(builder.GetBufferPointer()),
          builder.GetSize()};
}

/// What a file cannot say about the network.
static std::string unwritable(const TaskGraphFile &file) {
  std::map<Ends, bool> seen;
  const double interface = static_cast<double>(file.networkBandwidth) * 1000;
  for (const Link &link : file.network.links) {
    const std::string name =
        std::to_string(link.src) + " to " + std::to_string(link.dst);
    if (!seen.emplace(Ends(link.src, link.dst), true).second)
      return "expected one link from " + name + ", found two";
    const double expected = interface * link.interfaces;
    // A 32-bit float has 24 bits.
    if (std::abs(link.bandwidth - expected) > 1e-6 * expected)
      return "expected links of equal interfaces of " +
             std::to_string(interface) + " bytes/s, found " +
             std::to_string(link.bandwidth) + " bytes/s on the " +
             std::to_string(link.interfaces) + " from " + name;
  }
  return "";
}

std::optional<std::string>
ffc::network::printTaskGraph(const TaskGraphFile &file, std::string &error) {
  if (file.graph.numServers != file.network.numServers)
    error = "expected a network of " + std::to_string(file.graph.numServers) +
            " servers, found " + std::to_string(file.network.numServers);
  else if (error = faultOf(file.graph); error.empty())
    error = unwritable(file);
  if (!error.empty())
    return std::nullopt;
  return Writer(file).write();
}
