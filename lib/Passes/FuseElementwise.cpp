//===- FuseElementwise.cpp - chains of element-wise operators in one ------===//

#include "Aliases.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// Most operands, and most results, of a fused operator. More streams than this
/// are slower than memory, and the runtime's kernel stops here.
static constexpr size_t kMaxTensors = 16;

//===----------------------------------------------------------------------===//
// What may be merged
//===----------------------------------------------------------------------===//

static bool isMember(Operation *op) {
  return isElementwise(op) || isa<FusedOp>(op) || isNarrowing(op);
}

/// Does `consumer` read what `producer` rounds? Between both the value would
/// not be rounded.
static bool readsNarrow(Operation *producer, Operation *consumer) {
  return llvm::any_of(consumer->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() == producer && isNarrow(operand);
  });
}

/// Axes that split something, and devices.
static auto splitOf(ConfigAttr config) {
  SmallVector<std::pair<StringAttr, int64_t>> axes;
  for (auto [dim, degree] :
       llvm::zip_equal(config.getDims(), config.getDegrees()))
    if (degree != 1)
      axes.push_back({dim, degree});
  return std::make_pair(axes, config.getDevices());
}

/// False if both have a configuration and these differ.
static bool configsAgree(Operation *a, Operation *b) {
  auto first = a->getAttrOfType<ConfigAttr>(kConfigAttr);
  auto second = b->getAttrOfType<ConfigAttr>(kConfigAttr);
  return !first || !second || splitOf(first) == splitOf(second);
}

/// The first operator besides `consumer` that needs a result of `producer`;
/// null if there is none.
static Operation *firstOtherUser(Operation *producer, Operation *consumer) {
  Operation *first = nullptr;
  for (Operation *user : producer->getUsers())
    if (user != consumer && (!first || user->isBeforeInBlock(first)))
      first = user;
  return first;
}

static bool usedBesides(Value value, Operation *consumer) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return user != consumer; });
}

/// Operands of both, without what passes between them, each once.
static SmallVector<Value> mergedOperands(Operation *producer,
                                         Operation *consumer) {
  llvm::SmallSetVector<Value, 8> operands;
  operands.insert(producer->operand_begin(), producer->operand_end());
  for (Value operand : consumer->getOperands())
    if (operand.getDefiningOp() != producer)
      operands.insert(operand);
  return operands.takeVector();
}

/// Results of both that are needed after the merger, the consumer's first.
static SmallVector<Value> mergedResults(Operation *producer,
                                        Operation *consumer) {
  SmallVector<Value> results(consumer->getResults());
  for (Value result : producer->getResults())
    if (usedBesides(result, consumer))
      results.push_back(result);
  return results;
}

/// Of all results of an element-wise operator.
static ArrayRef<int64_t> shapeOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

static bool canMerge(Operation *producer, Operation *consumer) {
  if (shapeOf(producer) != shapeOf(consumer) ||
      producer->getAttr(kRoleAttr) != consumer->getAttr(kRoleAttr) ||
      !configsAgree(producer, consumer) || readsNarrow(producer, consumer) ||
      mergedOperands(producer, consumer).size() > kMaxTensors ||
      mergedResults(producer, consumer).size() > kMaxTensors)
    return false;
  // In the order as it is there must be a place after all operands and before
  // all users; this also excludes that the consumer needs the producer through
  // somebody else.
  Operation *user = firstOtherUser(producer, consumer);
  return !user || llvm::all_of(consumer->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    return !definition || definition == producer ||
           definition->isBeforeInBlock(user);
  });
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Appends what `op` computes; `values` maps values outside to the body's.
static void appendTo(OpBuilder &body, Operation *op, IRMapping &values) {
  auto append = [&](Operation &member) {
    Operation *clone = body.clone(member, values);
    clone->setDiscardableAttrs(body.getDictionaryAttr({}));
  };
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return append(*op);
  Block &block = fused.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), fused.getInputs()))
    values.map(argument, values.lookup(operand));
  for (Operation &member : block.without_terminator())
    append(member);
  for (auto [result, yielded] : llvm::zip_equal(
           fused.getResults(), block.getTerminator()->getOperands()))
    values.map(result, values.lookup(yielded));
}

/// The slot of `fused` in which a value of its body stands; a value that does
/// not leave it has the shape of the results.
static int64_t slotOf(FusedOp fused, Value inside) {
  if (auto argument = dyn_cast<BlockArgument>(inside))
    return argument.getArgNumber();
  auto yielded = fused.getBody().front().getTerminator()->getOperands();
  auto it = llvm::find(yielded, inside);
  return fused.getNumOperands() +
         (it == yielded.end() ? 0 : it - yielded.begin());
}

/// The value in a slot: operands, then results.
static Value valueAt(Operation *op, int64_t slot) {
  int64_t operands = op->getNumOperands();
  return slot < operands ? op->getOperand(slot)
                         : Value(op->getResult(slot - operands));
}

/// Attributes of the operator that stands for both, of which one gives the
/// name.
static void mergeAttributes(Operation *named, Operation *other, FusedOp fused,
                            IRMapping &values) {
  Builder builder(fused.getContext());
  for (StringRef name : {kRoleAttr, kOwnerAttr, kAliasesAttr})
    if (Attribute attr = named->getAttr(name))
      fused->setAttr(name, attr);
  Attribute config = named->getAttr(kConfigAttr);
  if (!config)
    config = other->getAttr(kConfigAttr);
  if (config)
    fused->setAttr(kConfigAttr, config);
  if (auto carry = named->getAttrOfType<DenseI64ArrayAttr>(kCarryAttr)) {
    Value inside = values.lookup(valueAt(named, carry[1]));
    fused->setAttr(kCarryAttr, builder.getDenseI64ArrayAttr(
                                   {carry[0], slotOf(fused, inside)}));
  }
  addAliases(fused, other);
}

/// Replaces both by one operator, which is returned.
static FusedOp merge(Operation *producer, Operation *consumer) {
  Operation *place = firstOtherUser(producer, consumer);
  if (!place || consumer->isBeforeInBlock(place))
    place = consumer;
  SmallVector<Value> operands = mergedOperands(producer, consumer);
  SmallVector<Value> results = mergedResults(producer, consumer);
  // Whoever looks for a layer does not look for its cast.
  const bool narrows = isNarrowing(consumer);
  Operation *named = narrows ? producer : consumer,
            *other = narrows ? consumer : producer;
  OpBuilder builder(place);
  auto fused = FusedOp::create(builder, named->getLoc(),
                               TypeRange(ValueRange(results)), operands);
  Block &block = fused.getBody().emplaceBlock();
  IRMapping values;
  for (Value operand : operands)
    values.map(operand, block.addArgument(operand.getType(), operand.getLoc()));
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  appendTo(body, producer, values);
  appendTo(body, consumer, values);
  YieldOp::create(
      body, fused.getLoc(),
      llvm::map_to_vector(results, [&](Value v) { return values.lookup(v); }));
  mergeAttributes(named, other, fused, values);
  for (auto [old, replacement] : llvm::zip_equal(results, fused.getResults()))
    old.replaceAllUsesWith(replacement);
  consumer->erase();
  producer->erase();
  return fused;
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

/// Operators whose owner was merged belong to what it is part of now.
static void renameOwners(Block &block) {
  llvm::StringMap<Operation *> members;
  for (auto fused : block.getOps<FusedOp>())
    for (Operation &member : fused.getBody().front().without_terminator())
      members[nameOf(&member)] = &member;
  moveOwners(block, [&](StringRef name, int64_t slot) -> Heir {
    Operation *member = members.lookup(name);
    if (!member)
      return {};
    auto fused = cast<FusedOp>(member->getParentOp());
    return {fused, slot < 0 ? slot : slotOf(fused, valueAt(member, slot))};
  });
}

namespace {
struct FuseElementwise : ffc::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      Operation *current = isMember(&op) ? &op : nullptr;
      while (current)
        current = mergeWithProducer(current);
    }
    renameOwners(block);
  }

private:
  /// Merges `consumer` with a producer of one of its operands, if there is one
  /// with which that is possible.
  static Operation *mergeWithProducer(Operation *consumer) {
    for (Value operand : consumer->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && isMember(producer) && canMerge(producer, consumer))
        return merge(producer, consumer);
    }
    return nullptr;
  }
};
} // namespace
