//===- Rewrites.cpp - the table of rules, and the pass that applies them --===//

#include "ffc/Passes/Rewrites.h"

#include "RewriteRules.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ffc;

namespace ffc {
#define GEN_PASS_DEF_APPLYREWRITES
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

static constexpr Rewrite kRewrites[] = {
    {"move-transposes",
     "transposes are moved through element-wise operators to others that they "
     "cancel with",
     rewriting::moveTransposes},
    {"merge-narrow-products",
     "layers of one operand become one, if they are at most four times as wide",
     rewriting::mergeNarrowProducts},
    {"merge-wide-products", "the same of all others",
     rewriting::mergeWideProducts},
    {"join-sums", "sums of layers become one layer of their operands",
     rewriting::joinSums},
    {"batch-products", "small layers of equal shapes become one batch of them",
     rewriting::batchProducts},
};

ArrayRef<Rewrite> ffc::rewrites() { return kRewrites; }

const Rewrite *ffc::findRewrite(StringRef name) {
  const Rewrite *found = llvm::find_if(
      kRewrites, [&](const Rewrite &rule) { return rule.name == name; });
  return found == std::end(kRewrites) ? nullptr : found;
}

std::string ffc::namesOfRewrites() {
  std::string names;
  for (const Rewrite &rule : kRewrites)
    names += (names.empty() ? "" : ", ") + rule.name.str();
  return names;
}

std::string ffc::describeRewrites() {
  std::string text;
  for (const Rewrite &rule : kRewrites)
    text += (text.empty() ? "" : "; ") +
            (rule.name + " (" + rule.summary + ")").str();
  return text;
}

namespace {
struct ApplyRewrites : ffc::impl::ApplyRewritesBase<ApplyRewrites> {
  using ApplyRewritesBase::ApplyRewritesBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    for (const std::string &name : rules)
      if (!findRewrite(name)) {
        main.emitError("rewrite: expected one of ")
            << namesOfRewrites() << ", found '" << name << "'";
        return signalPassFailure();
      }
    // In the order of the table, whichever they are given in.
    for (const Rewrite &rule : kRewrites)
      if (llvm::is_contained(rules, rule.name))
        rule.apply(main);
  }
};
} // namespace
