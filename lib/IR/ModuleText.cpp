//===- ModuleText.cpp - the text of a module ------------------------------===//

#include "ffc/IR/ModuleText.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace mlir;

OpPrintingFlags ffc::moduleTextFlags() {
  return OpPrintingFlags()
      .enableDebugInfo()
      .printNameLocAsPrefix()
      .useLocalScope()
      .assumeVerified();
}

static std::string textOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, ffc::moduleTextFlags());
  return text;
}

/// Every line of it, two columns further right. Text has no lines of its own.
static void appendIndented(std::string &text, llvm::StringRef lines) {
  while (!lines.empty()) {
    auto [line, rest] = lines.split('\n');
    text += "  ";
    text += line;
    text += '\n';
    lines = rest;
  }
}

std::string ffc::moduleText(ModuleOp module) {
  llvm::SmallVector<Operation *> parts;
  for (Operation &op : module.getBodyRegion().front())
    parts.push_back(&op);

  MLIRContext *context = module.getContext();
  const bool isThreaded = context->isMultithreadingEnabled();
  context->enableMultithreading();
  std::vector<std::string> texts(parts.size());
  parallelFor(context, 0, parts.size(),
              [&](size_t i) { texts[i] = textOf(parts[i]); });
  context->enableMultithreading(isThreaded);

  OwningOpRef<Operation *> empty = module->cloneWithoutRegions();
  empty->getRegion(0).emplaceBlock();
  const std::string around = textOf(*empty);
  const size_t inside = around.find('\n') + 1;
  size_t size = around.size() + 1;
  for (const std::string &part : texts)
    size += part.size() + 2 * llvm::StringRef(part).count('\n') + 3;
  std::string text;
  text.reserve(size);
  text += around.substr(0, inside);
  for (std::string &part : texts) {
    appendIndented(text, part);
    part = {};
  }
  text += around.substr(inside);
  text += '\n';
  return text;
}
