//===- TraceFile.cpp - predicted times as a trace -------------------------===//

#include "ffc/Plan/TraceFile.h"

#include <map>
#include <ostream>

using namespace ffc::plan;

namespace {

/// Threads of a process, in the order in which viewers show them.
enum Thread { kStep, kCompute, kNetwork };

/// Arrows of larger exchanges only hide what is below them.
constexpr size_t kMaxArrows = 64;

class TraceWriter {
public:
  TraceWriter(std::ostream &out, const Simulation &simulation)
      : out(out), simulation(simulation) {}

  void write();

private:
  void writeNames();
  void writeStep();
  void writeAction(ActionRef ref);
  void writeArrows();

  /// Starts an event; the caller writes what is left of it.
  std::ostream &event(const char *phase, DeviceId device, Thread thread);
  void name(const char *what, DeviceId device, Thread thread,
            const std::string &text, int order);

  std::ostream &out;
  const Simulation &simulation;
  bool isFirst = true;
};

} // namespace

static std::string quote(const std::string &text) {
  static const char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (byte < 0x20) {
      result += "\\u00";
      result += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// Microseconds; the format knows no other unit.
static std::string microseconds(Picoseconds time) {
  const std::string fraction = std::to_string(time % 1000000);
  return std::to_string(time / 1000000) + "." +
         std::string(6 - fraction.size(), '0') + fraction;
}

std::ostream &TraceWriter::event(const char *phase, DeviceId device,
                                 Thread thread) {
  out << (isFirst ? "\n" : ",\n") << "{\"ph\":\"" << phase
      << "\",\"pid\":" << device << ",\"tid\":" << thread;
  isFirst = false;
  return out;
}

void TraceWriter::name(const char *what, DeviceId device, Thread thread,
                       const std::string &text, int order) {
  const std::string kind = what;
  event("M", device, thread)
      << ",\"name\":\"" << kind << "_name\",\"args\":{\"name\":" << quote(text)
      << "}}";
  event("M", device, thread)
      << ",\"name\":\"" << kind
      << "_sort_index\",\"args\":{\"sort_index\":" << order << "}}";
}

void TraceWriter::writeNames() {
  const Topology &topology = simulation.topology;
  for (DeviceId device = 0; device < topology.numDevices(); ++device) {
    name("process", device, kStep,
         "device " + std::to_string(device) + " (" +
             topology.device(device).name + ")",
         device);
    name("thread", device, kStep, "step", kStep);
    name("thread", device, kCompute, "compute", kCompute);
    name("thread", device, kNetwork, "network", kNetwork);
  }
}

void TraceWriter::writeStep() {
  for (DeviceId device = 0; device < simulation.topology.numDevices(); ++device)
    event("X", device, kStep)
        << ",\"ts\":0,\"dur\":" << microseconds(simulation.times.makespan)
        << ",\"name\":\"step\",\"cat\":\"step\",\"args\":{}}";
}

void TraceWriter::writeAction(ActionRef ref) {
  const Action &action = simulation.action(ref);
  const ActionTime &time = simulation.time(ref);
  if (!isTask(action) && time.start == time.end)
    return;
  const auto *wait = action.as<WaitAction>();
  const Action &task =
      wait ? simulation.action({ref.device, wait->event}) : action;
  const Graph &graph = simulation.graph;
  event("X", ref.device, isCommunication(action) ? kNetwork : kCompute)
      << ",\"ts\":" << microseconds(time.start)
      << ",\"dur\":" << microseconds(time.end - time.start)
      << ",\"name\":" << quote(labelOf(task, graph)) << ",\"cat\":\""
      << kindOf(action)
      << "\",\"args\":{\"task\":" << quote(str(task.task, graph));
  if (!wait) {
    const TaskNumbers id = numbersOf(task.task);
    if (id.op >= 0)
      out << ",\"operator\":" << quote(graph.op(id.op).name);
    out << ",\"phase\":" << id.phase << ",\"point\":" << id.point
        << ",\"instance\":" << id.instance;
    const Work work = workOf(simulation, ref);
    out << ",\"bytes\":" << work.bytes;
    if (action.is<KernelAction>())
      out << ",\"flops\":" << static_cast<int64_t>(work.flops);
  }
  out << "}}";
}

/// From senders to receivers. A flow's ends lie in the events that enclose
/// their times.
void TraceWriter::writeArrows() {
  const std::vector<ActionRef> &order = simulation.program.order;
  auto sendsOf = [&](ActionRef ref) -> const std::vector<Message> & {
    return simulation.action(ref).get<ExchangeAction>().sends;
  };
  std::map<int, std::vector<ActionRef>> exchanges; // by tag
  for (ActionRef ref : order)
    if (const auto *exchange = simulation.action(ref).as<ExchangeAction>())
      exchanges[exchange->tag].push_back(ref);
  int64_t number = 0;
  for (const auto &[tag, parts] : exchanges) {
    std::map<DeviceId, ActionRef> partOf;
    size_t messages = 0;
    for (ActionRef ref : parts) {
      partOf[ref.device] = ref;
      messages += sendsOf(ref).size();
    }
    if (messages > kMaxArrows)
      continue;
    for (ActionRef ref : parts)
      for (const Message &message : sendsOf(ref)) {
        ++number;
        event("s", ref.device, kNetwork)
            << ",\"ts\":" << microseconds(simulation.time(ref).start)
            << ",\"id\":" << number
            << ",\"name\":\"message\",\"cat\":\"message\"}";
        event("f", message.peer, kNetwork)
            << ",\"bp\":\"e\",\"ts\":"
            << microseconds(simulation.time(partOf[message.peer]).end)
            << ",\"id\":" << number
            << ",\"name\":\"message\",\"cat\":\"message\"}";
      }
  }
}

void TraceWriter::write() {
  out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kind\":\"predicted\"},"
         "\"traceEvents\":[";
  writeNames();
  writeStep();
  for (ActionRef ref : simulation.program.order)
    writeAction(ref);
  writeArrows();
  out << "\n]}\n";
}

void ffc::plan::writeTrace(std::ostream &out, const Simulation &simulation) {
  TraceWriter(out, simulation).write();
}
