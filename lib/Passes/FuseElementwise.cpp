//===- FuseElementwise.cpp - chains of element-wise operators in one ------===//

#include "Aliases.h"
#include "StateOrder.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <list>

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
  SmallVector<std::tuple<StringAttr, int64_t, DenseI64ArrayAttr>> axes;
  for (auto [dim, degree, shares] : llvm::zip_equal(
           config.getDims(), config.getDegrees(), config.getShares()))
    if (degree != 1)
      axes.push_back({dim, degree, shares});
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
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// The body of a fused operator, apart from it, and what its arguments are.
class Body {
public:
  /// Moves that of a fused operator, or makes one of what another computes.
  explicit Body(Operation *op);

  /// Notes by what results of `op`, whose body it is, were yielded.
  void stopYielding(Operation *op, IRMapping &yielded);
  /// What `yielded` has of operands takes their place.
  void connect(const IRMapping &yielded);
  /// Takes the operators of another one, before its own or behind them.
  void add(Body &other, bool before);

  SmallVector<Value> operands; ///< each once
  Region region;

private:
  Block &block() { return region.front(); }
  Value argumentOf(Value operand);
  /// Removes operand number `i`, for which `value` stands.
  void replace(size_t i, Value value);
};
} // namespace

Body::Body(Operation *op) {
  if (auto fused = dyn_cast<FusedOp>(op)) {
    region.takeBody(fused.getBody());
    operands.assign(fused.getInputs().begin(), fused.getInputs().end());
    for (size_t i = operands.size(); i-- > 0;)
      if (auto it = llvm::find(operands, operands[i]);
          it != operands.begin() + i)
        replace(i, block().getArgument(it - operands.begin()));
    return;
  }
  region.emplaceBlock();
  IRMapping values;
  for (Value operand : op->getOperands())
    values.map(operand, argumentOf(operand));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block());
  Operation *member = builder.clone(*op, values);
  member->setDiscardableAttrs(builder.getDictionaryAttr({}));
  YieldOp::create(builder, op->getLoc(), member->getResults());
}

void Body::stopYielding(Operation *op, IRMapping &yielded) {
  Operation *yield = block().getTerminator();
  yielded.map(op->getResults(), yield->getOperands());
  yield->erase();
}

Value Body::argumentOf(Value operand) {
  auto it = llvm::find(operands, operand);
  if (it != operands.end())
    return block().getArgument(it - operands.begin());
  operands.push_back(operand);
  return block().addArgument(operand.getType(), operand.getLoc());
}

void Body::replace(size_t i, Value value) {
  block().getArgument(i).replaceAllUsesWith(value);
  block().eraseArgument(i);
  operands.erase(operands.begin() + i);
}

void Body::connect(const IRMapping &yielded) {
  for (size_t i = operands.size(); i-- > 0;)
    if (Value inside = yielded.lookupOrNull(operands[i]))
      replace(i, inside);
}

void Body::add(Body &other, bool before) {
  for (auto [operand, argument] :
       llvm::zip_equal(other.operands, other.block().getArguments()))
    argument.replaceAllUsesWith(argumentOf(operand));
  auto &members = block().getOperations();
  members.splice(before ? members.begin() : members.end(),
                 other.block().getOperations());
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// The value in a slot: operands, then results.
static Value valueAt(Operation *op, int64_t slot) {
  int64_t operands = op->getNumOperands();
  return slot < operands ? op->getOperand(slot)
                         : Value(op->getResult(slot - operands));
}

/// The slot, among `operands` and then `results`, of a value; one that is
/// neither has the shape of the results.
static int64_t slotAmong(ValueRange operands, ValueRange results, Value value) {
  if (auto it = llvm::find(operands, value); it != operands.end())
    return it - operands.begin();
  auto it = llvm::find(results, value);
  return operands.size() + (it == results.end() ? 0 : it - results.begin());
}

namespace {
/// What is known of an operator until the pass ends, so that a chain is not
/// gone through again for each of its members.
struct Members {
  size_t count = 1;
  std::list<Attribute> aliases; ///< in order, some perhaps twice
};

class Merger {
public:
  /// Merges `consumer` with a producer of one of its operands, if there is one
  /// with which that is possible.
  Operation *mergeWithProducer(Operation *consumer);
  /// Writes the aliases of all that was merged in `block`.
  void writeAliases(Block &block) const;

private:
  FusedOp merge(Operation *producer, Operation *consumer);
  /// The operator is about to become a part of another one.
  Members take(Operation *op);

  llvm::DenseMap<Operation *, Members> merged;
};
} // namespace

Members Merger::take(Operation *op) {
  if (auto it = merged.find(op); it != merged.end()) {
    Members members = std::move(it->second);
    merged.erase(it);
    return members;
  }
  Members members;
  if (auto fused = dyn_cast<FusedOp>(op))
    members.count = fused.getBody().front().getOperations().size();
  if (auto aliases = op->getAttrOfType<ArrayAttr>(kAliasesAttr))
    members.aliases.assign(aliases.begin(), aliases.end());
  return members;
}

/// Attributes of the operator that stands for both, of which one gives the
/// name; `results` are those of both that are left.
static void mergeAttributes(Operation *named, Operation *other, FusedOp fused,
                            ValueRange results) {
  Builder builder(fused.getContext());
  for (StringRef name : {kRoleAttr, kOwnerAttr})
    if (Attribute attr = named->getAttr(name))
      fused->setAttr(name, attr);
  Attribute config = named->getAttr(kConfigAttr);
  if (!config)
    config = other->getAttr(kConfigAttr);
  if (config)
    fused->setAttr(kConfigAttr, config);
  if (auto carry = named->getAttrOfType<DenseI64ArrayAttr>(kCarryAttr))
    fused->setAttr(kCarryAttr,
                   builder.getDenseI64ArrayAttr(
                       {carry[0], slotAmong(fused.getInputs(), results,
                                            valueAt(named, carry[1]))}));
}

/// Replaces both by one operator, which is returned.
FusedOp Merger::merge(Operation *producer, Operation *consumer) {
  Operation *place = firstOtherUser(producer, consumer);
  if (!place || consumer->isBeforeInBlock(place))
    place = consumer;
  SmallVector<Value> results = mergedResults(producer, consumer);
  // Whoever looks for a layer does not look for its cast.
  const bool narrows = isNarrowing(consumer);
  Operation *named = narrows ? producer : consumer,
            *other = narrows ? consumer : producer;

  // The larger one takes the other in, whose members alone are moved.
  Members ofProducer = take(producer), ofConsumer = take(consumer);
  const bool isProducerLarger = ofProducer.count >= ofConsumer.count;
  Body first(producer), second(consumer);
  IRMapping yielded;
  first.stopYielding(producer, yielded);
  second.connect(yielded);
  second.stopYielding(consumer, yielded);
  Body &body = isProducerLarger ? first : second;
  body.add(isProducerLarger ? second : first, /*before=*/!isProducerLarger);

  OpBuilder builder(place);
  auto fused = FusedOp::create(builder, named->getLoc(),
                               TypeRange(ValueRange(results)), body.operands);
  fused.getBody().takeBody(body.region);
  builder.setInsertionPointToEnd(&fused.getBody().front());
  YieldOp::create(
      builder, fused.getLoc(),
      llvm::map_to_vector(results, [&](Value v) { return yielded.lookup(v); }));
  mergeAttributes(named, other, fused, results);

  Members &all = merged[fused] = std::move(narrows ? ofProducer : ofConsumer),
          &part = narrows ? ofConsumer : ofProducer;
  all.count += part.count;
  if (StringRef name = ff::nameOf(other); !name.empty())
    all.aliases.push_back(builder.getStringAttr(name));
  all.aliases.splice(all.aliases.end(), part.aliases);

  for (auto [old, replacement] : llvm::zip_equal(results, fused.getResults()))
    old.replaceAllUsesWith(replacement);
  consumer->erase();
  producer->erase();
  // Gives it its place in the order of the block while its neighbours have
  // theirs: next to others without one it would take that of all operators.
  (void)fused->isBeforeInBlock(&fused->getBlock()->back());
  return fused;
}

Operation *Merger::mergeWithProducer(Operation *consumer) {
  for (Value operand : consumer->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && isMember(producer) && canMerge(producer, consumer))
      return merge(producer, consumer);
  }
  return nullptr;
}

void Merger::writeAliases(Block &block) const {
  for (auto fused : block.getOps<FusedOp>()) {
    auto it = merged.find(fused);
    if (it == merged.end() || it->second.aliases.empty())
      continue;
    const std::list<Attribute> &all = it->second.aliases;
    llvm::SetVector<Attribute> aliases(all.begin(), all.end());
    fused->setAttr(kAliasesAttr,
                   ArrayAttr::get(fused.getContext(), aliases.getArrayRef()));
  }
}

//===----------------------------------------------------------------------===//
// Owners
//===----------------------------------------------------------------------===//

/// The slot of `fused` in which a value of its body stands; a value that does
/// not leave it has the shape of the results.
static int64_t slotOf(FusedOp fused, Value inside) {
  Block &body = fused.getBody().front();
  return slotAmong(body.getArguments(), body.getTerminator()->getOperands(),
                   inside);
}

/// Operators whose owner was merged belong to what it is part of now.
static void renameOwners(Block &block) {
  llvm::StringMap<Operation *> members;
  llvm::StringSet<> apart; // operators of the block itself
  for (Operation &op : block)
    if (op.getNumResults() > 0) // outputs are called after what they give
      apart.insert(nameOf(&op));
  // What widens an operand within is called after it, which may be an operator
  // that was not merged.
  for (auto fused : block.getOps<FusedOp>())
    for (Operation &member : fused.getBody().front().without_terminator())
      if (StringRef name = nameOf(&member);
          name == nameOf(fused) || !apart.contains(name))
        members[name] = &member;
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
    Merger merger;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      Operation *current = isMember(&op) ? &op : nullptr;
      while (current)
        current = merger.mergeWithProducer(current);
    }
    merger.writeAliases(block);
    renameOwners(block);
    // A producer that is computed where its consumer was reads there.
    putUpdatesBehindReads(block);
  }
};
} // namespace
