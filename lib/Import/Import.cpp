//===- Import.cpp - from ONNX to the training graph -----------------------===//

#include "ffc/Import/Import.h"

#include "Functions.h"
#include "GraphChecks.h"
#include "Importer.h"
#include "JoinBags.h"
#include "Load.h"
#include "NewerFields.h"
#include "OpVersions.h"
#include "TiedWeights.h"
#include "Trained.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

/// The version of the standard operators. Without one it is the newest: then no
/// node is such an operator, or something is wrong that the node tells.
static llvm::Expected<int64_t> opsetOf(const onnx::ModelProto &model) {
  if (model.ir_version() < 3)
    return makeError("expected IR version 3 or later, found " +
                     Twine(model.ir_version()));
  std::optional<int64_t> opset;
  for (const onnx::OperatorSetIdProto &imported : model.opset_import()) {
    if (!isStandardDomain(imported.domain()))
      continue;
    if (opset && *opset != imported.version())
      return makeError("the model imports opset " + Twine(*opset) +
                       " and opset " + Twine(imported.version()) +
                       ", expected one");
    opset = imported.version();
  }
  if (!opset) {
    for (const onnx::NodeProto &node : model.graph().node())
      if (isStandardDomain(node.domain()))
        return makeError("the model imports no opset of the domain ai.onnx, "
                         "which has the operator " +
                         node.op_type());
    return kNewestOpset;
  }
  if (*opset < kOldestOpset)
    return makeError("expected opset " + Twine(kOldestOpset) +
                     " or later, found " + Twine(*opset) +
                     "; onnx.version_converter makes a later one");
  return *opset;
}

/// Checks the options that no model can make right.
static llvm::Error checkOptions(const ImportOptions &options) {
  if (auto init = parseInit(options.init, 1, 1); !init)
    return init.takeError();
  if (options.dropout && !(*options.dropout >= 0 && *options.dropout < 1))
    return makeError("--dropout " + numberText(*options.dropout) +
                     ": expected a ratio from 0 to below 1");
  return llvm::Error::success();
}

/// The shapes of all values with the batch the model was exported with, by
/// `inputs`. Nothing after an error.
static std::optional<ShapeTable> exportedShapes(MLIRContext &context,
                                                const ModelFile &model,
                                                const GraphInputs &inputs,
                                                ImportOptions options) {
  options.batchSize = inputs.exportedBatch;
  for (const std::string &key : inputs.batchDims)
    options.dims.erase(key);
  // What can be cut into groups is the batch that the program will have.
  options.sampleGroups = 1;
  options.weightsPath.clear();
  // The import proper gives the warnings.
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  Importer importer(context, model, options, /*exported=*/nullptr);
  if (!importer.run())
    return std::nullopt;
  return importer.getShapes();
}

namespace {
/// A model that was read, and what of it is trained.
struct Prepared {
  onnx::ModelProto proto;
  int64_t opset = 0;
  std::unique_ptr<ExporterMetadata> metadata;
  TrainedValues trained;
};
} // namespace

/// Reads the model, undoes what exporters did to its parameters, and decides
/// what is trained. Reports what is wrong.
static bool prepare(MLIRContext &context, StringRef path,
                    const ImportOptions &options, Prepared &model) {
  auto report = [&](const Twine &message, unsigned line = 0,
                    unsigned column = 0) {
    emitError(FileLineColLoc::get(&context, path, line, column)) << message;
    return false;
  };
  if (llvm::Error failure = checkOptions(options))
    return report(llvm::toString(std::move(failure)));
  if (auto failure = loadModel(path.str(), model.proto))
    return report(failure->message, failure->line, failure->column);
  clearOwnOpsets(model.proto);
  llvm::Expected<int64_t> opset = opsetOf(model.proto);
  if (!opset)
    return report(llvm::toString(opset.takeError()));
  model.opset = *opset;
  if (llvm::Error failure = inlineFunctions(model.proto))
    return report(llvm::toString(std::move(failure)));
  if (*opset > kNewestOpset)
    emitWarning(FileLineColLoc::get(&context, path, 0, 0))
        << "the model is of opset " << *opset << "; its operators are taken as "
        << "those of opset " << kNewestOpset << ", the newest that is known";
  onnx::GraphProto &graph = *model.proto.mutable_graph();
  const TensorData data(path);
  if (llvm::Error failure = checkGraph(graph, data, *opset))
    return report(llvm::toString(std::move(failure)));
  joinBags(graph);
  model.metadata = readExporterMetadata(model.proto);
  if (model.metadata)
    model.metadata->restore(graph);
  std::vector<TiedWeight> ties;
  if (options.ties)
    ties = tieWeights(graph, data, model.metadata.get());
  auto trained =
      TrainedValues::decide(graph, data, options, model.metadata.get(), ties);
  if (!trained)
    return report(llvm::toString(trained.takeError()));
  model.trained = std::move(*trained);
  return true;
}

/// Fills in the extents of parameters without data that only the import finds.
static void settleExtents(ModuleOp module, ParameterList &list) {
  llvm::StringMap<RankedTensorType> types;
  module.walk([&](ff::StateOp state) {
    types[state.getName()] = cast<RankedTensorType>(state.getType());
  });
  for (ListedValue &value : list.values) {
    RankedTensorType type = types.lookup(value.name);
    if (!type || !llvm::is_contained(value.shape, -1))
      continue;
    value.shape.assign(type.getShape().begin(), type.getShape().end());
    value.bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }
}

OwningOpRef<ModuleOp> ffc::importModel(MLIRContext &context, StringRef path,
                                       const ImportOptions &options,
                                       ParameterList *parameters) {
  auto report = [&](const Twine &message) {
    emitError(FileLineColLoc::get(&context, path, 0, 0)) << message;
    return OwningOpRef<ModuleOp>();
  };
  Prepared prepared;
  if (!prepare(context, path, options, prepared))
    return {};
  if (parameters)
    *parameters = prepared.trained.list();
  const onnx::GraphProto &graph = prepared.proto.graph();
  ModelFile model{path.str(), prepared.proto, prepared.opset, prepared.trained};

  std::optional<ShapeTable> exported;
  if (options.batchSize) {
    auto inputs = resolveInputs(graph, UseTable(graph), model.trained, options);
    if (!inputs)
      return report(llvm::toString(inputs.takeError()));
    if (inputs->exportedBatch) {
      exported = exportedShapes(context, model, *inputs, options);
      if (!exported)
        return {};
    }
  }
  OwningOpRef<ModuleOp> module =
      Importer(context, model, options, exported ? &*exported : nullptr).run();
  if (module && parameters)
    settleExtents(*module, *parameters);
  return module;
}

std::optional<ParameterList> ffc::listParameters(MLIRContext &context,
                                                 StringRef path,
                                                 const ImportOptions &options) {
  Prepared model;
  if (!prepare(context, path, options, model))
    return std::nullopt;
  const onnx::GraphProto &graph = model.proto.graph();
  if (llvm::Error failure =
          checkInputFlags(graph, UseTable(graph), model.trained, options)) {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << llvm::toString(std::move(failure));
    return std::nullopt;
  }
  return model.trained.list();
}
