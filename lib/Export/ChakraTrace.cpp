//===- ChakraTrace.cpp - plans as traces of MLCommons Chakra --------------===//

#include "ffc/Export/ChakraTrace.h"

#include "chakra.pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

using namespace ffc::plan;
using ffc::chakra::Trace;

namespace schema = ChakraProtoMsg;
namespace io = google::protobuf::io;

using NodeId = uint64_t;

static constexpr Picoseconds kMicrosecond = 1'000'000;
static constexpr const char *kSchemaVersion = "1.0.0";

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {

/// The attributes of a message. Their types are those that ETFeeder reads.
template <class Message> class Attributes {
public:
  explicit Attributes(Message &message) : message(message) {}

  void flag(const char *name, bool value) { add(name).set_bool_val(value); }
  void number(const char *name, int64_t value) {
    add(name).set_int64_val(value);
  }
  void size(const char *name, uint64_t value) {
    add(name).set_uint64_val(value);
  }
  void rank(const char *name, int32_t value) { add(name).set_int32_val(value); }
  void text(const char *name, const std::string &value) {
    add(name).set_string_val(value);
  }

private:
  schema::AttributeProto &add(const char *name) {
    schema::AttributeProto &attribute = *message.add_attr();
    attribute.set_name(name);
    return attribute;
  }

  Message &message;
};

class MessageStream {
public:
  explicit MessageStream(std::ostream &out) : buffer(&out), coded(&buffer) {}
  void write(const google::protobuf::MessageLite &message) {
    coded.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
    message.SerializeWithCachedSizes(&coded);
  }

private:
  io::OstreamOutputStream buffer;
  io::CodedOutputStream coded;
};

} // namespace

static schema::CollectiveCommType typeOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return schema::ALL_REDUCE;
  case CollectiveKind::AllGather:
    return schema::ALL_GATHER;
  case CollectiveKind::ReduceScatter:
    return schema::REDUCE_SCATTER;
  case CollectiveKind::Broadcast:
    return schema::BROADCAST;
  }
  return schema::BARRIER;
}

/// Numbers of groups in files. ASTRA-sim takes 0 for all ranks.
static std::string nameOf(GroupId group) { return std::to_string(group + 1); }

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

namespace {

/// Writes the actions of one device.
class RankWriter {
public:
  RankWriter(std::ostream &out, const Simulation &simulation, DeviceId rank,
             Picoseconds microBatch, int messagesOfPair)
      : stream(out), simulation(simulation), rank(rank), microBatch(microBatch),
        messagesOfPair(messagesOfPair) {}

  void write();

private:
  void writeMetadata();
  void writeActions(int begin, int end, int round);
  void writeLocal(int index, Picoseconds shift);
  void writeCollective(int index, Picoseconds shift);
  void writeExchange(int index, int round, Picoseconds shift);
  void writeMessage(int index, Picoseconds shift, const Message &message,
                    bool isSent, int32_t tag);
  void wait(int event);

  /// Begins a node that can start once everything in `open` has ended.
  void begin(int index, schema::NodeType type, Picoseconds shift);
  NodeId end();
  void dependOn(NodeId earlier) { node.add_ctrl_deps(earlier); }
  Attributes<schema::Node> attributes() {
    return Attributes<schema::Node>(node);
  }

  const DeviceProgram &device() const {
    return simulation.program.devices[rank];
  }

  MessageStream stream;
  const Simulation &simulation;
  const DeviceId rank;
  const Picoseconds microBatch;
  const int messagesOfPair;

  schema::Node node; ///< the one that is filled
  NodeId last = 0;
  /// What kernels and copies took so far. Files have whole microseconds: times
  /// are rounded so that their sums are right.
  Picoseconds localTime = 0;

  /// What the next kernel or copy depends on, none of which follows from
  /// another one.
  std::vector<NodeId> open;
  /// A communication's nodes, which follow each other.
  struct Started {
    NodeId first = 0, end = 0;
    std::vector<NodeId> after; ///< `open` when it started
    bool has(NodeId node) const { return first <= node && node < end; }
  };
  std::map<int, Started> started; ///< by action
  /// What the next collective follows in the queues of communication: those
  /// that nobody waited for since the last collective, and that.
  std::vector<NodeId> queue;
  NodeId lastSend = 0;       ///< what the next message follows; 0: nothing
  NodeId lastCollective = 0; ///< what the next one received follows
};

} // namespace

void RankWriter::begin(int index, schema::NodeType type, Picoseconds shift) {
  const ActionRef ref{rank, index};
  const Action &action = simulation.action(ref);
  const ActionTime &time = simulation.time(ref);
  node.Clear();
  node.set_id(++last);
  node.set_name(labelOf(action, simulation.graph));
  node.set_type(type);
  for (NodeId earlier : open)
    node.add_data_deps(earlier);
  const Picoseconds start = time.end - time.busy + shift;
  node.set_start_time_micros(static_cast<uint64_t>(start / kMicrosecond));
  node.set_duration_micros(
      static_cast<uint64_t>((time.busy + kMicrosecond / 2) / kMicrosecond));
  attributes().flag("is_cpu_op", false);
  attributes().number("duration_ps", time.busy);
  attributes().text("task", str(action.task, simulation.graph));
}

NodeId RankWriter::end() {
  stream.write(node);
  return last;
}

void RankWriter::writeLocal(int index, Picoseconds shift) {
  const ActionRef ref{rank, index};
  begin(index, schema::COMP_NODE, shift);
  auto rounded = [](Picoseconds time) {
    return (time + kMicrosecond / 2) / kMicrosecond;
  };
  const Picoseconds before = rounded(localTime);
  localTime += simulation.time(ref).busy;
  node.set_duration_micros(static_cast<uint64_t>(rounded(localTime) - before));
  const Work work = workOf(simulation, ref);
  attributes().number("num_ops", std::llround(work.flops));
  attributes().size("tensor_size", static_cast<uint64_t>(work.bytes));
  open = {end()};
}

void RankWriter::writeCollective(int index, Picoseconds shift) {
  const auto &collective = device().actions[index].get<CollectiveAction>();
  begin(index, schema::COMM_COLL_NODE, shift);
  for (NodeId earlier : queue)
    dependOn(earlier);
  attributes().number("comm_type", typeOf(collective.kind));
  // What a rank brings, as ASTRA-sim counts: an all-gather makes more of it.
  attributes().number("comm_size", device().buffers[collective.src].bytes);
  attributes().number("tensor_bytes", collectiveBytes(device(), collective));
  attributes().text("pg_name", nameOf(collective.group));
  attributes().text("algorithm", str(collective.algorithm));
  if (collective.kind == CollectiveKind::Broadcast)
    attributes().number(
        "root", simulation.program.groups[collective.group][collective.root]);
  lastSend = lastCollective = end();
  started[index] = {last, last + 1, open};
  queue = {last};
}

void RankWriter::writeMessage(int index, Picoseconds shift,
                              const Message &message, bool isSent,
                              int32_t tag) {
  begin(index, isSent ? schema::COMM_SEND_NODE : schema::COMM_RECV_NODE, shift);
  attributes().number("comm_size", device().buffers[message.buffer].bytes);
  attributes().rank("comm_src", isSent ? rank : message.peer);
  attributes().rank("comm_dst", isSent ? message.peer : rank);
  attributes().rank("comm_tag", tag);
}

void RankWriter::writeExchange(int index, int round, Picoseconds shift) {
  const auto &exchange = device().actions[index].get<ExchangeAction>();
  Started &all = started[index] = {last + 1, last + 1, open};
  // Every message of a pair of ranks has a tag of its own.
  const int64_t first =
      (int64_t(exchange.tag) * simulation.graph.microBatches + round) *
      messagesOfPair;
  auto write = [&](const std::vector<Message> &messages, bool isSent) {
    std::map<DeviceId, int> numbers; // of the messages of each peer
    for (const Message &message : messages) {
      writeMessage(
          index, shift, message, isSent,
          static_cast<int32_t>((first + numbers[message.peer]++) & INT32_MAX));
      // A device sends one message after the other. It is ready to receive all
      // at once: if it were not, ranks could wait for each other in a circle.
      if (const NodeId earlier = isSent ? lastSend : lastCollective)
        dependOn(earlier);
      const NodeId id = end();
      if (isSent)
        lastSend = id;
      else
        queue.push_back(id);
    }
  };
  write(exchange.sends, /*isSent=*/true);
  if (!exchange.sends.empty())
    queue.push_back(lastSend);
  write(exchange.receives, /*isSent=*/false);
  all.end = last + 1;
}

/// What follows the wait depends on the communication, and through it on what
/// was open when that started.
void RankWriter::wait(int event) {
  const Started &waited = started[event];
  auto remove = [](std::vector<NodeId> &nodes, auto isGone) {
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), isGone),
                nodes.end());
  };
  auto isWaited = [&](NodeId node) { return waited.has(node); };
  remove(open, [&](NodeId node) {
    return std::count(waited.after.begin(), waited.after.end(), node) > 0;
  });
  for (NodeId node = waited.first; node < waited.end; ++node)
    open.push_back(node);
  remove(queue, isWaited);
  for (NodeId *follows : {&lastSend, &lastCollective})
    if (isWaited(*follows))
      *follows = 0;
  started.erase(event);
}

void RankWriter::writeActions(int begin, int end, int round) {
  // What comes after the micro-batches has times after all of them.
  const Picoseconds shift = round * microBatch;
  for (int i = begin; i < end; ++i) {
    const Action &action = device().actions[i];
    // With one queue, what follows communication has waited for it already.
    if (const auto *waits = action.as<WaitAction>();
        waits && simulation.times.overlaps)
      wait(waits->event);
    if (!isTask(action))
      continue;
    if (!isCommunication(action)) {
      writeLocal(i, shift);
      continue;
    }
    if (action.is<CollectiveAction>())
      writeCollective(i, shift);
    else
      writeExchange(i, round, shift);
    if (!simulation.times.overlaps)
      wait(i);
  }
}

void RankWriter::writeMetadata() {
  schema::GlobalMetadata metadata;
  metadata.set_version(kSchemaVersion);
  Attributes<schema::GlobalMetadata> attributes(metadata);
  attributes.number("rank", rank);
  attributes.number("ranks", simulation.topology.numDevices());
  attributes.text("device", simulation.topology.device(rank).name);
  attributes.text("topology", simulation.topology.name());
  attributes.number("micro_batches", simulation.graph.microBatches);
  attributes.number("step_ps", simulation.times.makespan);
  stream.write(metadata);
}

void RankWriter::write() {
  writeMetadata();
  const int end = static_cast<int>(device().actions.size());
  const int repeated =
      simulation.graph.microBatches > 1 ? device().microBatchActions : 0;
  for (int round = 0; repeated > 0 && round < simulation.graph.microBatches;
       ++round)
    writeActions(0, repeated, round);
  writeActions(repeated, end, /*round=*/0);
}

//===----------------------------------------------------------------------===//
// Trace
//===----------------------------------------------------------------------===//

Trace::Trace(const Simulation &simulation) : simulation(simulation) {
  const Program &program = simulation.program;
  for (size_t d = 0; d < program.devices.size(); ++d) {
    const DeviceProgram &device = program.devices[d];
    if (simulation.graph.microBatches > 1)
      for (int i = 0; i < device.microBatchActions; ++i)
        microBatch = std::max(microBatch, simulation.times.devices[d][i].end);
    for (const Action &action : device.actions)
      if (const auto *exchange = action.as<ExchangeAction>()) {
        std::map<DeviceId, int> numbers;
        for (const Message &sent : exchange->sends)
          messagesOfPair = std::max(messagesOfPair, ++numbers[sent.peer]);
      }
  }
}

void Trace::writeRank(std::ostream &out, DeviceId rank) const {
  RankWriter(out, simulation, rank, microBatch, messagesOfPair).write();
}

void Trace::writeGroups(std::ostream &out) const {
  const auto &groups = simulation.program.groups;
  out << '{';
  for (size_t g = 0; g < groups.size(); ++g) {
    out << (g > 0 ? ",\n " : "\n ") << '"' << nameOf(static_cast<GroupId>(g))
        << "\": [";
    for (size_t m = 0; m < groups[g].size(); ++m)
      out << (m > 0 ? ", " : "") << groups[g][m];
    out << ']';
  }
  out << "\n}\n";
}
