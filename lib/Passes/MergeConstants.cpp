//===- MergeConstants.cpp - what is computed alike is computed once -------===//

#include "Aliases.h"

#include "ffc/IR/ConstantValue.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include <map>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_MERGECONSTANTS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {
/// Operators that compute the same constants have the same: what they are, what
/// they read and say, and the types of their results, all of them unique.
using Key = std::vector<const void *>;

struct MergeConstants : ffc::impl::MergeConstantsBase<MergeConstants> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    std::map<Key, Operation *> known;
    llvm::DenseSet<Operation *> constants;
    for (Operation &op : llvm::make_early_inc_range(main.front())) {
      if (!isConstant(&op, constants))
        continue;
      auto [first, isNew] = known.try_emplace(keyOf(&op), &op);
      if (isNew) {
        constants.insert(&op);
        continue;
      }
      op.replaceAllUsesWith(first->second);
      if (!isa<StateOp>(op))
        addAliases(first->second, &op);
      op.erase();
    }
  }

private:
  static bool isConstant(Operation *op,
                         const llvm::DenseSet<Operation *> &constants) {
    return op->getNumResults() > 0 && op->getNumRegions() == 0 &&
           hasConstantResults(op, std::numeric_limits<int64_t>::max()) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return constants.contains(operand.getDefiningOp());
           });
  }

  static Key keyOf(Operation *op) {
    // Names are no part of it.
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.erase(kAliasesAttr);
    if (auto state = dyn_cast<StateOp>(op))
      attributes.erase(state.getNameAttrName());
    Key key = {op->getName().getAsOpaquePointer(),
               attributes.getDictionary(op->getContext()).getAsOpaquePointer()};
    for (Value operand : op->getOperands())
      key.push_back(operand.getAsOpaquePointer());
    for (Type type : op->getResultTypes())
      key.push_back(type.getAsOpaquePointer());
    return key;
  }
};
} // namespace
