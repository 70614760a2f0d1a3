//===- RewriteMoveTransposes.cpp - transposes that meet cancel ------------===//
//
// Between the transposition that puts heads before positions and attention,
// which wants them behind, models rotate queries and keys: element by element,
// which can be done in any order of dimensions. A transposition is moved up
// through what makes its operand, to where it meets others. It is moved only if
// fewer are left then.
//
//===----------------------------------------------------------------------===//

#include "RewriteRules.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::rewriting;

/// Dimension d of what is wanted is dimension order[d] of what there is. Where
/// that has fewer dimensions, it is meant with others of extent 1 before them.
using Order = SmallVector<int64_t>;

static Order permuted(ArrayRef<int64_t> numbers, ArrayRef<int64_t> order) {
  Order result;
  for (int64_t d : order)
    result.push_back(numbers[d]);
  return result;
}

/// The shape of `value` with `rank` dimensions.
static Order ranked(Value value, size_t rank) {
  ArrayRef<int64_t> shape = shapeOf(value);
  Order result(rank - shape.size(), 1);
  llvm::append_range(result, shape);
  return result;
}

static bool hasOneElement(Value value) {
  return llvm::all_of(shapeOf(value), [](int64_t e) { return e == 1; });
}

/// Does `order` leave the elements of a tensor of that shape where they are?
static bool movesNothing(ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  int64_t last = -1;
  for (int64_t d : order) {
    if (shape[d] == 1)
      continue;
    if (d < last)
      return false;
    last = d;
  }
  return true;
}

/// The order of dimensions `from` with which a reshape to `to` gives that in
/// `order`; nothing if there is none. Dimensions that the reshape joins or
/// divides must stay together.
static std::optional<Order> beforeReshape(ArrayRef<int64_t> from,
                                          ArrayRef<int64_t> to,
                                          ArrayRef<int64_t> order) {
  // Dimensions of both that hold the same elements, by the last one of `to`.
  struct Group {
    Order from, to;
  };
  SmallVector<Group> groups;
  SmallVector<size_t> groupOf(to.size(), 0);
  size_t i = 0, j = 0;
  while (true) {
    while (i < from.size() && from[i] == 1)
      ++i;
    while (j < to.size() && to[j] == 1)
      ++j;
    if (i == from.size() || j == to.size())
      break;
    Group group;
    int64_t left = 1, right = 1;
    do {
      const bool fromFirst = left <= right;
      size_t &at = fromFirst ? i : j;
      ArrayRef<int64_t> shape = fromFirst ? from : to;
      if (at == shape.size())
        return std::nullopt;
      (fromFirst ? left : right) *= shape[at];
      if (shape[at] != 1)
        (fromFirst ? group.from : group.to).push_back(static_cast<int64_t>(at));
      ++at;
    } while (left != right);
    for (int64_t d : group.to)
      groupOf[d] = groups.size();
    groups.push_back(std::move(group));
  }
  Order result;
  for (size_t d = 0; d < order.size();) {
    if (to[order[d]] == 1) {
      ++d;
      continue;
    }
    const Group &group = groups[groupOf[order[d]]];
    for (int64_t expected : group.to) {
      while (d < order.size() && to[order[d]] == 1)
        ++d;
      if (d == order.size() || order[d++] != expected)
        return std::nullopt;
    }
    llvm::append_range(result, group.from);
  }
  // What has one element only stays behind what it was behind.
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] == 1) {
      auto before = llvm::find(result, static_cast<int64_t>(d) - 1);
      result.insert(d == 0 ? result.begin() : std::next(before),
                    static_cast<int64_t>(d));
    }
  return result;
}

/// The order in which `op` must have its operands to give its result in
/// `order`; nothing if it computes something else then.
static std::optional<Order> orderOfOperands(Operation *op,
                                            ArrayRef<int64_t> order) {
  if (isa<UnaryOp, BinaryOp, SelectOp, CastOp, SliceOp, ConcatOp, ExpandOp>(op))
    return Order(order);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return beforeReshape(shapeOf(reshape.getX()), shapeOf(reshape.getY()),
                         order);
  return std::nullopt;
}

namespace {
/// One transposition on its way up.
class Move {
public:
  Move(Maker &maker, TransposeOp last) : maker(maker), last(last) {}

  /// Moves it if that leaves fewer. Operators that are gone go to `erased`.
  bool run(DenseSet<Operation *> &erased) {
    if (!plan() || !isWorthwhile())
      return false;
    build();
    auto erase = [&](Operation *op) {
      erased.insert(op);
      op->erase();
    };
    erase(last);
    for (Operation *op : passed) // readers first
      erase(op);
    for (Operation *op : met)
      if (op->use_empty())
        erase(op);
    return true;
  }

private:
  bool isPassed(Operation *op) const { return passed.contains(op); }

  bool want(Value value, const Order &order) {
    if (hasOneElement(value))
      return true;
    auto [known, isNew] = wanted.insert({value, order});
    return isNew || known->second == order;
  }

  /// Finds what is computed in another order, the latest first, so that all
  /// readers of an operator are known. False: something is wanted in two.
  bool plan() {
    if (!want(last.getX(), Order(last.getPerm())))
      return false;
    SmallVector<Operation *> open;
    auto add = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && op->getNumResults() == 1 && !llvm::is_contained(open, op))
        open.push_back(op);
    };
    add(last.getX());
    while (!open.empty()) {
      auto latest = llvm::max_element(open, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      Operation *op = *latest;
      open.erase(latest);
      const Order order = wanted.lookup(op->getResult(0));
      if (order.size() != shapeOf(op->getResult(0)).size() ||
          !llvm::all_of(op->getUsers(), [&](Operation *user) {
            return user == last || isPassed(user);
          }))
        continue;
      std::optional<Order> before = orderOfOperands(op, order);
      if (!before)
        continue;
      passed.insert(op);
      for (Value operand : op->getOperands()) {
        if (!want(operand, *before))
          return false;
        if (!hasOneElement(operand))
          add(operand);
      }
    }
    return true;
  }

  /// The order in which `value`, which is wanted in `order`, is there before a
  /// transposition, and that one's operand; itself without one.
  static std::pair<Value, Order> source(Value value, const Order &order) {
    auto before = value.getDefiningOp<TransposeOp>();
    if (!before || order.size() != before.getPerm().size())
      return {value, order};
    return {before.getX(), permuted(before.getPerm(), order)};
  }

  bool isWorthwhile() {
    size_t before = 1, after = 0;
    for (auto &[value, order] : wanted) {
      Operation *op = value.getDefiningOp();
      if (op && isPassed(op))
        continue;
      const auto [from, way] = source(value, order);
      if (from != value) {
        met.push_back(op);
        before += llvm::all_of(op->getUsers(), [&](Operation *user) {
          return user == last || isPassed(user);
        });
      }
      after += !movesNothing(ranked(from, way.size()), way);
    }
    return after < before;
  }

  /// `value` in the order in which it is wanted, for `reader`.
  Value moved(Value value, Operation *reader) {
    if (hasOneElement(value))
      return value;
    Value &result = made[value];
    if (result)
      return result;
    const auto [from, way] = source(value, wanted.lookup(value));
    const Order shape = ranked(from, way.size());
    const std::string name = (nameOf(reader) + ".moved").str();
    maker.insertBefore(reader);
    result = movesNothing(shape, way)
                 ? maker.reshape(name, from, permuted(shape, way))
                 : maker.transpose(name, maker.reshape(name, from, shape), way);
    return result;
  }

  void build() {
    for (Operation *op : llvm::reverse(passed)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(moved(operand, op));
      const Order order = wanted.lookup(op->getResult(0));
      const Order shape = permuted(shapeOf(op->getResult(0)), order);
      Value &result = made[op->getResult(0)];
      if (isa<ReshapeOp>(op) && shapeOf(operands[0]) == ArrayRef(shape)) {
        result = operands[0];
        continue;
      }
      Operation *copy = op->clone();
      copy->setOperands(operands);
      auto type = cast<RankedTensorType>(copy->getResult(0).getType());
      copy->getResult(0).setType(type.clone(shape));
      if (auto slice = dyn_cast<SliceOp>(copy))
        slice.setStarts(permuted(slice.getStarts(), order));
      if (auto concat = dyn_cast<ConcatOp>(copy))
        concat.setAxis(std::distance(
            order.begin(),
            llvm::find(order, static_cast<int64_t>(concat.getAxis()))));
      maker.insertBefore(op);
      maker.builder.insert(copy);
      result = copy->getResult(0);
    }
    last.getY().replaceAllUsesWith(moved(last.getX(), last));
  }

  Maker &maker;
  TransposeOp last;
  /// What is wanted in another order, and in which; operators are those that
  /// compute it so (`passed`, readers first), or the value is moved itself.
  llvm::MapVector<Value, Order> wanted;
  SetVector<Operation *> passed;
  SmallVector<Operation *> met; ///< transposes whose operands are moved
  DenseMap<Value, Value> made;
};
} // namespace

size_t rewriting::moveTransposes(func::FuncOp main) {
  Maker maker(main);
  SmallVector<TransposeOp> all(main.front().getOps<TransposeOp>());
  DenseSet<Operation *> erased;
  size_t places = 0;
  // The last ones first: they meet those before.
  for (TransposeOp op : llvm::reverse(all))
    if (!erased.contains(op))
      places += Move(maker, op).run(erased);
  return places;
}
