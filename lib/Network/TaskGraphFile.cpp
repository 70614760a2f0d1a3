//===- TaskGraphFile.cpp - FlexNet's task graphs read ---------------------===//

#include "ffc/Network/TaskGraphFile.h"

#include "TaskGraph_generated.h"

#include "ffc/Plan/Topology.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <unordered_map>

using namespace ffc::network;
namespace file = ffc::network::file;
namespace plan = ffc::plan;

namespace {

/// What is wrong with the file; thrown inside the reader only.
struct Fault {
  std::string message;
};

[[noreturn]] void fail(const std::string &message) { throw Fault{message}; }

template <typename Number>
std::string expectedFound(const std::string &expected, Number found) {
  return "expected " + expected + ", found " + std::to_string(found);
}

/// What files call devices (docs/task-graphs.md).
enum DeviceType : int16_t { Gpu = 0, Cpu = 1, ServerPair = 14 };

/// The server that computes, or the pair that sends.
struct FileDevice {
  bool computes = false;
  VertexId server = 0;
  VertexId src = 0, dst = 0;
};

/// The elements of a table's list; an absent list has none.
template <typename List> size_t sizeOf(const List *list) {
  return list ? list->size() : 0;
}

class Reader {
public:
  explicit Reader(const file::TaskGraph &from) : from(from) {}

  TaskGraphFile read() {
    readSizes();
    readDevices();
    readTasks();
    readConnections();
    readRoutes();
    readRings();
    for (size_t i = 0; i < sizeOf(from.ops()); ++i) {
      const file::Operator *op = from.ops()->Get(static_cast<uint32_t>(i));
      result.operators.push_back(
          {op->opid(), op->type(), op->name() ? op->name()->str() : ""});
    }
    if (std::string fault = faultOf(result.graph); !fault.empty())
      fail(fault);
    Network network = result.network;
    for (Link &link : network.links) // where the file does not say
      if (link.bandwidth == 0)
        link.bandwidth = 1;
    if (std::string fault = faultOf(network); !fault.empty())
      fail(fault);
    return std::move(result);
  }

private:
  void readSizes();
  void readDevices();
  void readTasks();
  void readConnections();
  void readRoutes();
  void readRings();

  FileDevice readDevice(const file::Device &device);
  NetworkTask readTask(const file::Task &task);
  VertexId server(uint64_t number, const char *what) const;
  VertexId vertex(uint64_t number, const char *what) const;
  int32_t taskOf(uint64_t id) const;
  void addLink(VertexId src, VertexId dst, uint32_t interfaces);
  Path readPath(const file::Path &path, VertexId src, VertexId dst) const;

  const file::TaskGraph &from;
  TaskGraphFile result;
  std::unordered_map<uint64_t, FileDevice> devices;
  std::unordered_map<uint64_t, int32_t> tasks;
  std::map<std::pair<VertexId, VertexId>, LinkId> links;
};

} // namespace

void Reader::readSizes() {
  const uint32_t servers = from.nnode(), switches = from.nswitch();
  if (servers < 1 || servers > plan::kMaxDevices)
    fail(expectedFound("from 1 to " + std::to_string(plan::kMaxDevices) +
                           " nodes (nnode)",
                       servers));
  if (switches > plan::kMaxDevices)
    fail(expectedFound("at most " + std::to_string(plan::kMaxDevices) +
                           " switches (nswitch)",
                       switches));
  if (from.ngpupernode() > plan::kMaxDevices)
    fail(expectedFound("at most " + std::to_string(plan::kMaxDevices) +
                           " GPUs in a node (ngpupernode)",
                       from.ngpupernode()));
  for (auto [name, value] : {std::pair("netbw", from.netbw()),
                             {"intergpubw", from.intergpubw()},
                             {"drambw", from.drambw()}})
    if (!(value >= 0 && std::isfinite(value)))
      fail(expectedFound(std::string("a bandwidth (") + name +
                             ") of 0 or more bytes per millisecond",
                         value));
  result.graph.numServers = result.network.numServers =
      static_cast<int>(servers);
  result.network.numSwitches = static_cast<int>(switches);
  result.gpusPerServer = static_cast<int>(from.ngpupernode());
  result.networkBandwidth = from.netbw();
  result.gpuBandwidth = from.intergpubw();
  result.memoryBandwidth = from.drambw();
}

VertexId Reader::server(uint64_t number, const char *what) const {
  if (number >= static_cast<uint64_t>(result.graph.numServers))
    fail(expectedFound(std::string(what) + " from 0 to " +
                           std::to_string(result.graph.numServers - 1),
                       number));
  return static_cast<VertexId>(number);
}

VertexId Reader::vertex(uint64_t number, const char *what) const {
  if (number >= static_cast<uint64_t>(result.network.numVertices()))
    fail(expectedFound(std::string(what) + " from 0 to " +
                           std::to_string(result.network.numVertices() - 1),
                       number));
  return static_cast<VertexId>(number);
}

FileDevice Reader::readDevice(const file::Device &device) {
  FileDevice read;
  switch (device.type()) {
  case Gpu:
  case Cpu:
    read.computes = true;
    read.server = server(device.nodeid(), "a device of a node");
    return read;
  case ServerPair: {
    const uint64_t stride = static_cast<uint64_t>(result.network.numVertices());
    read.src = server(device.deviceproperty() / stride,
                      "a pair of nodes (deviceproperty) whose first is");
    read.dst = server(device.deviceproperty() % stride,
                      "a pair of nodes (deviceproperty) whose second is");
    result.pairs.push_back({read.src, read.dst});
    return read;
  }
  default:
    fail(expectedFound(
        "a GPU (type 0), CPU (1) or pair of nodes (14) as a device",
        device.type()));
  }
}

void Reader::readDevices() {
  std::set<VertexId> computing;
  for (size_t i = 0; i < sizeOf(from.devices()); ++i) {
    const file::Device &device = *from.devices()->Get(static_cast<uint32_t>(i));
    const FileDevice read = readDevice(device);
    if (!devices.emplace(device.deviceid(), read).second)
      fail(expectedFound("devices with different ids, twice id",
                         device.deviceid()));
    // Two would compute side by side, and a server computes one task at a time.
    if (read.computes && !computing.insert(read.server).second)
      fail(expectedFound("one device that computes for each node, a second "
                         "for node",
                         read.server));
  }
}

int32_t Reader::taskOf(uint64_t id) const {
  auto task = tasks.find(id);
  if (task == tasks.end())
    fail(expectedFound("a task to follow (nexttasks), no task with id", id));
  return task->second;
}

NetworkTask Reader::readTask(const file::Task &task) {
  NetworkTask read;
  read.type = static_cast<TaskType>(task.type());
  read.milliseconds = task.runtime();
  if (task.xfersize() > INT64_MAX)
    fail(expectedFound("at most 2^63 - 1 bytes", task.xfersize()));
  read.bytes = static_cast<int64_t>(task.xfersize());
  const auto *next = task.nexttasks();
  if (read.type == TaskType::AllReduce) {
    for (size_t i = 0; i < sizeOf(next); ++i)
      read.members.push_back(server(next->Get(static_cast<uint32_t>(i)),
                                    "a member of an all-reduce"));
    return read;
  }
  for (size_t i = 0; i < sizeOf(next); ++i)
    read.next.push_back(taskOf(next->Get(static_cast<uint32_t>(i))));
  const bool sends = read.type == TaskType::Transfer;
  auto device = devices.find(task.deviceid());
  if (device == devices.end())
    fail(expectedFound("the device of a task, no device with id",
                       task.deviceid()));
  if (device->second.computes == sends)
    fail(std::string("expected a device that ") +
         (sends ? "sends, one that computes: id "
                : "computes, a pair of "
                  "nodes: id ") +
         std::to_string(task.deviceid()));
  read.server = device->second.server;
  read.src = device->second.src;
  read.dst = device->second.dst;
  return read;
}

void Reader::readTasks() {
  const size_t count = sizeOf(from.tasks());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t id = from.tasks()->Get(static_cast<uint32_t>(i))->taskid();
    if (!tasks.emplace(id, static_cast<int32_t>(i)).second)
      fail(expectedFound("tasks with different ids, twice id", id));
  }
  result.graph.tasks.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const file::Task &task = *from.tasks()->Get(static_cast<uint32_t>(i));
    try {
      result.graph.tasks.push_back(readTask(task));
    } catch (const Fault &fault) {
      fail("task " + std::to_string(i) + " (id " +
           std::to_string(task.taskid()) + "): " + fault.message);
    }
  }
}

void Reader::addLink(VertexId src, VertexId dst, uint32_t interfaces) {
  if (interfaces == 0)
    return;
  links[{src, dst}] = static_cast<LinkId>(result.network.links.size());
  Link link;
  link.src = src;
  link.dst = dst;
  link.interfaces = static_cast<int>(interfaces);
  link.bandwidth = static_cast<double>(result.networkBandwidth) * 1000 *
                   static_cast<double>(interfaces);
  result.network.links.push_back(link);
}

/// A pair in one order is a connection both ways; in both orders, each is one
/// way.
void Reader::readConnections() {
  std::map<std::pair<VertexId, VertexId>, uint32_t> rows;
  std::vector<std::pair<VertexId, VertexId>> order;
  for (size_t i = 0; i < sizeOf(from.conn()); ++i) {
    const file::Connection &row = *from.conn()->Get(static_cast<uint32_t>(i));
    const VertexId a = vertex(row.fromnode(), "a connection (conn) of nodes");
    const VertexId b = vertex(row.tonode(), "a connection (conn) of nodes");
    const std::string pair = std::to_string(a) + " and " + std::to_string(b);
    if (a == b)
      fail("expected a connection (conn) of two nodes, found " + pair);
    if (row.nconn() > plan::kMaxDevices)
      fail(expectedFound("at most " + std::to_string(plan::kMaxDevices) +
                             " connections of " + pair,
                         row.nconn()));
    if (!rows.emplace(std::pair(a, b), row.nconn()).second)
      fail("expected each connection (conn) once, found " + pair + " twice");
    order.push_back({a, b});
  }
  for (auto [a, b] : order) {
    const uint32_t interfaces = rows[{a, b}];
    const bool oneWay = rows.count({b, a}) > 0;
    if (!oneWay && a < b)
      addLink(b, a, interfaces);
    addLink(a, b, interfaces);
    if (!oneWay && a > b)
      addLink(b, a, interfaces);
  }
}

Path Reader::readPath(const file::Path &path, VertexId src,
                      VertexId dst) const {
  const std::string pair =
      "from " + std::to_string(src) + " to " + std::to_string(dst);
  const auto *hops = path.hopnode();
  if (sizeOf(hops) < 2 || hops->Get(0) != static_cast<uint32_t>(src) ||
      hops->Get(hops->size() - 1) != static_cast<uint32_t>(dst))
    fail("expected a path (hopnode) " + pair +
         ", found one that begins or ends elsewhere");
  Path read;
  for (uint32_t i = 0; i + 1 < hops->size(); ++i) {
    const VertexId at = vertex(hops->Get(i), "a hop (hopnode)");
    const VertexId to = vertex(hops->Get(i + 1), "a hop (hopnode)");
    auto link = links.find({at, to});
    if (link == links.end())
      fail("expected a path " + pair + " over connections, found none from " +
           std::to_string(at) + " to " + std::to_string(to));
    read.links.push_back(link->second);
  }
  if (!(path.chance() > 0))
    fail(expectedFound("a path " + pair + " with a chance above 0",
                       path.chance()));
  read.share = static_cast<double>(path.chance());
  return read;
}

void Reader::readRoutes() {
  // Chances are 32-bit floats: a sum of them is 1 within 1e-3, and shares are
  // to add up within 1e-6.
  constexpr double kRounded = 1e-3, kExact = 1e-6;
  for (size_t i = 0; i < sizeOf(from.routes()); ++i) {
    const file::Route &route = *from.routes()->Get(static_cast<uint32_t>(i));
    const VertexId src = server(route.fromnode(), "a route from a node");
    const VertexId dst = server(route.tonode(), "a route to a node");
    const size_t count = sizeOf(route.paths());
    if (count == 0)
      continue;
    const std::string pair =
        "from " + std::to_string(src) + " to " + std::to_string(dst);
    if (src == dst)
      fail("expected no path " + pair + ", found " + std::to_string(count));
    auto [entry, isNew] =
        result.network.paths.emplace(std::pair(src, dst), std::vector<Path>());
    if (!isNew)
      fail("expected each route once, found that " + pair + " twice");
    std::vector<Path> &paths = entry->second;
    double chances = 0;
    for (size_t p = 0; p < count; ++p) {
      paths.push_back(
          readPath(*route.paths()->Get(static_cast<uint32_t>(p)), src, dst));
      chances += paths.back().share;
    }
    if (std::abs(chances - 1) > kRounded)
      fail(expectedFound("chances of the paths " + pair + " that add up to 1",
                         chances));
    if (std::abs(chances - 1) > kExact)
      for (Path &path : paths)
        path.share /= chances;
  }
}

void Reader::readRings() {
  for (size_t i = 0; i < sizeOf(from.rings()); ++i) {
    const file::Rings &entry = *from.rings()->Get(static_cast<uint32_t>(i));
    if (entry.ringsz() < 2 ||
        entry.ringsz() > static_cast<uint64_t>(result.graph.numServers))
      fail(expectedFound("rings of 2 to " +
                             std::to_string(result.graph.numServers) +
                             " members (ringsz)",
                         entry.ringsz()));
    RingJumps rings;
    for (size_t r = 0; r < sizeOf(entry.ringpaths()); ++r) {
      const auto *jumps =
          entry.ringpaths()->Get(static_cast<uint32_t>(r))->jumps();
      if (sizeOf(jumps) == 0)
        fail("expected a ring with jumps, found none for " +
             std::to_string(entry.ringsz()) + " members");
      rings.emplace_back(jumps->begin(), jumps->end());
    }
    if (!result.network.rings
             .emplace(static_cast<int>(entry.ringsz()), std::move(rings))
             .second)
      fail(expectedFound("rings once for each number of members, twice for",
                         entry.ringsz()));
  }
}

std::optional<TaskGraphFile>
ffc::network::parseTaskGraph(const std::string &bytes,
                             const std::string &fileName, std::string &error) {
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  // Tables that several others share count every time.
  constexpr flatbuffers::uoffset_t kMaxDepth = 8;
  flatbuffers::Verifier verifier(
      data, bytes.size(), kMaxDepth,
      static_cast<flatbuffers::uoffset_t>(bytes.size()));
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE ||
      !file::VerifyTaskGraphBuffer(verifier)) {
    error = fileName + ": expected a task graph of FlexNet (FlatBuffers), "
                       "found damaged or other data";
    return std::nullopt;
  }
  try {
    return Reader(*file::GetTaskGraph(data)).read();
  } catch (const Fault &fault) {
    error = fileName + ": " + fault.message;
    return std::nullopt;
  }
}

std::optional<TaskGraphFile>
ffc::network::loadTaskGraph(const std::string &path, std::string &error) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad() || bytes.empty()) {
    error = path + ": cannot be read";
    return std::nullopt;
  }
  return parseTaskGraph(bytes, path, error);
}
