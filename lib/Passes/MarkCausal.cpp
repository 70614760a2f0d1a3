//===- MarkCausal.cpp - attention to what came before ---------------------===//

#include "ffc/IR/ConstantValue.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/DenseMap.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_MARKCAUSAL
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// Larger masks, of more than 4,096 positions, are not looked at.
static constexpr int64_t kMostElements = int64_t(1) << 24;

/// Scores that are so low, or lowered by so much, get no weight beside others.
static constexpr double kHidden = -10000;

namespace {
/// What constant masks do to scores of later positions, and to others.
class Masks {
public:
  /// Does it hide the later positions, and no others?
  bool isCausal(Value mask, std::optional<double> replacement);

private:
  const std::optional<TensorValue> &valueOf(Value mask) {
    auto [known, isNew] = values.try_emplace(mask);
    if (isNew)
      known->second = constantValue(mask, kMostElements);
    return known->second;
  }

  llvm::DenseMap<Value, std::optional<TensorValue>> values;
};

struct MarkCausal : ffc::impl::MarkCausalBase<MarkCausal> {
  void runOnOperation() override {
    Masks masks;
    auto markCausal = [](AttentionOp op) {
      op.setCausal(1);
      // What is added to a score leaves nothing of it.
      if (op.getHidden().empty())
        op.setHidden(-std::numeric_limits<double>::infinity());
    };
    getOperation().walk([&](AttentionOp op) {
      ArrayRef<double> hidden = op.getHidden();
      auto positions = [](Value heads) {
        return cast<RankedTensorType>(heads.getType()).getDimSize(1);
      };
      if (positions(op.getQ()) == positions(op.getK()) && op.getMask() &&
          masks.isCausal(op.getMask(), hidden.empty()
                                           ? std::nullopt
                                           : std::optional(hidden.front())))
        markCausal(op);
    });
  }
};
} // namespace

bool Masks::isCausal(Value mask, std::optional<double> replacement) {
  if (replacement && !(*replacement <= kHidden))
    return false;
  const std::optional<TensorValue> &value = valueOf(mask);
  if (!value || value->shape.size() < 2)
    return false;
  const int64_t columns = value->shape.back(),
                rows = value->shape[value->shape.size() - 2];
  // Masks are broadcast to the scores.
  if (rows < 2 || rows != columns)
    return false;
  for (auto [i, number] : llvm::enumerate(value->data)) {
    const auto at = static_cast<int64_t>(i);
    const bool isLater = at % columns > at / columns % rows,
               hides = replacement ? number != 0 : number <= kHidden;
    if (isLater ? !hides : number != 0)
      return false;
  }
  return true;
}
