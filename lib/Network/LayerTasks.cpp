//===- LayerTasks.cpp - plans as tasks of FlexNet's layers ----------------===//

#include "ffc/Network/LayerTasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace ffc::network;
using namespace ffc::plan;

static constexpr double kSecond = 1e3; // in milliseconds

double ServerInside::allReduce(int gpus, int64_t bytes) const {
  if (gpus < 2)
    return 0;
  const double moved = asFlexNet ? 2.0 : 2.0 * (gpus - 1);
  return moved * static_cast<double>(bytes) / (gpus * (bandwidth / kSecond));
}

double ffc::network::bandwidthInside(const Topology &topology) {
  std::map<int, DeviceId> first;
  for (DeviceId id = 0; id < topology.numDevices(); ++id)
    if (auto [at, isNew] = first.emplace(topology.device(id).node, id); !isNew)
      return topology.routeCost(at->second, id).bandwidth;
  return 0;
}

static std::string quote(const std::string &text) { return "'" + text + "'"; }

namespace {

using Boxes = std::vector<Box>;

/// A layer's place: the points of its operator on a server.
struct Part {
  int32_t forward = -1, backward = -1; ///< tasks
};

class LayerWriter {
public:
  LayerWriter(const ffc::plan::Graph &graph, const Strategy &strategy,
              const Topology &topology, const FlexNetMeasures &measures,
              const FlexNetLayers &layers, const ServerInside &inside,
              std::string &error)
      : graph(graph), strategy(strategy), topology(topology),
        measures(measures), layers(layers), inside(inside), error(error) {}

  std::optional<ServerTasks> run();

private:
  bool addLayer(size_t number);
  std::optional<FlexNetTimes> timesOf(const FlexNetLayer &layer,
                                      int64_t pointsOfServer);
  /// Gradients of a part of a parameter that are added up.
  struct Sum {
    std::vector<VertexId> members; ///< servers, in order
    int gpus = 1;                  ///< of each at most
    int64_t bytes = 0;
  };
  std::vector<Sum> sumsOf(OpId op, size_t operand) const;
  void addSum(size_t number, const Sum &sum);
  void addWeights(size_t number);
  void connect(OpId reader, int operand);
  void connectParts(int from, VertexId src, int to, VertexId dst,
                    int64_t bytes);

  /// The boxes of the tensor in `slot` that the points of `op` on a server
  /// touch.
  std::map<VertexId, Boxes> boxesOf(OpId op, int slot, bool isWritten) const;

  VertexId serverOf(DeviceId device) const {
    return topology.device(device).node;
  }
  bool fail(const std::string &message) {
    error = message;
    return false;
  }
  NetworkTask &task(int32_t number) { return result.graph.tasks[number]; }
  int32_t add(NetworkTask made) {
    result.graph.tasks.push_back(std::move(made));
    return static_cast<int32_t>(result.graph.tasks.size()) - 1;
  }
  void follow(int32_t before, int32_t after) {
    std::vector<int32_t> &next = task(before).next;
    if (std::find(next.begin(), next.end(), after) == next.end())
      next.push_back(after);
  }

  const ffc::plan::Graph &graph;
  const Strategy &strategy;
  const Topology &topology;
  const FlexNetMeasures &measures;
  const FlexNetLayers &layers;
  const ServerInside &inside;
  std::string &error;

  std::vector<std::map<VertexId, Part>> parts; ///< by layer
  ServerTasks result;
  /// Layers between whose parts there is data, and how much.
  struct Edge {
    int from, to;
    VertexId src, dst;
  };
  std::vector<std::pair<Edge, int64_t>> transfers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tasks of computation
//===----------------------------------------------------------------------===//

std::optional<FlexNetTimes> LayerWriter::timesOf(const FlexNetLayer &layer,
                                                 int64_t pointsOfServer) {
  const std::string &name = graph.op(layer.op).name;
  auto degrees = flexNetDegrees(graph, layer.op, strategy[layer.op]);
  // The GPUs of a server have a part together, which is of more samples.
  if (!degrees || degrees->back() % pointsOfServer != 0) {
    fail(quote(name) + ": expected a split of samples that FlexNet can say, " +
         "the same on each GPU of a server, found " +
         strategy[layer.op].str(graph.op(layer.op).rules));
    return std::nullopt;
  }
  degrees->back() /= pointsOfServer;
  const auto times = flexNetTimes(measures, layer.name, *degrees);
  if (times)
    return times;
  std::string key = std::to_string(degrees->size());
  for (int64_t degree : *degrees)
    key += "-" + std::to_string(degree);
  fail(quote(name) + ": expected measurements of " + quote(layer.name) +
       " with 'pc_str' " + quote(key) + ", found none");
  return std::nullopt;
}

bool LayerWriter::addLayer(size_t number) {
  const FlexNetLayer &layer = layers.list[number];
  const Op &op = graph.op(layer.op);
  std::map<VertexId, int64_t> points;
  for (DeviceId device : strategy[layer.op].devices)
    ++points[serverOf(device)];
  for (const auto &[server, count] : points)
    if (count != points.begin()->second)
      return fail(quote(op.name) + ": expected as many parts on server " +
                  std::to_string(server) + " as on server " +
                  std::to_string(points.begin()->first) + ", " +
                  std::to_string(points.begin()->second) + ", found " +
                  std::to_string(count));
  const auto times = timesOf(layer, points.begin()->second);
  if (!times)
    return false;
  for (const auto &[server, _] : points) {
    NetworkTask forward, backward;
    forward.server = backward.server = server;
    forward.milliseconds = times->forward;
    backward.type = TaskType::Backward;
    backward.milliseconds = times->backward;
    Part &part = parts[number][server];
    part.forward = add(std::move(forward));
    part.backward = add(std::move(backward));
    follow(part.forward, part.backward);
  }
  result.operators.push_back({number + 1, layer.number,
                              layer.type + "_" + std::to_string(100 + number)});
  return true;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

std::map<VertexId, Boxes> LayerWriter::boxesOf(OpId id, int slot,
                                               bool isWritten) const {
  const Op &op = graph.op(id);
  const Configuration &config = strategy[id];
  const Shape &shape = graph.slotType(id, slot).shape;
  std::map<VertexId, Boxes> result;
  for (int64_t point = 0; point < config.numPoints(); ++point) {
    const Tile tile = config.tileOf(op.rules, point);
    Boxes &boxes = result[serverOf(config.devices[point])];
    auto touch = [&](const Access &access) {
      regionOf(access, op.rules.dims, tile, shape)
          .forEachBox([&](const Box &box) {
            Boxes fresh = {box};
            for (const Box &known : boxes) {
              Boxes rest;
              for (const Box &each : fresh)
                for (const Box &piece : subtract(each, known))
                  rest.push_back(piece);
              fresh = std::move(rest);
            }
            for (const Box &each : fresh)
              if (!each.empty())
                boxes.push_back(each);
          });
    };
    for (const Phase &phase : scheduleFor(op.rules, config).phases)
      if (isWritten) {
        for (const SlotWrite &write : phase.writes)
          if (write.slot == slot)
            touch(write.access);
      } else {
        for (const SlotRead &read : phase.reads)
          if (read.slot == slot)
            touch(read.access);
      }
  }
  return result;
}

/// Elements of `needed` that are in `held`; what is not stays in `needed`.
static int64_t take(Boxes &needed, const Boxes &held) {
  int64_t before = 0, after = 0;
  for (const Box &box : needed)
    before += box.volume();
  for (const Box &hole : held) {
    Boxes rest;
    for (const Box &box : needed)
      if (box.meets(hole)) {
        for (const Box &piece : subtract(box, hole))
          if (!piece.empty())
            rest.push_back(piece);
      } else {
        rest.push_back(box);
      }
    needed = std::move(rest);
  }
  for (const Box &box : needed)
    after += box.volume();
  return before - after;
}

void LayerWriter::connectParts(int from, VertexId src, int to, VertexId dst,
                               int64_t bytes) {
  const auto reader = parts[to].find(dst);
  const auto writer = parts[from].find(src);
  if (reader == parts[to].end() || writer == parts[from].end())
    return; // it is there by another operator of the layer
  if (src != dst) {
    transfers.push_back({{from, to, src, dst}, bytes});
    return;
  }
  follow(writer->second.forward, reader->second.forward);
  follow(reader->second.backward, writer->second.backward);
}

/// What an operator reads of another layer. A server takes what it does not
/// hold from the next ones that do.
void LayerWriter::connect(OpId reader, int operand) {
  const ValueId value = graph.op(reader).operands[operand];
  if (value < 0 || graph.value(value).producer < 0)
    return;
  const OpId writer = graph.value(value).producer;
  const int to = layers.of[reader], from = layers.of[writer];
  if (from < 0 || from == to)
    return;
  const int64_t elementBytes = byteSize(graph.value(value).type.type);
  const auto held = boxesOf(writer,
                            static_cast<int>(graph.op(writer).operands.size()) +
                                graph.value(value).result,
                            /*isWritten=*/true);
  for (auto &[dst, needed] : boxesOf(reader, operand, /*isWritten=*/false)) {
    const VertexId servers = result.graph.numServers;
    for (VertexId i = 0; i < servers && !needed.empty(); ++i) {
      const VertexId src = (dst + i) % servers;
      const auto there = held.find(src);
      if (there == held.end())
        continue;
      if (const int64_t elements = take(needed, there->second))
        connectParts(from, src, to, dst, elements * elementBytes);
    }
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Parts of parameters of which several servers, or GPUs, have a gradient.
std::vector<LayerWriter::Sum> LayerWriter::sumsOf(OpId id,
                                                  size_t operand) const {
  const Op &op = graph.op(id);
  const ValueId value = op.operands[operand];
  if (value < 0 || graph.value(value).kind != ValueKind::State ||
      graph.isLoaded(value))
    return {};
  const Configuration &config = strategy[id];
  // Who has a gradient of each part, by GPU.
  std::map<Region, std::map<VertexId, std::set<DeviceId>>> holders;
  for (int64_t point = 0; point < config.numPoints(); ++point)
    for (const Phase &phase : scheduleFor(op.rules, config).phases)
      for (const SlotRead &read : phase.reads)
        if (read.slot == static_cast<int>(operand)) {
          const Region region = regionOf(read.access, op.rules.dims,
                                         config.tileOf(op.rules, point),
                                         graph.value(value).type.shape);
          const DeviceId device = config.devices[point];
          if (!region.empty())
            holders[region][serverOf(device)].insert(device);
        }
  std::vector<Sum> sums;
  for (const auto &[region, servers] : holders) {
    Sum sum;
    sum.bytes = region.volume() * byteSize(graph.value(value).type.type);
    for (const auto &[server, devices] : servers) {
      sum.members.push_back(server);
      sum.gpus = std::max(sum.gpus, static_cast<int>(devices.size()));
    }
    sums.push_back(std::move(sum));
  }
  return sums;
}

void LayerWriter::addSum(size_t number, const Sum &of) {
  NetworkTask sum;
  sum.milliseconds = static_cast<float>(inside.allReduce(of.gpus, of.bytes));
  if (of.members.size() > 1) {
    sum.type = TaskType::AllReduce;
    sum.bytes = of.bytes;
    sum.members = of.members;
  } else if (of.gpus > 1) {
    sum.type = TaskType::Update;
    sum.server = of.members[0];
  } else {
    return; // a file's all-reduce of one server takes no time
  }
  const int32_t made = add(std::move(sum));
  for (VertexId server : of.members)
    if (const auto part = parts[number].find(server);
        part != parts[number].end())
      follow(part->second.backward, made);
}

void LayerWriter::addWeights(size_t number) {
  std::vector<Sum> sums;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (layers.of[id] == static_cast<int>(number))
      for (size_t operand = 0; operand < graph.op(id).operands.size();
           ++operand)
        for (Sum &sum : sumsOf(id, operand))
          sums.push_back(std::move(sum));
  if (layers.list[number].joinsWeights) {
    std::vector<Sum> whole;
    for (Sum &sum : sums) {
      const auto same =
          std::find_if(whole.begin(), whole.end(), [&](const Sum &other) {
            return other.members == sum.members && other.gpus == sum.gpus;
          });
      if (same == whole.end())
        whole.push_back(std::move(sum));
      else
        same->bytes += sum.bytes;
    }
    sums = std::move(whole);
  }
  for (const Sum &sum : sums)
    addSum(number, sum);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

std::optional<ServerTasks> LayerWriter::run() {
  result.graph.numServers = static_cast<int>(topology.nodes().size());
  parts.resize(layers.list.size());
  for (size_t i = 0; i < layers.list.size(); ++i)
    if (!addLayer(i))
      return std::nullopt;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (layers.of[id] >= 0)
      for (size_t operand = 0; operand < graph.op(id).operands.size();
           ++operand)
        connect(id, static_cast<int>(operand));
  for (size_t i = 0; i < layers.list.size(); ++i)
    addWeights(i);
  for (const auto &[edge, bytes] : transfers) {
    NetworkTask there, back;
    there.type = back.type = TaskType::Transfer;
    there.src = back.dst = edge.src;
    there.dst = back.src = edge.dst;
    there.bytes = back.bytes = bytes;
    const Part &writer = parts[edge.from].at(edge.src),
               &reader = parts[edge.to].at(edge.dst);
    const int32_t to = add(std::move(there)), from = add(std::move(back));
    follow(writer.forward, to);
    follow(to, reader.forward);
    follow(reader.backward, from);
    follow(from, writer.backward);
  }
  return std::move(result);
}

std::optional<LayerSteps>
LayerSteps::of(const ffc::plan::Graph &graph, const Topology &topology,
               const std::shared_ptr<const Profile> &profile,
               const ServerInside &given, std::string &error) {
  // Checks the batch and the number of devices.
  if (!profileForGraph(profile, graph, topology, error))
    return std::nullopt;
  auto layers = flexNetLayers(graph, error);
  if (!layers)
    return std::nullopt;
  LayerSteps steps;
  steps.graph_ = &graph;
  steps.topology_ = &topology;
  steps.profile = profile;
  steps.inside = given;
  if (given.bandwidth == 0)
    steps.inside.bandwidth = bandwidthInside(topology);
  steps.layers_ = std::move(*layers);
  return steps;
}

std::optional<ServerTasks> LayerSteps::tasksOf(const Strategy &strategy,
                                               std::string &error) const {
  return LayerWriter(*graph_, strategy, *topology_, measures(), layers_, inside,
                     error)
      .run();
}

std::optional<ServerTasks>
ffc::network::layerTasks(const ffc::plan::Graph &graph,
                         const Strategy &strategy, const Topology &topology,
                         const std::shared_ptr<const Profile> &profile,
                         const ServerInside &inside, std::string &error) {
  const auto steps = LayerSteps::of(graph, topology, profile, inside, error);
  if (!steps)
    return std::nullopt;
  auto tasks = steps->tasksOf(strategy, error);
  if (tasks)
    tasks->notes = flexNetDoubts(steps->measures(), graph, steps->layers());
  return tasks;
}
