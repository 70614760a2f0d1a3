//===- TimeReport.cpp - the text of --report ------------------------------===//

#include "TimeReport.h"

#include "Report.h"

#include "ffc/Plan/TimeUse.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <numeric>
#include <ostream>

using namespace llvm;
using namespace ffc;

/// Operators shown.
static constexpr size_t kShown = 10;

static std::string milliseconds(double picoseconds) {
  return formatv("{0:f3} ms", picoseconds * 1e-9).str();
}
static std::string milliseconds(plan::Picoseconds time) {
  return milliseconds(static_cast<double>(time));
}

/// "0-3, 6" with `devices` ascending.
static std::string rangesOf(const std::vector<size_t> &devices) {
  std::string text;
  for (size_t begin = 0; begin < devices.size();) {
    size_t end = begin + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1)
      ++end;
    text += (begin ? ", " : "") + std::to_string(devices[begin]);
    if (end > begin + 1)
      text += "-" + std::to_string(devices[end - 1]);
    begin = end;
  }
  return text;
}

static void printDevices(std::ostream &out,
                         const plan::Simulation &simulation) {
  const std::vector<plan::DeviceUse> uses = plan::useByDevice(simulation);
  // Devices that split an operator evenly differ in nothing.
  std::vector<std::pair<plan::DeviceUse, std::vector<size_t>>> rows;
  for (size_t device = 0; device < uses.size(); ++device) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto &row) {
      return row.first == uses[device];
    });
    if (row == rows.end())
      row = rows.insert(rows.end(), {uses[device], {}});
    row->second.push_back(device);
  }
  const char *format = "{0,13} {1,13} {2,13} {3,13} {4,10} {5,10}  {6}\n";
  out << formatv(format, "kernels", "copies", "communication", "idle", "state",
                 "arena", "device")
             .str();
  for (const auto &[use, devices] : rows)
    out << formatv(format, milliseconds(use.kernels), milliseconds(use.copies),
                   milliseconds(use.communication), milliseconds(use.idle),
                   bytesText(use.stateBytes), bytesText(use.arenaBytes),
                   rangesOf(devices))
               .str();
}

static void printOperators(std::ostream &out,
                           const plan::Simulation &simulation) {
  const std::vector<plan::TimeUse> uses = plan::useByOperator(simulation);
  std::vector<size_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return uses[a].total() > uses[b].total();
  });
  const auto last = std::find_if(order.begin(), order.end(), [&](size_t op) {
    return uses[op].total() == 0;
  });
  const size_t count = static_cast<size_t>(last - order.begin());
  const double devices = static_cast<double>(simulation.program.devices.size());
  const double step = static_cast<double>(simulation.times.makespan);
  auto mean = [&](plan::Picoseconds sum) {
    return static_cast<double>(sum) / devices;
  };
  const char *format = "{0,13} {1,13} {2,13} {3,13}  {4}\n";
  out << formatv(format, "kernels", "copies", "communication", "of the step",
                 "operator")
             .str();
  for (size_t i = 0; i < std::min(count, kShown); ++i) {
    const plan::TimeUse &use = uses[order[i]];
    out << formatv(format, milliseconds(mean(use.kernels)),
                   milliseconds(mean(use.copies)),
                   milliseconds(mean(use.communication)),
                   formatv("{0:f1} %", 100 * mean(use.total()) / step).str(),
                   order[i] < simulation.graph.ops.size()
                       ? simulation.graph.ops[order[i]].name
                       : "outputs")
               .str();
  }
  if (count > kShown)
    out << "and " << count - kShown << " more\n";
}

void ffc::printTimeReport(std::ostream &out,
                          const plan::Simulation &simulation) {
  out << "predicted step " << milliseconds(simulation.times.makespan) << " on "
      << simulation.topology.name() << "\n\nTime and memory of each device:\n";
  printDevices(out, simulation);
  out << "\nTime of each operator, mean of all devices:\n";
  printOperators(out, simulation);
}
