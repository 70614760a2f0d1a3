//===- TopologyPhase.cpp - the devices that a model is compiled for -------===//

#include "Compilation.h"

#include "ffc/Codegen/Build.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

LogicalResult Compilation::readTopology() {
  if (topology)
    return success();
  std::string error;
  topology =
      options.topologyText.empty()
          ? plan::Topology::load(options.devices, error)
          : plan::Topology::parse(options.topologyText, options.devices, error);
  if (topology && options.memoryLimit)
    topology = topology->withMemory(*options.memoryLimit);
  if (!topology)
    return fail(error);
  return checkServers();
}

/// --big-gpu is how many devices every node has.
LogicalResult Compilation::checkServers() {
  const auto expected = options.flexNet.gpusPerServer;
  std::vector<int64_t> counts(topology->nodes().size());
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id)
    ++counts[topology->device(id).node];
  for (size_t node = 0; expected && node < counts.size(); ++node)
    if (counts[node] != *expected)
      return fail("--big-gpu: expected " + Twine(*expected) +
                  " devices in every node of '" + topology->name() +
                  "', found " + Twine(counts[node]) + " in '" +
                  topology->nodes()[node] + "'");
  return success();
}

LogicalResult Compilation::loadTopology() {
  report.phase("plan");
  if (failed(readTopology()) || failed(readStrategyFiles()) ||
      failed(loadProfile()) || failed(fuse()) || failed(buildGraph()) ||
      failed(readProfile()))
    return failure();
  target = topology->kindOf(0).target;
  if (!options.target.empty())
    target = options.target == plan::str(plan::Target::CUDA)
                 ? plan::Target::CUDA
                 : plan::Target::CPU;
  return options.emit < Emit::Source ? success() : checkTarget();
}

std::string Compilation::cudaArch() const {
  if (!options.cudaArch.empty())
    return options.cudaArch;
  // All GPUs run what the oldest of them does.
  plan::GpuGeneration oldest = topology->kindOf(0).generation;
  for (const plan::DeviceKind &kind : topology->kinds())
    oldest = std::min(oldest, kind.generation);
  return codegen::cudaArchOf(oldest);
}

LogicalResult Compilation::checkTarget() {
  for (int device = 1; device < topology->numDevices(); ++device)
    if (const plan::DeviceKind &kind = topology->kindOf(device);
        options.target.empty() && kind.target != target)
      return fail("device '" + topology->device(device).name + "' (" +
                  kind.name + "): expected target " + plan::str(target) +
                  " as of the devices before, or --target, found " +
                  plan::str(kind.target));
  if (!options.cudaArch.empty() && target != plan::Target::CUDA)
    return fail(Twine("--cuda-arch: expected devices of target cuda, found "
                      "those of ") +
                plan::str(target));
  if (!options.runtime.empty() &&
      !codegen::isRuntimeFor(options.runtime, target))
    return fail(Twine("--runtime: expected a runtime for target ") +
                plan::str(target) + " in '" + options.runtime +
                "', found one for another; --emit=source for such devices "
                "writes one");
  std::optional<plan::Target> only;
  if (options.precision == Precision::TF32 ||
      options.precision == Precision::FP16)
    only = plan::Target::CUDA;
  else if (options.precision == Precision::F64)
    only = plan::Target::CPU;
  if (only && target != *only)
    return fail(Twine("--precision=") + wordOf(options.precision) +
                ": expected devices of target " + plan::str(*only) +
                ", found those of " + plan::str(target));
  return success();
}
