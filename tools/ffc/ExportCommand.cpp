//===- ExportCommand.cpp - ffc export -------------------------------------===//

#include "Commands.h"
#include "Compilation.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Import/TrainedModel.h"

#include "llvm/Support/raw_ostream.h"

using namespace ffc;

static const char *const kIntro =
    "ffc export MODEL --weights CHECKPOINT -o TRAINED.onnx [FLAG...]\n\n"
    "Writes the model as it came in, with the parameters and running "
    "statistics\nof a checkpoint. Flags that say what of it is trained are "
    "to be as when it\nwas compiled.\n";

static llvm::Error check(Options &options) {
  // Nothing is needed beyond the model.
  options.emit = Emit::FF;
  for (auto [flag, value] : {std::pair("--weights", &options.weights),
                             std::pair("-o", &options.output)})
    if (value->empty())
      return codegen::makeError(llvm::Twine("expected ") + flag +
                                " PATH, found none");
  return checkModelCommand(options);
}

static int write(const Options &options) {
  return succeeded(Compilation(options).exportModel()) ? 0 : 1;
}

mlir::LogicalResult Compilation::exportModel() {
  std::optional<TrainedModelReport> report =
      exportTrained(context, options.model, options.weights,
                    options.exportsAverages, options.output, importOptions());
  if (!report)
    return mlir::failure();
  if (!options.quiet) {
    llvm::outs() << "ffc: " << report->values << " values of '"
                 << report->weights << "' in '" << options.output << "'";
    if (!report->dataPath.empty())
      llvm::outs() << " and '" << report->dataPath << "'";
    llvm::outs() << '\n';
  }
  return mlir::success();
}

int ffc::runExportCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<Options>(
      {"ffc export", kIntro, modelFlags(), check, write, kExport}, arguments);
}
