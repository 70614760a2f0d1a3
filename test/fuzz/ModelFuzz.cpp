//===- ModelFuzz.cpp - ONNX models, binary and text -----------------------===//

#include "Fuzz.h"

#include "ffc/Import/Import.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace ffc;

/// A model in binary form begins with its IR version.
static bool isBinary(const std::string &bytes) {
  return !bytes.empty() && bytes[0] == 0x08;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string bytes = fuzz::textOf(data, size);
  const std::string path =
      fuzz::fileOf(isBinary(bytes) ? "m.onnx" : "m.onnxtxt", bytes);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  size_t errors = 0;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::success();
      });
  const auto module = importModel(context, path, {});
  if (static_cast<bool>(module) != (errors == 0))
    std::abort();
  return 0;
}
