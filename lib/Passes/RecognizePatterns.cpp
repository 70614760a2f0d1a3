//===- RecognizePatterns.cpp - one operator for what exporters spell out --===//

#include "RecognizePatterns.h"

#include "Aliases.h"

#include "ffc/Passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

namespace ffc {
#define GEN_PASS_DEF_RECOGNIZEPATTERNS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

//===----------------------------------------------------------------------===//
// Matching values
//===----------------------------------------------------------------------===//

bool recognition::isNear(double found, double expected) {
  return std::abs(found - expected) <= 1e-6 * std::abs(expected);
}

std::optional<double> recognition::constantOf(Value value) {
  auto state = value.getDefiningOp<StateOp>();
  if (!state || state.getKind() != "constant" ||
      state.getInit().getKind() != InitKind::Constant)
    return std::nullopt;
  return state.getInit().getValue().getValueAsDouble();
}

UnaryOp recognition::unaryOf(Value value, UnaryKind kind) {
  auto op = value.getDefiningOp<UnaryOp>();
  return op && op.getKind() == kind ? op : UnaryOp();
}
BinaryOp recognition::binaryOf(Value value, BinaryKind kind) {
  auto op = value.getDefiningOp<BinaryOp>();
  return op && op.getKind() == kind ? op : BinaryOp();
}

/// x op constant, either way round if `commutes`. Broadcasting of x is not
/// looked through.
static std::optional<Affine> withConstant(BinaryOp op, bool commutes) {
  Type type = op.getY().getType();
  if (auto number = constantOf(op.getB());
      number && op.getA().getType() == type)
    return Affine{op.getA(), *number};
  if (!commutes)
    return std::nullopt;
  if (auto number = constantOf(op.getA());
      number && op.getB().getType() == type)
    return Affine{op.getB(), *number};
  return std::nullopt;
}

std::optional<Affine> recognition::timesConstant(Value value) {
  if (UnaryOp op = unaryOf(value, UnaryKind::Scale))
    return Affine{op.getX(), op.getAlpha()->convertToDouble()};
  if (BinaryOp op = binaryOf(value, BinaryKind::Mul))
    return withConstant(op, /*commutes=*/true);
  if (BinaryOp op = binaryOf(value, BinaryKind::Div))
    if (auto quotient = withConstant(op, /*commutes=*/false))
      return Affine{quotient->x, 1 / quotient->number};
  return std::nullopt;
}

std::optional<Affine> recognition::plusConstant(Value value) {
  if (UnaryOp op = unaryOf(value, UnaryKind::Shift))
    return Affine{op.getX(), op.getAlpha()->convertToDouble()};
  if (BinaryOp op = binaryOf(value, BinaryKind::Add))
    return withConstant(op, /*commutes=*/true);
  if (BinaryOp op = binaryOf(value, BinaryKind::Sub))
    if (auto difference = withConstant(op, /*commutes=*/false))
      return Affine{difference->x, -difference->number};
  return std::nullopt;
}

bool recognition::areInside(const Parts &parts, Operation *last) {
  return llvm::all_of(parts, [&](Operation *part) {
    return llvm::all_of(part->getUsers(), [&](Operation *user) {
      return user == last || parts.contains(user);
    });
  });
}

void recognition::replace(PatternRewriter &rewriter, Operation *last,
                          const Parts &parts, Value result, StringRef what) {
  Operation *made = result.getDefiningOp();
  made->setDiscardableAttrs(last->getDiscardableAttrDictionary());
  for (Operation *part : parts)
    addAliases(made, part);
  emitRemark(last->getLoc())
      << "'" << ff::nameOf(last) << "' is the end of " << what
      << ", one operator instead of " << parts.size() + 1;
  rewriter.replaceOp(last, result);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct RecognizePatterns : ffc::impl::RecognizePatternsBase<RecognizePatterns> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addAttention(patterns);
    addGates(patterns);
    addNormalisation(patterns);
    addLinear(patterns);
    addParts(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    getOperation().walk([](StateOp state) {
      if (state.getKind() == "constant" && state.use_empty())
        state.erase();
    });
  }
};
} // namespace
