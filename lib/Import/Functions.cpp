//===- Functions.cpp - functions of a model -------------------------------===//

#include "Functions.h"

#include "Fold.h"
#include "Graph.h"
#include "NewerFields.h"
#include "OpTable.h"
#include "OpVersions.h"

#include "llvm/ADT/STLExtras.h"

using namespace ffc::importer;
using google::protobuf::RepeatedPtrField;
using llvm::StringRef;
using llvm::Twine;
using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;

/// More would be a mistake: functions that call others twice grow fast.
static constexpr int64_t kMaxNodes = 1'000'000;

/// Of calls within each other, which are expanded recursively.
static constexpr size_t kMaxCalls = 100;

/// How a function and its calls are found.
static std::string keyOf(const std::string &name, const std::string &overload) {
  return overload.empty() ? name : name + ":" + overload;
}

static std::string keyOf(const FunctionProto &function) {
  return keyOf(operatorName(function.domain(), function.name()),
               overloadOf(function));
}

namespace {

/// Names of values in the model, each with the number of those that wanted it.
using Names = llvm::StringMap<int>;

/// One call: what the names of the function stand for in the graph around it.
class Call {
public:
  Call(const FunctionProto &function, const NodeProto &node, Names &taken)
      : function(function), node(node), taken(taken) {
    StringRef name = node.name();
    for (const std::string &output : node.output())
      if (name.empty())
        name = output;
    prefix = (name.empty() ? StringRef(node.op_type()) : name).str() + ".";
    for (const onnx::OperatorSetIdProto &imported : function.opset_import())
      if (isStandardDomain(imported.domain()))
        opset = imported.version();
  }

  /// Binds operands, results and attributes.
  llvm::Error bind();

  /// A node of the function as it is in the graph around the call.
  NodeProto translate(const NodeProto &inner);

  /// What passes an operand of the function on as its result.
  std::vector<NodeProto> passed() const;

private:
  const FunctionProto &function;
  const NodeProto &node;
  Names &taken;
  std::string prefix;
  std::optional<int64_t> opset; ///< of the function's nodes
  llvm::StringMap<std::string> values;
  llvm::StringMap<AttributeProto> attributes;

  const std::string &valueOf(const std::string &inner);
  void translate(RepeatedPtrField<std::string> *names) {
    for (std::string &name : *names)
      name = valueOf(name);
  }
  void translate(GraphProto *graph);
};

/// Replaces the calls in a model.
class Inliner {
public:
  explicit Inliner(onnx::ModelProto &model) : model(model) {}
  llvm::Error run();

private:
  onnx::ModelProto &model;
  llvm::StringMap<const FunctionProto *> functions;
  Names taken;
  /// The functions that calls are within, outermost first.
  llvm::SmallVector<const FunctionProto *> within;
  int64_t made = 0;

  void addNames(const GraphProto &graph);
  const FunctionProto *functionOf(const NodeProto &node) const;
  llvm::Error expand(RepeatedPtrField<NodeProto> *nodes);
  llvm::Error expandNode(NodeProto *node, RepeatedPtrField<NodeProto> &out);
  llvm::Error expandCall(const FunctionProto &function, const NodeProto &node,
                         RepeatedPtrField<NodeProto> &out);
};

} // namespace

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

llvm::Error Call::bind() {
  auto expectAtMost = [&](int most, int found, StringRef what) {
    return found <= most ? llvm::Error::success()
                         : makeError("its function has " + Twine(most) + " " +
                                     what + ", found " + Twine(found));
  };
  if (auto error =
          expectAtMost(function.input_size(), node.input_size(), "operands"))
    return error;
  if (auto error =
          expectAtMost(function.output_size(), node.output_size(), "results"))
    return error;
  if (opset && *opset < kOldestOpset)
    return makeError("its function is of opset " + Twine(*opset) +
                     ", expected " + Twine(kOldestOpset) + " or later");
  values[""] = "";
  for (int i = 0; i < function.input_size(); ++i)
    values[function.input(i)] = i < node.input_size() ? node.input(i) : "";
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i)
    if (!node.output(i).empty())
      values.try_emplace(function.output(i), node.output(i));

  for (AttributeProto &attribute : defaultAttributesOf(function))
    attributes[attribute.name()] = std::move(attribute);
  for (const AttributeProto &attribute : node.attribute()) {
    if (!attributes.count(attribute.name()) &&
        !llvm::is_contained(function.attribute(), attribute.name()))
      return makeError("its function has no attribute '" + attribute.name() +
                       "'");
    attributes[attribute.name()] = attribute;
  }
  return llvm::Error::success();
}

const std::string &Call::valueOf(const std::string &inner) {
  auto [value, isNew] = values.try_emplace(inner);
  if (isNew) {
    const std::string wanted = prefix + inner;
    std::string name = wanted;
    while (!taken.try_emplace(name, 0).second)
      name = wanted + "_" + std::to_string(++taken[wanted]);
    value->second = name;
  }
  return value->second;
}

void Call::translate(GraphProto *graph) {
  for (auto *list : {graph->mutable_input(), graph->mutable_output(),
                     graph->mutable_value_info()})
    for (onnx::ValueInfoProto &value : *list)
      value.set_name(valueOf(value.name()));
  for (onnx::TensorProto &tensor : *graph->mutable_initializer())
    tensor.set_name(valueOf(tensor.name()));
  for (NodeProto &inner : *graph->mutable_node())
    inner = translate(inner);
}

NodeProto Call::translate(const NodeProto &inner) {
  NodeProto result = inner;
  if (!inner.name().empty())
    result.set_name(prefix + inner.name());
  translate(result.mutable_input());
  translate(result.mutable_output());
  if (opset)
    setOwnOpset(result, *opset);
  result.clear_attribute();
  for (const AttributeProto &attribute : inner.attribute()) {
    AttributeProto own = attribute;
    if (!attribute.ref_attr_name().empty()) {
      // A function's attribute that is not given is not given here either.
      auto given = attributes.find(attribute.ref_attr_name());
      if (given == attributes.end())
        continue;
      own = given->second;
      own.set_name(attribute.name());
      *result.add_attribute() = std::move(own);
      continue; // its graphs are those of the call's surroundings
    }
    if (own.has_g())
      translate(own.mutable_g());
    for (GraphProto &graph : *own.mutable_graphs())
      translate(&graph);
    *result.add_attribute() = std::move(own);
  }
  return result;
}

std::vector<NodeProto> Call::passed() const {
  std::vector<NodeProto> nodes;
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &from = values.lookup(function.output(i));
    if (node.output(i).empty() || from == node.output(i))
      continue;
    NodeProto &identity = nodes.emplace_back();
    identity.set_op_type("Identity");
    identity.add_input(from);
    identity.add_output(node.output(i));
  }
  return nodes;
}

//===----------------------------------------------------------------------===//
// All calls
//===----------------------------------------------------------------------===//

void Inliner::addNames(const GraphProto &graph) {
  for (const auto *list : {&graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto &value : *list)
      taken.try_emplace(value.name(), 0);
  for (const onnx::TensorProto &tensor : graph.initializer())
    taken.try_emplace(tensor.name(), 0);
  for (const NodeProto &node : graph.node()) {
    for (const std::string &output : node.output())
      taken.try_emplace(output, 0);
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        addNames(attribute.g());
      for (const GraphProto &inner : attribute.graphs())
        addNames(inner);
    }
  }
}

const FunctionProto *Inliner::functionOf(const NodeProto &node) const {
  std::string name = operatorName(node.domain(), node.op_type());
  if (lookupOp(name) || lookupFolder(name))
    return nullptr;
  return functions.lookup(keyOf(name, overloadOf(node)));
}

llvm::Error Inliner::expandCall(const FunctionProto &function,
                                const NodeProto &node,
                                RepeatedPtrField<NodeProto> &out) {
  auto error = [&](const Twine &message) {
    StringRef name = node.name();
    if (name.empty() && node.output_size() != 0)
      name = node.output(0);
    return makeError(describe(node, name) + ": " + message);
  };
  if (llvm::is_contained(within, &function))
    return error("function '" + keyOf(function) + "' calls itself");
  if (within.size() == kMaxCalls)
    return error("expected at most " + Twine(kMaxCalls) +
                 " calls of functions within each other");
  Call call(function, node, taken);
  if (llvm::Error failure = call.bind())
    return error(llvm::toString(std::move(failure)));
  within.push_back(&function);
  for (const NodeProto &inner : function.node()) {
    NodeProto translated = call.translate(inner);
    if (llvm::Error failure = expandNode(&translated, out))
      return failure;
  }
  within.pop_back();
  for (NodeProto &identity : call.passed())
    *out.Add() = std::move(identity);
  return llvm::Error::success();
}

llvm::Error Inliner::expandNode(NodeProto *node,
                                RepeatedPtrField<NodeProto> &out) {
  if (++made > kMaxNodes)
    return makeError("expected at most " + Twine(kMaxNodes) +
                     " nodes after functions are inlined");
  if (const FunctionProto *function = functionOf(*node))
    return expandCall(*function, *node, out);
  for (AttributeProto &attribute : *node->mutable_attribute()) {
    if (attribute.has_g())
      if (llvm::Error error = expand(attribute.mutable_g()->mutable_node()))
        return error;
    for (GraphProto &inner : *attribute.mutable_graphs())
      if (llvm::Error error = expand(inner.mutable_node()))
        return error;
  }
  *out.Add() = std::move(*node);
  return llvm::Error::success();
}

llvm::Error Inliner::expand(RepeatedPtrField<NodeProto> *nodes) {
  RepeatedPtrField<NodeProto> expanded;
  for (NodeProto &node : *nodes)
    if (llvm::Error error = expandNode(&node, expanded))
      return error;
  nodes->Swap(&expanded);
  return llvm::Error::success();
}

llvm::Error Inliner::run() {
  for (const FunctionProto &function : model.functions()) {
    std::string key = keyOf(function);
    if (!functions.try_emplace(key, &function).second)
      return makeError("function '" + key + "' is defined twice");
  }
  if (functions.empty())
    return llvm::Error::success();
  addNames(model.graph());
  return expand(model.mutable_graph()->mutable_node());
}

llvm::Error ffc::importer::inlineFunctions(onnx::ModelProto &model) {
  return Inliner(model).run();
}
