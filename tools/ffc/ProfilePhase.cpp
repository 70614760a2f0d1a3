//===- ProfilePhase.cpp - measured times in a compilation -----------------===//

#include "Compilation.h"

#include "ffc/Plan/FlexNet.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

LogicalResult Compilation::loadProfile() {
  if (options.profile.empty() || measured)
    return success();
  std::string error;
  measured = plan::Profile::load(options.profile, error);
  return measured ? success() : fail(error);
}

LogicalResult Compilation::readProfile() {
  if (options.profile.empty())
    return success();
  if (failed(loadProfile()))
    return failure();
  std::string error;
  if (!plan::profileForGraph(measured, planned.graph, *topology, error))
    return fail(options.profile + ": " + error);
  if (measured->device().empty())
    return success();
  SmallVector<std::string> kinds;
  for (const plan::DeviceKind &kind : topology->kinds()) {
    if (kind.name == measured->device())
      return success();
    kinds.push_back(kind.name);
  }
  return fail(options.profile + ": expected times of a device kind of '" +
              topology->name() + "' (" + llvm::join(kinds, ", ") +
              "), found those of '" + measured->device() + "'");
}

plan::CostModel Compilation::costModel(const plan::Graph &graph,
                                       const plan::Topology &on) const {
  // What the model does not have was said when the profile was read.
  std::string error;
  return plan::CostModel(on, plan::profileForGraph(measured, graph, on, error),
                         options.collectives);
}

void Compilation::reportProfile(const plan::CostModel &cost) {
  double times[3] = {}, all = 0;
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id)
    for (const plan::Action &action : program.devices[id].actions)
      if (auto work = plan::workOf(planned.graph, strategy, program.devices[id],
                                   action, /*withKey=*/true)) {
        auto [time, source] = cost.local(id, *work);
        times[static_cast<int>(source)] += static_cast<double>(time);
        all += static_cast<double>(time);
      }
  auto share = [&](plan::CostModel::Source source) {
    return 100 * times[static_cast<int>(source)] / std::max(all, 1.0);
  };
  using Source = plan::CostModel::Source;
  report.say(llvm::formatv("time of kernels: {0:f1} % measured, {1:f1} % "
                           "calibrated, {2:f1} % by the topology's figures",
                           share(Source::Measured), share(Source::Calibrated),
                           share(Source::Roofline)));
}
