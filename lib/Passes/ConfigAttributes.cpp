//===- ConfigAttributes.cpp - strategies as attributes of a module --------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static constexpr StringRef kReplicaName = "replica";

ConfigAttr ffc::attributeOf(const plan::Configuration &config,
                            const plan::OpRules &rules, MLIRContext &context) {
  SmallVector<StringAttr> dims;
  SmallVector<DenseI64ArrayAttr> shares;
  SmallVector<int64_t> degrees,
      devices(config.devices.begin(), config.devices.end());
  for (const plan::GridAxis &axis : config.axes) {
    dims.push_back(StringAttr::get(&context, axis.dim == plan::kReplica
                                                 ? kReplicaName
                                                 : rules.dims[axis.dim].name));
    degrees.push_back(axis.degree);
    shares.push_back(DenseI64ArrayAttr::get(&context, axis.shares));
  }
  return ConfigAttr::get(&context, dims, degrees, shares, devices,
                         config.again);
}

plan::Configuration ffc::carriedTo(ConfigAttr attr,
                                   const plan::OpRules &rules) {
  plan::Configuration config;
  for (auto [name, degree, shares] :
       llvm::zip_equal(attr.getDims(), attr.getDegrees(), attr.getShares()))
    config.axes.push_back({rules.findDim(name.str()), degree,
                           std::vector<int64_t>(shares.asArrayRef())});
  for (int64_t device : attr.getDevices())
    config.devices.push_back(static_cast<plan::DeviceId>(device));
  config.again = attr.getAgain();
  return config;
}

FailureOr<std::optional<plan::Configuration>>
ffc::readConfiguration(Operation *op, const plan::OpRules &rules,
                       StringRef opName) {
  auto attr = op->getAttrOfType<ConfigAttr>(kConfigAttr);
  if (!attr)
    return std::optional<plan::Configuration>();
  for (StringAttr name : attr.getDims())
    if (name.getValue() != kReplicaName && rules.findDim(name.str()) < 0)
      return op->emitError("'")
             << opName << "' has no dimension '" << name.getValue() << "'";
  return std::optional(carriedTo(attr, rules));
}

FailureOr<plan::PartialStrategy>
ffc::readConfigurations(const PlannedModule &planned) {
  plan::PartialStrategy result;
  for (auto [op, entry] : llvm::zip_equal(planned.ops, planned.graph.ops)) {
    auto config = readConfiguration(op, entry.rules, entry.name);
    if (failed(config))
      return failure();
    result.push_back(std::move(*config));
  }
  return result;
}

void ffc::writeConfigurations(const PlannedModule &planned,
                              const plan::PartialStrategy &strategy) {
  for (size_t i = 0; i < planned.ops.size(); ++i)
    if (strategy[i])
      planned.ops[i]->setAttr(
          kConfigAttr, attributeOf(*strategy[i], planned.graph.ops[i].rules,
                                   *planned.ops[i]->getContext()));
}

void ffc::writeSchedule(const PlannedModule &planned,
                        const plan::PipelineSchedule &schedule) {
  func::FuncOp main = mainFunction(planned.module);
  main->removeAttr(kPipelineAttr);
  if (schedule.isPipeline())
    main->setAttr(
        kPipelineAttr,
        DenseI64ArrayAttr::get(main.getContext(),
                               {schedule.microBatches, schedule.ahead,
                                static_cast<int64_t>(schedule.defersWeights)}));
}

FailureOr<plan::PipelineSchedule>
ffc::readSchedule(const PlannedModule &planned) {
  func::FuncOp main = mainFunction(planned.module);
  Attribute written = main->getAttr(kPipelineAttr);
  if (!written)
    return plan::PipelineSchedule();
  constexpr int64_t kMost = 1 << 20;
  auto numbers = dyn_cast<DenseI64ArrayAttr>(written);
  if (!numbers || numbers.size() != 3 || numbers[0] < 2 || numbers[0] > kMost ||
      numbers[1] < 1 || numbers[1] > numbers[0] || numbers[2] < 0 ||
      numbers[2] > 1)
    return main.emitError("expected micro-batches, at least 2, by how many of "
                          "them stages are ahead, and whether weights come "
                          "later in '")
           << kPipelineAttr << "', found " << written;
  return plan::PipelineSchedule{static_cast<int>(numbers[0]),
                                static_cast<int>(numbers[1]), numbers[2] != 0};
}
