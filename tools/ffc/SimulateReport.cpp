//===- SimulateReport.cpp - what ffc simulate prints ----------------------===//

#include "SimulateReport.h"

#include "ffc/Plan/Units.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace ffc;
using network::Network;
using plan::Picoseconds;
using plan::QuantityKind;

static std::string show(double value, QuantityKind kind) {
  return plan::formatQuantity(value, kind);
}

static std::string show(Picoseconds time) {
  return show(static_cast<double>(time), QuantityKind::Time);
}

namespace {

/// How long flows took.
struct FlowSummary {
  int64_t bytes = 0;
  Picoseconds mean = 0, median = 0, slow = 0, slowest = 0;

  explicit FlowSummary(const std::vector<network::FlowTime> &flows) {
    if (flows.empty())
      return;
    std::vector<Picoseconds> times;
    double sum = 0;
    for (const network::FlowTime &flow : flows) {
      bytes += flow.bytes;
      times.push_back(flow.end - flow.start);
      sum += static_cast<double>(times.back());
    }
    std::sort(times.begin(), times.end());
    const size_t last = times.size() - 1;
    mean = static_cast<Picoseconds>(sum / static_cast<double>(times.size()));
    median = times[last / 2];
    slow = times[last * 99 / 100];
    slowest = times[last];
  }
};

} // namespace

/// Links in order of what part of the time they are busy, at most ten.
static std::vector<network::LinkId>
busiestLinks(const Network &network, const network::SimulatedStep &step) {
  std::vector<network::LinkId> links(network.links.size());
  std::iota(links.begin(), links.end(), 0);
  std::stable_sort(links.begin(), links.end(), [&](int a, int b) {
    return step.linkBytes[a] / network.links[a].bandwidth >
           step.linkBytes[b] / network.links[b].bandwidth;
  });
  constexpr size_t kShown = 10;
  links.resize(std::min(links.size(), kShown));
  while (!links.empty() && step.linkBytes[links.back()] == 0)
    links.pop_back();
  return links;
}

/// Of the step, in percent.
static double busyPercent(const Network &network,
                          const network::SimulatedStep &step, int link) {
  const double picoseconds =
      step.linkBytes[link] / network.links[link].bandwidth * 1e12;
  return 100 * picoseconds / static_cast<double>(step.finish);
}

static std::string vertexName(const Network &network, int vertex) {
  return vertex < network.numServers
             ? "server " + std::to_string(vertex)
             : "switch " + std::to_string(vertex - network.numServers);
}

void ffc::printReport(const SimulatedRun &run, bool tasks) {
  const network::SimulatedStep &step = run.step;
  const Network &network = run.network;
  raw_ostream &out = outs();
  const FlowSummary flows(step.flows);
  const Picoseconds compute =
      *std::max_element(step.compute.begin(), step.compute.end());
  out << "model          " << run.summary << '\n'
      << "network        " << network.numServers << " servers, "
      << network.numSwitches << " switches, " << network.links.size()
      << " links (one way each)\n"
      << "tasks          " << step.tasks.size() << '\n'
      << "step           " << show(step.finish) << '\n'
      << "computation    " << show(compute) << " on the busiest server\n"
      << "flows          " << step.flows.size() << ", "
      << show(static_cast<double>(flows.bytes), QuantityKind::Bytes) << '\n';
  if (!step.flows.empty())
    out << "flow times     mean " << show(flows.mean) << ", median "
        << show(flows.median) << ", 99 % " << show(flows.slow) << ", longest "
        << show(flows.slowest) << '\n';
  if (const auto &packets = run.packets)
    out << "packets        " << packets->hops << " arrivals over a link, "
        << packets->marked << " marked, " << packets->lost << " lost, "
        << packets->sentAgain << " sent again after duplicates, "
        << packets->timeouts << " timeouts\n";
  for (network::LinkId link : busiestLinks(network, step))
    out << formatv("busy {0,6:f1} %  {1} to {2}\n",
                   busyPercent(network, step, link),
                   vertexName(network, network.links[link].src),
                   vertexName(network, network.links[link].dst));
  if (!tasks)
    return;
  out << formatv("{0,14}  {1,14}  {2}\n", "start", "end", "task");
  for (size_t task = 0; task < step.tasks.size(); ++task)
    out << formatv("{0,14}  {1,14}  {2}\n", show(step.tasks[task].start),
                   show(step.tasks[task].end), run.taskNames[task]);
}

void ffc::printJson(const SimulatedRun &run, bool tasks) {
  const network::SimulatedStep &step = run.step;
  const Network &network = run.network;
  const FlowSummary flows(step.flows);
  json::OStream out(outs(), 1);
  out.object([&] {
    out.attribute("model", run.model);
    out.attribute("servers", network.numServers);
    out.attribute("switches", network.numSwitches);
    out.attribute("finish_ps", step.finish);
    out.attribute("flows", static_cast<int64_t>(step.flows.size()));
    out.attribute("flow_bytes", flows.bytes);
    out.attribute("flow_mean_ps", flows.mean);
    out.attribute("flow_median_ps", flows.median);
    out.attribute("flow_p99_ps", flows.slow);
    out.attribute("flow_longest_ps", flows.slowest);
    if (const auto &packets = run.packets)
      out.attributeObject("packets", [&] {
        out.attribute("hops", packets->hops);
        out.attribute("marked", packets->marked);
        out.attribute("lost", packets->lost);
        out.attribute("sent_again", packets->sentAgain);
        out.attribute("timeouts", packets->timeouts);
      });
    out.attributeArray("compute_ps", [&] {
      for (Picoseconds time : step.compute)
        out.value(time);
    });
    out.attributeArray("links", [&] {
      for (size_t l = 0; l < network.links.size(); ++l)
        out.object([&] {
          out.attribute("src", network.links[l].src);
          out.attribute("dst", network.links[l].dst);
          out.attribute("bytes", step.linkBytes[l]);
        });
    });
    if (tasks)
      out.attributeArray("tasks", [&] {
        for (size_t task = 0; task < step.tasks.size(); ++task)
          out.object([&] {
            out.attribute("task", run.taskNames[task]);
            out.attribute("start_ps", step.tasks[task].start);
            out.attribute("end_ps", step.tasks[task].end);
          });
      });
  });
  outs() << '\n';
}
