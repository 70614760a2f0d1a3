//===- CheckKernels.cpp - what can be compiled ----------------------------===//

#include "ffc/Passes/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ffc;

LogicalResult ffc::checkKernels(const PlannedModule &planned,
                                const plan::Strategy &strategy) {
  llvm::MapVector<StringRef, SmallVector<StringRef>> missing;
  for (auto [op, node, config] :
       llvm::zip_equal(planned.ops, planned.graph.ops, strategy)) {
    auto rules = cast<ff::PartitionableInterface>(op);
    if (!llvm::all_of(plan::scheduleFor(node.rules, config).phases,
                      [&](const plan::Phase &phase) {
                        return rules.hasKernel(phase.kernel);
                      }))
      missing[node.type].push_back(node.name);
  }
  if (missing.empty())
    return success();
  constexpr size_t shown = 5;
  ModuleOp module = planned.module;
  InFlightDiagnostic diagnostic = module.emitError();
  diagnostic << "expected operators with kernels for --emit=source or binary, "
                "found some that can only be planned so far: ";
  llvm::interleave(
      missing,
      [&](const auto &entry) {
        ArrayRef<StringRef> names = entry.second;
        diagnostic << entry.first << " (" << names.size() << ": ";
        llvm::interleave(
            names.take_front(shown),
            [&](StringRef name) { diagnostic << "'" << name << "'"; },
            [&] { diagnostic << ", "; });
        diagnostic << (names.size() > shown ? ", ...)" : ")");
      },
      [&] { diagnostic << ", "; });
  return diagnostic;
}
