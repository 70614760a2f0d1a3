//===- TopologyFlexFlow.cpp - reads FlexFlow's machine models -------------===//
//
// The text files that FlexFlow takes with --machine-model-file (version 1, the
// "enhanced" model): lines KEY = VALUE. docs/topology.md says how they map to
// the graph.
//
//===----------------------------------------------------------------------===//

#include "FlexFlowMachine.h"
#include "Text/Text.h"
#include "TopologyReaders.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace ffc::plan;

/// What a path of no cost has: the largest bandwidth a file may give.
static constexpr double kFreeBandwidth = 1e18;
static constexpr const char *kDefaultKind = "p100";

[[noreturn]] static void fail(int line, const std::string &message) {
  throw Malformed{line, message};
}

namespace {

/// How far apart two GPUs are.
enum Distance { IntraSocket, InterSocket, InterNode };
constexpr int kNumDistances = 3;

class MachineReader {
public:
  explicit MachineReader(const std::string &text);
  Topology read(const std::string &name);

private:
  void addDevices();
  void addPath(Distance distance);
  void addHostPath(const FlexFlowMachine::Entry &path, Distance distance);
  /// Links all pairs of GPUs that are that far apart with each other.
  void addPairs(int line, Distance distance, LinkFigures figures);
  void checkRoutes(const Topology &topology) const;

  /// Makes the switch, or the link, unless there is one.
  std::string vertex(int line, const std::string &name, int node);
  void link(int line, const std::string &from, const std::string &to,
            LinkFigures figures);

  int socketOf(int device) const { return device / gpus; }
  int nodeOf(int socket) const { return socket / sockets; }
  static std::string gpu(int device) { return "d" + std::to_string(device); }
  std::string at(int socket, const std::string &part) const {
    return "n" + std::to_string(nodeOf(socket)) + ".s" +
           std::to_string(socket % sockets) + "." + part;
  }

  FlexFlowMachine machine;
  int nodes = 0, sockets = 0, gpus = 0; ///< sockets of a node, GPUs of a socket
  bool nicPerSocket = false;
  TopologyBuilder builder;
  std::set<std::string> made; ///< vertices, and links as "FROM TO"
  std::array<std::optional<LinkFigures>, kNumDistances> expected;
};

} // namespace

static const std::string kPathSuffix = "_gpu_fb_mem_to_gpu_fb_mem";
static std::string pathKey(Distance distance) {
  static const char *const kNames[] = {"intra_socket", "inter_socket",
                                       "inter_node"};
  return kNames[distance] + kPathSuffix;
}

std::string MachineReader::vertex(int line, const std::string &name, int node) {
  if (made.insert(name).second)
    builder.addSwitch(line, name, node);
  return name;
}

void MachineReader::link(int line, const std::string &from,
                         const std::string &to, LinkFigures figures) {
  if (made.insert(from + " " + to).second)
    builder.addLink(line, from, to, figures);
}

void MachineReader::addDevices() {
  std::string kind = kDefaultKind;
  int line = machine.entry("num_gpus_per_socket").line;
  for (const DeviceKind &preset : presetKinds())
    builder.defineKind(0, preset);
  if (machine.has("gpu_kind")) {
    kind = machine.value("gpu_kind");
    line = machine.entry("gpu_kind").line;
  }
  const int number = builder.findKind(line, kind);
  for (int node = 0; node < nodes; ++node)
    builder.addDevices(line, int64_t(sockets) * gpus, number,
                       builder.addNode(machine.entry("num_nodes").line,
                                       "n" + std::to_string(node)));
}

void MachineReader::addPairs(int line, Distance distance, LinkFigures figures) {
  const int devices = builder.numDevices(), perNode = sockets * gpus;
  for (int a = 0; a < devices; ++a) {
    const bool anywhere = distance == InterNode;
    const int begin = anywhere ? 0 : a / perNode * perNode;
    for (int b = begin; b < (anywhere ? devices : begin + perNode); ++b) {
      const bool sameSocket = socketOf(a) == socketOf(b);
      const bool sameNode = a / perNode == b / perNode;
      const Distance apart = sameSocket ? IntraSocket
                             : sameNode ? InterSocket
                                        : InterNode;
      if (a != b && apart == distance)
        link(line, gpu(a), gpu(b), figures);
    }
  }
}

/// pci_to_host [membus] [upi or nic] [membus] pci_to_dev, between all sockets.
/// `here` and `there` are where a message is at its source and destination: in
/// the socket's host bridge, or behind its memory bus.
void MachineReader::addHostPath(const FlexFlowMachine::Entry &path,
                                Distance distance) {
  const std::string key = pathKey(distance);
  const int line = path.line;
  const std::string crossing = distance == IntraSocket   ? ""
                               : distance == InterSocket ? "upi"
                                                         : "nic";
  auto malformed = [&] {
    fail(line, key + ": expected null, " +
                   (distance == InterNode ? "" : "nvlink, ") +
                   "or pci_to_host [membus] " + crossing +
                   (crossing.empty() ? "" : " [membus] ") +
                   "pci_to_dev, found " + quoted(joined(path.words)));
  };
  std::vector<std::string> words = path.words;
  if (words.size() < 2 || words.front() != "pci_to_host" ||
      words.back() != "pci_to_dev")
    malformed();
  words.erase(words.begin());
  words.pop_back();
  const LinkFigures pci = machine.figures("pci");
  const LinkFigures leg{pci.bandwidth, 0};
  LinkFigures sum{pci.bandwidth, 2 * pci.latency};
  auto count = [&](const LinkFigures &figures) {
    sum.bandwidth = std::min(sum.bandwidth, figures.bandwidth);
    sum.latency += figures.latency;
  };
  // The parts before and after the crossing: with a memory bus or without.
  bool crossed = crossing.empty();
  bool busBefore = false, busAfter = false;
  for (const std::string &word : words) {
    bool &bus = crossed ? busAfter : busBefore;
    if (word == "membus" && !bus)
      bus = true;
    else if (word == crossing && !crossed)
      crossed = true;
    else
      malformed();
    count(machine.figures(word));
  }
  if (!crossed)
    malformed();

  const int numSockets = nodes * sockets;
  for (int s = 0; s < numSockets; ++s) {
    const int node = nodeOf(s);
    const std::string up = vertex(line, at(s, "pci-to-host"), node);
    const std::string host = vertex(line, at(s, "host"), node);
    const std::string down = vertex(line, at(s, "pci-to-dev"), node);
    for (int device = s * gpus; device < (s + 1) * gpus; ++device) {
      link(line, gpu(device), up, leg);
      link(line, down, gpu(device), leg);
    }
    link(line, up, host, pci);
    std::string here = host, there = host;
    if (busBefore) {
      here = vertex(line, at(s, "out"), node);
      link(line, host, here, machine.figures("membus"));
    }
    if (crossing.empty()) {
      there = busAfter ? vertex(line, at(s, "memory"), node) : here;
      if (busAfter)
        link(line, here, there, machine.figures("membus"));
    } else {
      LinkFigures half = machine.figures(crossing);
      const Picoseconds whole = half.latency;
      half.latency = whole / 2;
      const LinkFigures rest{half.bandwidth, whole - half.latency};
      const std::string port = at(s, "in");
      there = busAfter || busBefore ? vertex(line, port, node) : host;
      if (crossing == "upi") {
        const std::string hub =
            vertex(line, "n" + std::to_string(node) + ".upi", node);
        link(line, here, hub, half);
        link(line, hub, there, rest);
      } else {
        const std::string network = vertex(line, "network", -1);
        const std::string nic =
            nicPerSocket ? at(s, "nic") : "n" + std::to_string(node) + ".nic";
        if (made.insert(nic).second)
          builder.addNic(line, nic, node);
        link(line, nic, network, half);
        link(line, network, nic, rest);
        link(line, here, nic, {half.bandwidth, 0});
        link(line, nic, there, {half.bandwidth, 0});
      }
      if (busAfter) {
        const std::string memory = vertex(line, at(s, "memory"), node);
        link(line, there, memory, machine.figures("membus"));
        there = memory;
      }
    }
    link(line, there, down, pci);
  }
  expected[distance] = sum;
}

void MachineReader::addPath(Distance distance) {
  const std::string key = pathKey(distance);
  const FlexFlowMachine::Entry &path = machine.entry(key);
  const bool isSingle = path.words.size() == 1;
  if (isSingle && path.words[0] == "null")
    expected[distance] = LinkFigures{kFreeBandwidth, 0};
  else if (isSingle && path.words[0] == "nvlink" && distance != InterNode)
    expected[distance] = machine.figures("nvlink");
  else
    return addHostPath(path, distance);
  addPairs(path.line, distance, *expected[distance]);
}

/// A file says which way messages take; here they take the fastest one. It has
/// to be the same.
void MachineReader::checkRoutes(const Topology &topology) const {
  const std::array<int, kNumDistances> peers = {1, gpus, sockets * gpus};
  for (int distance = 0; distance < kNumDistances; ++distance) {
    if (!expected[distance])
      continue;
    const RouteCost route = topology.routeCost(0, peers[distance]);
    if (route.latency == expected[distance]->latency &&
        route.bandwidth == expected[distance]->bandwidth)
      continue;
    auto shown = [](Picoseconds latency, double bandwidth) {
      return formatQuantity(static_cast<double>(latency), QuantityKind::Time) +
             " and " + formatQuantity(bandwidth, QuantityKind::BytesPerSecond);
    };
    const std::string key = pathKey(static_cast<Distance>(distance));
    fail(machine.entry(key).line,
         key + ": expected the way of least latency, found one of " +
             shown(expected[distance]->latency, expected[distance]->bandwidth) +
             " beside one of " + shown(route.latency, route.bandwidth) +
             " by the other paths");
  }
}

MachineReader::MachineReader(const std::string &text) : machine(text) {
  nodes = machine.number("num_nodes", 1, kMaxDevices);
  sockets = machine.number("num_sockets_per_node", 1, kMaxDevices);
  gpus = machine.number("num_gpus_per_socket", 1, kMaxDevices);
  const double devices = double(nodes) * sockets * gpus;
  if (devices > kMaxDevices)
    fail(machine.entry("num_gpus_per_socket").line,
         "expected at most " + std::to_string(kMaxDevices) + " GPUs, found " +
             std::to_string(nodes) + " x " + std::to_string(sockets) + " x " +
             std::to_string(gpus));
  if (machine.has("num_cpus_per_socket"))
    machine.number("num_cpus_per_socket", 0, kMaxDevices);
  for (const char *key : {"nic_distribution", "nic_persocket"})
    if (machine.has(key))
      nicPerSocket = machine.number(key, 0, 1) == 1;
}

Topology MachineReader::read(const std::string &name) {
  addDevices();
  if (gpus > 1)
    addPath(IntraSocket);
  if (sockets > 1)
    addPath(InterSocket);
  if (nodes > 1)
    addPath(InterNode);
  Topology topology = builder.finish(name);
  checkRoutes(topology);
  return topology;
}

Topology ffc::plan::readFlexFlowMachine(const std::string &text,
                                        const std::string &name) {
  return MachineReader(text).read(name);
}
