//===- NetworkRuns.cpp - what network_data.py has done --------------------===//
//
// Does what the lines of standard input say and answers each with a line.
//
//   inventory FILE
//   rewrite FILE TO
//   simulate FILE NETWORK BANDWIDTH LATENCY ALL-REDUCE MODEL
//
// NETWORK is file, switch or the ports of a fat tree's switches; bytes per
// second; picoseconds.
//
//===----------------------------------------------------------------------===//

#include "ffc/Network/FlowTransport.h"
#include "ffc/Network/NetworkBuilder.h"
#include "ffc/Network/Simulate.h"
#include "ffc/Network/TaskGraphFile.h"
#include "ffc/Network/TrainTransport.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

using namespace ffc::network;

static TaskGraphFile load(const std::string &path) {
  std::string error;
  std::optional<TaskGraphFile> file = loadTaskGraph(path, error);
  if (!file)
    throw std::runtime_error(error);
  return std::move(*file);
}

/// As a map of JSON, under the names of the inventory where it has them.
static std::string inventory(const TaskGraphFile &file) {
  std::map<int, int> types;
  std::map<size_t, int> groups;
  std::map<VertexId, double> compute;
  int64_t reduced = 0, sent = 0;
  double inside = 0;
  for (const NetworkTask &task : file.graph.tasks) {
    ++types[static_cast<int>(task.type)];
    const auto time = static_cast<double>(task.milliseconds);
    if (task.type == TaskType::AllReduce) {
      reduced += task.bytes;
      inside += time;
      ++groups[task.members.size()];
    } else if (task.type == TaskType::Transfer) {
      sent += task.bytes;
    } else {
      compute[task.server] += time;
    }
  }
  double most = 0;
  for (auto [server, time] : compute)
    most = std::max(most, time);
  std::ostringstream out;
  out.precision(17);
  auto list = [&](const char *name, const auto &map) {
    out << ", \"" << name << "\": {";
    const char *comma = "";
    for (auto [key, value] : map) {
      out << comma << '"' << key << "\": " << value;
      comma = ", ";
    }
    out << "}";
  };
  out << "{\"ng\": " << file.gpusPerServer
      << ", \"nn\": " << file.graph.numServers
      << ", \"nsw\": " << file.network.numSwitches
      << ", \"ig\": " << file.gpuBandwidth
      << ", \"dr\": " << file.memoryBandwidth
      << ", \"nb\": " << file.networkBandwidth
      << ", \"links\": " << file.network.links.size()
      << ", \"ops\": " << file.operators.size()
      << ", \"tasks\": " << file.graph.tasks.size()
      << ", \"pairs\": " << file.pairs.size()
      << ", \"paths\": " << file.network.paths.size()
      << ", \"rings\": " << file.network.rings.size()
      << ", \"arbytes\": " << reduced << ", \"mpbytes\": " << sent
      << ", \"artime\": " << inside << ", \"maxcomp\": " << most
      << ", \"ncompdev\": " << compute.size();
  list("types", types);
  list("arsizes", groups);
  out << "}";
  return out.str();
}

static std::string rewrite(const TaskGraphFile &file, const std::string &to) {
  std::string error;
  const std::optional<std::string> bytes = printTaskGraph(file, error);
  if (!bytes)
    throw std::runtime_error(error);
  std::ofstream(to, std::ios::binary) << *bytes;
  const TaskGraphFile again = load(to);
  auto sameLink = [](const Link &a, const Link &b) {
    return a.src == b.src && a.dst == b.dst && a.bandwidth == b.bandwidth &&
           a.latency == b.latency && a.interfaces == b.interfaces;
  };
  auto sameTask = [](const NetworkTask &a, const NetworkTask &b) {
    return a.type == b.type && a.server == b.server && a.src == b.src &&
           a.dst == b.dst && a.milliseconds == b.milliseconds &&
           a.bytes == b.bytes && a.next == b.next && a.members == b.members;
  };
  auto samePath = [](const Path &a, const Path &b) {
    return a.links == b.links && a.share == b.share;
  };
  auto samePaths = [&](const auto &a, const auto &b) {
    return a.first == b.first &&
           std::equal(a.second.begin(), a.second.end(), b.second.begin(),
                      b.second.end(), samePath);
  };
  auto sameOperator = [](const FileOperator &a, const FileOperator &b) {
    return a.id == b.id && a.type == b.type && a.name == b.name;
  };
  auto same = [](const auto &a, const auto &b, auto equal) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
  };
  const Network &x = file.network, &y = again.network;
  if (!same(file.graph.tasks, again.graph.tasks, sameTask) ||
      !same(x.links, y.links, sameLink) || !same(x.paths, y.paths, samePaths) ||
      !same(file.operators, again.operators, sameOperator) ||
      x.rings != y.rings || file.pairs != again.pairs ||
      inventory(file) != inventory(again))
    throw std::runtime_error("expected the same tables again, found others");
  return "ok";
}

static std::string simulateFile(const TaskGraphFile &file,
                                std::istringstream &words) {
  std::string kind, allReduce, model, error;
  Interface interface;
  words >> kind >> interface.bandwidth >> interface.latency >> allReduce >>
      model;
  SimulateOptions options;
  if (allReduce == "ps")
    options.allReduce = AllReduceKind::ParameterServer;
  if (allReduce == "dps")
    options.allReduce = AllReduceKind::Direct;
  Network network;
  const int servers = file.graph.numServers;
  if (kind == "file") {
    network = file.network;
    setSpeed(network, interface);
  } else if (kind == "switch") {
    network = makeSwitch(servers, interface);
  } else {
    auto tree = makeFatTree(std::stoi(kind), servers, interface, error);
    if (!tree)
      throw std::runtime_error(error);
    network = std::move(*tree);
  }
  // As the original's programs do it.
  PacketOptions packets;
  packets.serversMark = kind == "file" || kind == "switch";
  const auto begin = std::chrono::steady_clock::now();
  FlowTransport fair(network);
  TrainTransport trains(network, packets);
  Transport &transport =
      model == "fair" ? static_cast<Transport &>(fair) : trains;
  const auto step = simulate(file.graph, network, transport, options, error);
  const std::chrono::duration<double> wall =
      std::chrono::steady_clock::now() - begin;
  if (!step)
    throw std::runtime_error(error);
  return std::to_string(step->finish) + " " +
         std::to_string(step->flows.size()) + " " +
         std::to_string(wall.count());
}

static std::string answer(const std::string &line) {
  std::istringstream words(line);
  std::string what, path, to;
  words >> what >> path;
  const TaskGraphFile file = load(path);
  if (what == "inventory")
    return inventory(file);
  if (what == "rewrite" && words >> to)
    return rewrite(file, to);
  if (what == "simulate")
    return simulateFile(file, words);
  throw std::runtime_error("expected inventory, rewrite or simulate");
}

int main() {
  for (std::string line; std::getline(std::cin, line);)
    try {
      std::cout << answer(line) << std::endl;
    } catch (const std::exception &exception) {
      std::cout << "error: " << exception.what() << std::endl;
    }
}
