//===- JoinBags.cpp - loops over bags of rows -----------------------------===//

#include "JoinBags.h"

#include "Fold.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cstring>
#include <optional>

using namespace ffc::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

namespace {

using Makers = llvm::StringMap<const NodeProto *>;

/// A place in a list of bounds: element `offset` + the number of the bag.
struct Bound {
  std::string list;
  int64_t offset = 0;
  bool operator==(const Bound &o) const {
    return list == o.list && offset == o.offset;
  }
};

/// One loop that is looked at.
class BagLoop {
public:
  BagLoop(const GraphProto &graph, const Makers &outer, const NodeProto &loop);

  /// The nodes that do the same and are added to the graph; nothing if it is
  /// another loop. `uses` has those of the loop's results.
  std::optional<std::vector<NodeProto>> join(const Makers &consumers);

  /// The node that makes one tensor of the loop's sequence, if there is one.
  const NodeProto *last = nullptr;

private:
  void addMakers(const GraphProto &graph);
  const NodeProto *makerOf(StringRef value, StringRef opType = "") const;
  std::optional<int64_t> integerOf(StringRef value) const;
  std::optional<int64_t> stepsFrom(StringRef value) const;
  std::optional<Bound> boundOf(StringRef value) const;
  bool isBagSlice(const NodeProto &node);
  bool hoist(StringRef value, std::string &hoisted);
  bool matchScanned();
  bool matchSequence(const Makers &consumers);
  NodeProto bagNode(StringRef result) const;

  const GraphProto &graph;
  const Makers &outer;
  const NodeProto &loop;
  const GraphProto *body = nullptr;
  Makers makers; ///< of values in the body and the graphs in it
  StringRef index, count;
  std::string rows, reduction;
  std::optional<Bound> start, end;
  std::vector<NodeProto> added;
};

} // namespace

static const GraphProto *graphOf(const NodeProto &node, StringRef attribute) {
  const AttributeProto *found = findAttribute(node, attribute);
  return found && found->has_g() ? &found->g() : nullptr;
}

BagLoop::BagLoop(const GraphProto &graph, const Makers &outer,
                 const NodeProto &loop)
    : graph(graph), outer(outer), loop(loop), body(graphOf(loop, "body")) {
  if (body)
    addMakers(*body);
}

void BagLoop::addMakers(const GraphProto &graph) {
  for (const NodeProto &node : graph.node()) {
    for (const std::string &output : node.output())
      makers[output] = &node;
    for (StringRef branch : {"then_branch", "else_branch"})
      if (const GraphProto *inner = graphOf(node, branch))
        addMakers(*inner);
  }
}

const NodeProto *BagLoop::makerOf(StringRef value, StringRef opType) const {
  const NodeProto *node = makers.lookup(value);
  return node && (opType.empty() || node->op_type() == opType) ? node : nullptr;
}

/// The one integer of a constant.
std::optional<int64_t> BagLoop::integerOf(StringRef value) const {
  const TensorProto *tensor = nullptr;
  for (const GraphProto *in : {body, &graph})
    for (const TensorProto &initializer : in->initializer())
      if (initializer.name() == value)
        tensor = &initializer;
  const NodeProto *node = makers.lookup(value);
  if (!node)
    node = outer.lookup(value);
  if (node && (node->op_type() == "CastLike" || node->op_type() == "Cast" ||
               node->op_type() == "Identity"))
    return integerOf(node->input(0));
  if (node && node->op_type() == "Constant" && node->attribute_size() == 1) {
    const AttributeProto &given = node->attribute(0);
    if (given.type() == AttributeProto::INT)
      return given.i();
    if (given.ints_size() == 1)
      return given.ints(0);
    if (given.has_t())
      tensor = &given.t();
  }
  if (!tensor || tensor->data_type() != TensorProto::INT64)
    return std::nullopt;
  if (tensor->int64_data_size() == 1)
    return tensor->int64_data(0);
  int64_t number;
  if (tensor->raw_data().size() != sizeof number)
    return std::nullopt;
  std::memcpy(&number, tensor->raw_data().data(), sizeof number);
  return number;
}

/// The shape or type of a value may be changed on the way.
static bool keepsNumbers(const NodeProto &node) {
  return llvm::is_contained(
      {"Reshape", "Squeeze", "Unsqueeze", "Identity", "Cast", "CastLike"},
      node.op_type());
}

/// `value` less the number of the bag.
std::optional<int64_t> BagLoop::stepsFrom(StringRef value) const {
  if (value == index)
    return 0;
  const NodeProto *node = makerOf(value);
  if (node && keepsNumbers(*node))
    return stepsFrom(node->input(0));
  if (!node || node->op_type() != "Add")
    return std::nullopt;
  auto steps = stepsFrom(node->input(0));
  auto more = integerOf(node->input(1));
  if (!steps || !more)
    return std::nullopt;
  return *steps + *more;
}

std::optional<Bound> BagLoop::boundOf(StringRef value) const {
  const NodeProto *node = makerOf(value);
  if (node && keepsNumbers(*node))
    return boundOf(node->input(0));
  if (!node || node->input_size() < 2 || makers.count(node->input(0)))
    return std::nullopt;
  auto first = stepsFrom(node->input(1));
  if (!first)
    return std::nullopt;
  if (node->op_type() == "Gather")
    return Bound{node->input(0), *first};
  if (node->op_type() != "Slice" || node->input_size() != 3 ||
      stepsFrom(node->input(2)) != *first + 1)
    return std::nullopt;
  return Bound{node->input(0), *first};
}

/// Are these the rows of the bag, and those of all other slices?
bool BagLoop::isBagSlice(const NodeProto &node) {
  if (node.op_type() != "Slice" || node.input_size() < 3 ||
      makers.count(node.input(0)) ||
      (node.input_size() > 3 && integerOf(node.input(3)) != 0) ||
      node.input_size() > 4)
    return false;
  auto from = boundOf(node.input(1)), to = boundOf(node.input(2));
  if (!from || !to || (start && !(*start == *from && *end == *to)))
    return false;
  start = from;
  end = to;
  return true;
}

/// What computes `value` from slices of the bag, on all rows at once, added to
/// the graph. All of it must work row by row.
bool BagLoop::hoist(StringRef value, std::string &hoisted) {
  hoisted = value.str();
  const NodeProto *node = makerOf(value);
  if (!node)
    return true; // the same in all iterations
  if (node->op_type() == "Slice") {
    hoisted = node->input(0);
    return isBagSlice(*node);
  }
  const bool isGather = node->op_type() == "Gather";
  if (!llvm::is_contained(
          {"Gather", "Mul", "Unsqueeze", "Cast", "Identity", "Constant"},
          node->op_type()) ||
      (isGather && makers.count(node->input(0))))
    return false;
  if (const AttributeProto *axis = findAttribute(*node, "axis");
      isGather && axis && axis->i() != 0)
    return false;
  NodeProto copy = *node;
  for (std::string &input : *copy.mutable_input())
    if (std::string from = input; !hoist(from, input))
      return false;
  added.push_back(std::move(copy));
  return true;
}

static std::string reductionOf(StringRef opType) {
  return opType == "ReduceMean"  ? "mean"
         : opType == "ReduceMax" ? "max"
                                 : "sum";
}

static bool isReduction(const NodeProto &node) {
  return llvm::is_contained({"ReduceSum", "ReduceMean", "ReduceMax"},
                            node.op_type());
}

/// The loop stacks what its iterations make, which look the rows up.
bool BagLoop::matchScanned() {
  if (loop.input_size() != 2 || loop.output_size() != 1 ||
      body->input_size() != 2 || body->output_size() != 2)
    return false;
  index = body->input(0).name();
  count = loop.input(0);
  const NodeProto *reduce = makerOf(body->output(1).name());
  if (!reduce || !isReduction(*reduce))
    return false;
  const AttributeProto *axes = findAttribute(*reduce, "axes"),
                       *keepdims = findAttribute(*reduce, "keepdims");
  const bool isFirst =
      axes ? axes->ints_size() == 1 && axes->ints(0) == 0
           : reduce->input_size() > 1 && integerOf(reduce->input(1)) == 0;
  // The condition does not change.
  const NodeProto *goesOn = makerOf(body->output(0).name());
  if (!isFirst || !keepdims || keepdims->i() != 0 ||
      (goesOn && goesOn->op_type() != "Cast" &&
       goesOn->op_type() != "Identity") ||
      (goesOn && makers.count(goesOn->input(0)) &&
       !makerOf(goesOn->input(0), "Constant")))
    return false;
  reduction = reductionOf(reduce->op_type());
  return hoist(reduce->input(0), rows) && start.has_value();
}

/// Rows are inserted into a sequence, and concatenated after the loop.
bool BagLoop::matchSequence(const Makers &consumers) {
  if (loop.input_size() != 4 || loop.output_size() != 2 ||
      body->input_size() != 4 || body->output_size() != 3)
    return false;
  for (int carried : {0, 1}) {
    const NodeProto *insert =
        makerOf(body->output(1 + carried).name(), "SequenceInsert");
    if (!insert)
      continue;
    index = body->input(3 - carried).name();
    if (insert->input(0) != body->input(2 + carried).name() ||
        insert->input_size() != 2 || integerOf(loop.input(3 - carried)) != 0 ||
        stepsFrom(body->output(2 - carried).name()) != 1)
      return false;
    // While bags are left.
    const NodeProto *less = makerOf(body->output(0).name(), "Less");
    if (!less || stepsFrom(less->input(0)) != 1)
      return false;
    count = less->input(1);
    last = consumers.lookup(loop.output(carried));
    const NodeProto *choice = makerOf(insert->input(1), "If");
    if (!last || last->op_type() != "ConcatFromSequence" || !choice)
      return false;
    // Bags without rows are 0; of the others, the last one may be cut apart.
    const NodeProto *isEmpty = makerOf(choice->input(0), "Equal");
    const GraphProto *full = graphOf(*choice, "else_branch");
    if (!isEmpty || !full)
      return false;
    auto from = boundOf(isEmpty->input(0)), to = boundOf(isEmpty->input(1));
    Makers inside;
    std::swap(inside, makers);
    addMakers(*full);
    std::swap(inside, makers);
    for (const auto &entry : inside) {
      const NodeProto &node = *entry.second;
      if (isReduction(node) && reduction != "mean")
        reduction = reductionOf(node.op_type());
      if (node.op_type() == "Slice" && isBagSlice(node))
        rows = node.input(0);
    }
    return !rows.empty() && !reduction.empty() && start == from && end == to;
  }
  return false;
}

NodeProto BagLoop::bagNode(StringRef result) const {
  NodeProto node;
  // No operator of ONNX, so no file has one by chance.
  node.set_domain("ffc");
  node.set_op_type("ReduceBags");
  node.set_name(loop.name());
  for (StringRef input :
       {StringRef(rows), StringRef(start->list), StringRef(end->list), count})
    node.add_input(input.str());
  node.add_output(result.str());
  AttributeProto &kind = *node.add_attribute();
  kind.set_name("reduction");
  kind.set_type(AttributeProto::STRING);
  kind.set_s(reduction);
  for (auto [name, offset] : {std::pair("first_start", start->offset),
                              std::pair("first_end", end->offset)}) {
    AttributeProto &number = *node.add_attribute();
    number.set_name(name);
    number.set_type(AttributeProto::INT);
    number.set_i(offset);
  }
  return node;
}

std::optional<std::vector<NodeProto>> BagLoop::join(const Makers &consumers) {
  if (!body)
    return std::nullopt;
  if (matchScanned()) {
    added.push_back(bagNode(loop.output(0)));
    return std::move(added);
  }
  added.clear();
  start.reset();
  if (!matchSequence(consumers))
    return std::nullopt;
  added.push_back(bagNode(last->output(0)));
  return std::move(added);
}

void ffc::importer::joinBags(GraphProto &graph) {
  Makers makers, consumers;
  bool hasLoop = false;
  for (const NodeProto &node : graph.node()) {
    hasLoop |= node.op_type() == "Loop";
    for (const std::string &output : node.output())
      makers[output] = &node;
    for (const std::string &input : node.input())
      consumers[input] = &node;
  }
  if (!hasLoop)
    return;
  GraphProto joined;
  llvm::SmallPtrSet<const NodeProto *, 8> done;
  llvm::DenseMap<const NodeProto *, std::vector<NodeProto>> instead;
  for (const NodeProto &node : graph.node()) {
    if (node.op_type() != "Loop")
      continue;
    BagLoop loop(graph, makers, node);
    if (auto nodes = loop.join(consumers)) {
      instead[&node] = std::move(*nodes);
      if (loop.last)
        done.insert(loop.last);
    }
  }
  // The sequences that loops began with.
  llvm::StringSet<> used;
  for (const NodeProto &node : graph.node())
    if (!instead.count(&node))
      used.insert(node.input().begin(), node.input().end());
  for (NodeProto &node : *graph.mutable_node()) {
    if (done.contains(&node) ||
        (node.op_type() == "SequenceEmpty" && !used.contains(node.output(0))))
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
