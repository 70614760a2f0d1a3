//===- JoinBags.cpp - loops over bags of rows -----------------------------===//
//
// What the body's results are made of is followed back; whatever is not known
// leaves the loop as it is.
//
//===----------------------------------------------------------------------===//

#include "JoinBags.h"

#include "Fold.h"
#include "Graph.h"
#include "LoopValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

using namespace ffc::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

namespace {

/// One loop that is looked at.
class BagLoop : LoopValues {
public:
  BagLoop(const Definitions &outer, const Uses &uses, const NodeProto &loop)
      : LoopValues(outer), outer(outer), uses(uses), loop(loop) {}

  /// The nodes that do the same and are added to the graph; nothing if it is
  /// another loop.
  std::optional<std::vector<NodeProto>> join();

  /// The node that makes one tensor of the loop's sequence, if there is one.
  const NodeProto *last = nullptr;

private:
  const NodeProto *reductionOf(StringRef value, bool keepsDims) const;
  bool isBagSlice(const NodeProto *node);
  bool hoist(StringRef value, std::string &hoisted, int depth = 0);
  bool matchScanned();
  bool matchSequence();
  bool matchRows(const NodeProto &choice, StringRef value);
  bool isLastBag(StringRef condition) const;
  bool matchLastMean(StringRef value);
  template <class Match>
  bool inBranch(const NodeProto &choice, StringRef value, StringRef branch,
                Match match);
  NodeProto bagNode(StringRef result) const;

  const Definitions &outer;
  const Uses &uses;
  const NodeProto &loop;
  const GraphProto *body = nullptr;
  StringRef count;
  std::string rows, reduction, lastBound;
  std::optional<ListElement> start; ///< the bound before the bag
  std::vector<NodeProto> added;
  llvm::StringMap<std::string> hoistedNames;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Are these the rows of the bag, and those of all other slices?
bool BagLoop::isBagSlice(const NodeProto *node) {
  if (!node || !isPlainSlice(*node) || !isOutside(node->input(0)))
    return false;
  auto from = elementOf(node->input(1)), to = elementOf(node->input(2));
  if (!from || !to || !(*to == from->next()) || (start && !(*start == *from)))
    return false;
  start = from;
  return true;
}

/// What computes `value` from slices of the bag, on all rows at once, added to
/// the graph. All of it must work row by row.
bool BagLoop::hoist(StringRef value, std::string &hoisted, int depth) {
  if (auto found = hoistedNames.find(value); found != hoistedNames.end()) {
    hoisted = found->second;
    return true;
  }
  const NodeProto *node = makerOf(value);
  if (!node || depth > kMostSteps)
    return false;
  if (node->op_type() == "Slice") {
    hoisted = node->input(0);
    return isBagSlice(node);
  }
  NodeProto copy = *node;
  int first = 0, end = 1;
  if (node->op_type() == "Gather" && node->input_size() == 2 &&
      integerIn(*node, "axis", 0) == 0 && isOutside(node->input(0))) {
    first = 1; // rows of a table
    end = 2;
  } else if (node->op_type() == "Mul") {
    // Rows times a number each. Other factors, of fewer dimensions, would be
    // spread along the rows.
    end = node->input_size();
    if (end != 2 || !(makerOf(node->input(0), "Unsqueeze") ||
                      makerOf(node->input(1), "Unsqueeze")))
      return false;
  } else if (node->op_type() == "Unsqueeze") {
    auto axis = axisOf(*node);
    if (axis != 1 && axis != -1)
      return false;
    // The list of axes may be in the loop.
    if (node->input_size() > 1 && !isOutside(node->input(1))) {
      const NodeProto *axes = anyMakerOf(node->input(1));
      if (!axes || axes->op_type() != "Constant")
        return false;
      NodeProto constant = *axes;
      constant.set_output(0, loop.output(0) + "/" + value.str() + "/axes");
      copy.set_input(1, constant.output(0));
      added.push_back(std::move(constant));
    }
  } else if (node->op_type() != "Cast" && node->op_type() != "Identity") {
    return false;
  }
  for (int i = first; i < end; ++i)
    if (!hoist(node->input(i), *copy.mutable_input(i), depth + 1))
      return false;
  // Loops may use the same names.
  hoisted = loop.output(0) + "/" + value.str();
  hoistedNames[value] = hoisted;
  copy.set_output(0, hoisted);
  added.push_back(std::move(copy));
  return true;
}

/// The node that makes `value` and reduces rows.
const NodeProto *BagLoop::reductionOf(StringRef value, bool keepsDims) const {
  const NodeProto *node = makerOf(value);
  return node &&
                 llvm::is_contained({"ReduceSum", "ReduceMean", "ReduceMax"},
                                    node->op_type()) &&
                 axisOf(*node) == 0 &&
                 (integerIn(*node, "keepdims", 1) != 0) == keepsDims
             ? node
             : nullptr;
}

static std::string nameOfReduction(const NodeProto &node) {
  return node.op_type() == "ReduceMean"  ? "mean"
         : node.op_type() == "ReduceMax" ? "max"
                                         : "sum";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loop stacks what its iterations make, which look the rows up.
bool BagLoop::matchScanned() {
  if (loop.input_size() != 2 || loop.output_size() != 1 ||
      body->input_size() != 2 || body->output_size() != 2)
    return false;
  index = body->input(0).name();
  count = loop.input(0);
  const std::string &goesOn = body->output(0).name();
  const NodeProto *reduce =
      reductionOf(body->output(1).name(), /*keepsDims=*/false);
  if (count.empty() || !reduce || !isTrue(loop.input(1)) ||
      !(goesOn == body->input(1).name() || isTrue(goesOn)))
    return false;
  reduction = nameOfReduction(*reduce);
  return hoist(reduce->input(0), rows) && start.has_value();
}

/// Rows are inserted into a sequence, and concatenated after the loop.
bool BagLoop::matchSequence() {
  if (loop.input_size() != 4 || loop.output_size() != 2 ||
      body->input_size() != 4 || body->output_size() != 3 ||
      !loop.input(0).empty() || !isTrue(loop.input(1)))
    return false;
  for (int carried : {0, 1}) {
    const NodeProto *insert =
        makerOf(body->output(1 + carried).name(), "SequenceInsert");
    if (!insert)
      continue;
    index = body->input(3 - carried).name();
    const NodeProto *empty = outer.makers.lookup(loop.input(2 + carried));
    if (insert->input_size() != 2 ||
        insert->input(0) != body->input(2 + carried).name() || !empty ||
        empty->op_type() != "SequenceEmpty" ||
        integerOf(loop.input(3 - carried)) != 0 ||
        stepsFrom(body->output(2 - carried).name()) != 1 ||
        uses.isUsed(loop.output(1 - carried)))
      return false;
    // While bags are left.
    const NodeProto *less = makerOf(body->output(0).name(), "Less");
    if (!less || less->input_size() != 2 || stepsFrom(less->input(0)) != 1 ||
        !isOutside(less->input(1)))
      return false;
    count = less->input(1);
    last = uses.onlyReader(loop.output(carried));
    const NodeProto *choice = makerOf(insert->input(1), "If");
    return last && last->op_type() == "ConcatFromSequence" &&
           last->output_size() == 1 &&
           outer.makers.lookup(last->output(0)) == last &&
           integerIn(*last, "axis", 1) == 0 &&
           integerIn(*last, "new_axis", 0) == 0 && choice &&
           matchRows(*choice, insert->input(1));
  }
  return false;
}

/// Does `match` hold for what a branch makes of the If's result `value`?
template <class Match>
bool BagLoop::inBranch(const NodeProto &choice, StringRef value,
                       StringRef branch, Match match) {
  const GraphProto *graph = graphOf(choice, branch);
  const auto result =
      llvm::find(choice.output(), value) - choice.output().begin();
  if (!graph || result >= graph->output_size())
    return false;
  enter(*graph);
  const bool matches = match(graph->output(static_cast<int>(result)).name());
  leave();
  return matches;
}

/// Bags without rows are 0; of the others, the last one may be on its own.
bool BagLoop::matchRows(const NodeProto &choice, StringRef value) {
  const NodeProto *isEmpty = makerOf(choice.input(0), "Equal");
  if (!isEmpty || isEmpty->input_size() != 2)
    return false;
  start = elementOf(isEmpty->input(0));
  if (!start || elementOf(isEmpty->input(1)) != start->next())
    return false;
  auto takeRows = [&](StringRef slice) {
    const NodeProto *node = makerOf(slice, "Slice");
    if (!isBagSlice(node) || (!rows.empty() && rows != node->input(0)))
      return false;
    rows = node->input(0);
    return true;
  };
  return inBranch(choice, value, "then_branch",
                  [&](StringRef zero) { return isZeroRow(zero); }) &&
         inBranch(choice, value, "else_branch", [&](StringRef full) {
           // Means: a sum is divided for the last bag.
           if (const NodeProto *lastOrNot = makerOf(full, "If")) {
             reduction = "mean";
             return isLastBag(lastOrNot->input(0)) &&
                    inBranch(*lastOrNot, full, "else_branch",
                             [&](StringRef mean) {
                               const NodeProto *node = reductionOf(mean, true);
                               return node && node->op_type() == "ReduceMean" &&
                                      takeRows(node->input(0));
                             }) &&
                    inBranch(*lastOrNot, full, "then_branch",
                             [&](StringRef sum) { return matchLastMean(sum); });
           }
           const NodeProto *node = reductionOf(full, /*keepsDims=*/true);
           if (!node)
             return false;
           reduction = nameOfReduction(*node);
           const std::string &slice = node->input(0);
           const NodeProto *lastOrNot = makerOf(slice, "If");
           if (!lastOrNot)
             return takeRows(slice);
           // The last bag may end elsewhere.
           return reduction == "max" && isLastBag(lastOrNot->input(0)) &&
                  inBranch(*lastOrNot, slice, "else_branch", takeRows) &&
                  inBranch(*lastOrNot, slice, "then_branch",
                           [&](StringRef rest) {
                             const NodeProto *node = makerOf(rest, "Slice");
                             if (!node || !isPlainSlice(*node) ||
                                 rows != node->input(0) ||
                                 elementOf(node->input(1)) != start ||
                                 !isOutside(node->input(2)))
                               return false;
                             lastBound = node->input(2);
                             return true;
                           });
         });
}

/// index == count - 1
bool BagLoop::isLastBag(StringRef condition) const {
  const NodeProto *equal = makerOf(condition, "Equal");
  if (!equal || equal->input_size() != 2 || stepsFrom(equal->input(0)) != 0)
    return false;
  auto number = integerOf(equal->input(1)), all = integerOf(count);
  if (number && all)
    return *number == *all - 1;
  const NodeProto *less = anyMakerOf(equal->input(1));
  return less && less->op_type() == "Sub" && less->input_size() == 2 &&
         less->input(0) == count && integerOf(less->input(1)) == 1;
}

/// A sum of the rows over the last bound less the start, unless that is 0.
bool BagLoop::matchLastMean(StringRef value) {
  const NodeProto *choice = makerOf(value, "If");
  const NodeProto *greater =
      choice ? makerOf(choice->input(0), "Greater") : nullptr;
  if (!greater || greater->input_size() != 2 ||
      integerOf(greater->input(1)) != 0)
    return false;
  const StringRef size = uncast(greater->input(0));
  const NodeProto *difference = makerOf(size, "Sub");
  if (!difference || difference->input_size() != 2 ||
      !isOutside(difference->input(0)) ||
      elementOf(difference->input(1)) != start)
    return false;
  lastBound = difference->input(0);
  auto isSum = [&](StringRef sum) {
    for (int i = 0; i < kMostSteps; ++i) {
      const NodeProto *same = makerOf(sum, "Identity");
      if (!same)
        break;
      sum = same->input(0);
    }
    const NodeProto *node = reductionOf(sum, /*keepsDims=*/true);
    const NodeProto *slice = node ? makerOf(node->input(0), "Slice") : nullptr;
    return node && node->op_type() == "ReduceSum" && isBagSlice(slice) &&
           rows == slice->input(0);
  };
  return inBranch(*choice, value, "else_branch", isSum) &&
         inBranch(*choice, value, "then_branch", [&](StringRef mean) {
           const NodeProto *over = makerOf(mean, "Div");
           if (!over || over->input_size() != 2 || !isSum(over->input(0)))
             return false;
           const NodeProto *cast = makerOf(over->input(1));
           return cast &&
                  (cast->op_type() == "Cast" ||
                   cast->op_type() == "CastLike") &&
                  uncast(cast->input(0)) == size;
         });
}

NodeProto BagLoop::bagNode(StringRef result) const {
  NodeProto node;
  // No operator of ONNX, so no file has one by chance.
  node.set_domain("ffc");
  node.set_op_type("ReduceBags");
  node.set_name(loop.name());
  for (StringRef input : {StringRef(rows), StringRef(start->list), count})
    node.add_input(input.str());
  if (!lastBound.empty())
    node.add_input(lastBound);
  node.add_output(result.str());
  AttributeProto &kind = *node.add_attribute();
  kind.set_name("reduction");
  kind.set_type(AttributeProto::STRING);
  kind.set_s(reduction);
  AttributeProto &first = *node.add_attribute();
  first.set_name("first");
  first.set_type(AttributeProto::INT);
  first.set_i(start->offset);
  return node;
}

std::optional<std::vector<NodeProto>> BagLoop::join() {
  body = graphOf(loop, "body");
  if (!body)
    return std::nullopt;
  enter(*body);
  if (matchScanned())
    added.push_back(bagNode(loop.output(0)));
  else if (matchSequence())
    added.push_back(bagNode(last->output(0)));
  else
    return std::nullopt;
  return std::move(added);
}

void ffc::importer::joinBags(GraphProto &graph) {
  if (llvm::none_of(graph.node(), [](const NodeProto &node) {
        return node.op_type() == "Loop";
      }))
    return;
  const Definitions level(graph);
  const Uses uses(graph);
  GraphProto joined;
  llvm::SmallPtrSet<const NodeProto *, 8> done;
  llvm::DenseMap<const NodeProto *, std::vector<NodeProto>> instead;
  for (const NodeProto &node : graph.node()) {
    if (node.op_type() != "Loop" || !isStandardDomain(node.domain()))
      continue;
    BagLoop loop(level, uses, node);
    if (auto nodes = loop.join()) {
      instead[&node] = std::move(*nodes);
      if (loop.last)
        done.insert(loop.last);
    }
  }
  for (NodeProto &node : *graph.mutable_node()) {
    if (done.contains(&node))
      continue;
    auto found = instead.find(&node);
    if (found == instead.end())
      *joined.add_node() = node;
    else
      for (NodeProto &other : found->second)
        *joined.add_node() = std::move(other);
  }
  graph.mutable_node()->Swap(joined.mutable_node());
}
