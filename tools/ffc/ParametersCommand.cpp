//===- ParametersCommand.cpp - ffc parameters -----------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "ParameterTable.h"

#include "llvm/Support/raw_ostream.h"

using namespace ffc;

static const char *const kIntro =
    "ffc parameters MODEL [FLAG...]\n\n"
    "Prints every value of the model that is not computed: whether it is\n"
    "trained, its shape and bytes, its name, and why; then the sums. "
    "Operators\n"
    "need not be supported. Flags of ffc MODEL that say nothing about it are\n"
    "accepted.\n";

static llvm::Error check(Options &options) {
  // Nothing is needed beyond the model.
  options.emit = Emit::FF;
  return checkModelCommand(options);
}

static int list(const Options &options) {
  return succeeded(Compilation(options).listParameters()) ? 0 : 1;
}

mlir::LogicalResult Compilation::listParameters() {
  std::optional<ParameterList> list =
      ffc::listParameters(context, options.model, importOptions());
  if (!list)
    return mlir::failure();
  llvm::outs() << describeValues(*list) << describeSums(*list) << '\n';
  if (std::string missing = describeMissing(*list); !missing.empty())
    llvm::outs() << missing << '\n';
  return mlir::success();
}

int ffc::runParametersCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<Options>(
      {"ffc parameters", kIntro, modelFlags(), check, list, kParameters},
      arguments);
}
