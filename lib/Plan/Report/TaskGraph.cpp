//===- TaskGraph.cpp - the tasks of a step as a drawing -------------------===//

#include "ffc/Plan/TaskGraph.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

using namespace ffc::plan;

namespace {

/// Draws the tasks of one device.
class DeviceDrawing {
public:
  DeviceDrawing(std::ostream &out, const Simulation &simulation,
                DeviceId device)
      : out(out), simulation(simulation), device(device) {}

  void draw();

private:
  void drawTask(int index);
  void depend(int index, int on, const char *style = "");
  void wait(int event);

  std::ostream &out;
  const Simulation &simulation;
  const DeviceId device;

  /// What the next kernel or copy depends on: tasks of this device, none of
  /// which follows from another one.
  std::vector<int> open;
  /// The same when a communication started, by its index.
  std::map<int, std::vector<int>> openAt;
  int network = -1; ///< the last communication, if nothing waited for it yet
};

/// Draws what connects the parts of one exchange or collective.
class MeetingDrawing {
public:
  MeetingDrawing(std::ostream &out, const Simulation &simulation)
      : out(out), simulation(simulation) {}

  void draw();

private:
  void drawMessages(const std::vector<ActionRef> &parts);
  void drawMembers(const std::vector<ActionRef> &parts);

  std::ostream &out;
  const Simulation &simulation;
};

} // namespace

static std::string quote(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + '"';
}

static std::string nodeOf(DeviceId device, int index) {
  return "d" + std::to_string(device) + "_" + std::to_string(index);
}

/// Three digits are enough to look at.
static std::string roundTime(Picoseconds time) {
  static const char *const kUnits[] = {"ps", "ns", "us", "ms", "s"};
  double value = static_cast<double>(time);
  size_t unit = 0;
  // What would be printed as 1000 is 1 of the next unit.
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, kUnits[unit]);
  return text;
}

static constexpr const char *kForwardColor = "#d6e6f5",
                            *kBackwardColor = "#fbe3c8",
                            *kUpdateColor = "#d8eed2", *kCopyColor = "#ececec",
                            *kNetworkColor = "#f6d5dc";

static const char *colorOf(const Simulation &simulation, const Action &action) {
  if (isCommunication(action))
    return kNetworkColor;
  if (action.is<CopyAction>())
    return kCopyColor;
  switch (simulation.graph.op(action.task.op).role) {
  case OpRole::Forward:
  case OpRole::Loss:
    return kForwardColor;
  case OpRole::Gradient:
    return kBackwardColor;
  case OpRole::Update:
    return kUpdateColor;
  }
  return kForwardColor;
}

//===----------------------------------------------------------------------===//
// A device
//===----------------------------------------------------------------------===//

void DeviceDrawing::drawTask(int index) {
  const Action &action = simulation.action({device, index});
  const ActionTime &time = simulation.time({device, index});
  out << "    " << nodeOf(device, index)
      << " [label=" << quote(labelOf(action, simulation.graph)) << "+\"\\n"
      << roundTime(time.busy) << "\", fillcolor=\""
      << colorOf(simulation, action)
      << "\", tooltip=" << quote(str(action.task, simulation.graph)) << "];\n";
}

void DeviceDrawing::depend(int index, int on, const char *style) {
  out << "    " << nodeOf(device, on) << " -> " << nodeOf(device, index)
      << style << ";\n";
}

/// What follows the wait depends on the communication, and through it on what
/// was open when that started.
void DeviceDrawing::wait(int event) {
  for (int before : openAt[event])
    open.erase(std::remove(open.begin(), open.end(), before), open.end());
  open.push_back(event);
  if (network == event)
    network = -1;
}

void DeviceDrawing::draw() {
  const auto &actions = simulation.program.devices[device].actions;
  out << "  subgraph cluster_" << device << " {\n    label="
      << quote("device " + std::to_string(device) + " (" +
               simulation.topology.device(device).name + ")")
      << ";\n    style=\"rounded\"; color=\"#b0b0b0\";\n";
  for (int i = 0; i < static_cast<int>(actions.size()); ++i) {
    const Action &action = actions[i];
    // With one queue, what follows communication has waited for it already.
    if (const auto *waits = action.as<WaitAction>();
        waits && simulation.times.overlaps)
      wait(waits->event);
    if (!isTask(action))
      continue;
    drawTask(i);
    for (int before : open)
      depend(i, before);
    if (!isCommunication(action)) {
      open = {i};
      continue;
    }
    // The order of the queue, unless it follows from the edges above.
    if (network >= 0)
      depend(i, network, " [style=dashed]");
    openAt[i] = open;
    network = i;
    if (!simulation.times.overlaps)
      wait(i);
  }
  out << "  }\n";
}

//===----------------------------------------------------------------------===//
// Between devices
//===----------------------------------------------------------------------===//

void MeetingDrawing::drawMessages(const std::vector<ActionRef> &parts) {
  std::map<DeviceId, ActionRef> partOf;
  for (ActionRef ref : parts)
    partOf[ref.device] = ref;
  for (ActionRef ref : parts)
    for (const Message &sent :
         simulation.action(ref).get<ExchangeAction>().sends) {
      const ActionRef to = partOf[sent.peer];
      out << "  " << nodeOf(ref.device, ref.index) << " -> "
          << nodeOf(to.device, to.index)
          << " [color=\"#b03a54\", constraint=false];\n";
    }
}

/// A chain, since all members wait for each other.
void MeetingDrawing::drawMembers(const std::vector<ActionRef> &parts) {
  for (size_t p = 1; p < parts.size(); ++p)
    out << "  " << nodeOf(parts[p - 1].device, parts[p - 1].index) << " -> "
        << nodeOf(parts[p].device, parts[p].index)
        << " [color=\"#b03a54\", dir=none, style=bold, constraint=false];\n";
}

void MeetingDrawing::draw() {
  const std::vector<ActionRef> &order = simulation.program.order;
  for (size_t at = 0, end = 0; at < order.size(); at = end) {
    end = at + numPartsAt(simulation.program, at);
    const Action &action = simulation.action(order[at]);
    if (!isCommunication(action))
      continue;
    const std::vector<ActionRef> parts(&order[at], &order[at] + (end - at));
    if (action.is<ExchangeAction>())
      drawMessages(parts);
    else
      drawMembers(parts);
    // Side by side.
    out << "  {rank=same;";
    for (ActionRef ref : parts)
      out << ' ' << nodeOf(ref.device, ref.index) << ';';
    out << "}\n";
  }
}

void ffc::plan::writeTaskGraph(std::ostream &out,
                               const Simulation &simulation) {
  out << "digraph tasks {\n  newrank=true;\n  ranksep=0.25;\n"
         "  fontname=\"Helvetica\";\n  labelloc=t;\n  label=<<table "
         "border=\"0\""
         " cellborder=\"0\" cellspacing=\"6\"><tr><td>step "
      << roundTime(simulation.times.makespan) << "</td>";
  for (auto [color, what] :
       {std::pair(kForwardColor, "forward"),
        std::pair(kBackwardColor, "backward"),
        std::pair(kUpdateColor, "update"), std::pair(kCopyColor, "copy"),
        std::pair(kNetworkColor, "communication")})
    out << "<td bgcolor=\"" << color << "\">" << what << "</td>";
  out << "</tr></table>>;\n"
         "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\","
         " fontsize=10, color=\"#707070\", height=0.3];\n"
         "  edge [color=\"#707070\", arrowsize=0.6];\n";
  for (DeviceId device = 0;
       device < static_cast<DeviceId>(simulation.program.devices.size());
       ++device)
    DeviceDrawing(out, simulation, device).draw();
  MeetingDrawing(out, simulation).draw();
  out << "}\n";
}
