//===- LoopValues.cpp - what values in a loop are made of -----------------===//

#include "LoopValues.h"

#include "Fold.h"
#include "Graph.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace ffc::importer;
using llvm::StringRef;
using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

const GraphProto *ffc::importer::graphOf(const NodeProto &node,
                                         StringRef attribute) {
  const AttributeProto *found = findAttribute(node, attribute);
  return found && found->has_g() ? &found->g() : nullptr;
}

int64_t ffc::importer::integerIn(const NodeProto &node, StringRef attribute,
                                 int64_t missing) {
  const AttributeProto *found = findAttribute(node, attribute);
  return found ? found->i() : missing;
}

Definitions::Definitions(const GraphProto &graph) {
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const TensorProto &tensor : graph.initializer()) {
    names.insert(tensor.name());
    tensors[tensor.name()] = &tensor;
  }
  for (const NodeProto &node : graph.node())
    for (const std::string &output : node.output()) {
      if (output.empty())
        continue;
      names.insert(output);
      if (isStandardDomain(node.domain()))
        makers[output] = &node;
    }
}

/// Is it the same in all iterations, and visible around the loop?
bool LoopValues::isOutside(StringRef value) const {
  return llvm::none_of(inside, [&](const Definitions &level) {
    return level.names.contains(value);
  });
}

/// The node in the loop that makes `value`, if it has operands.
const NodeProto *LoopValues::makerOf(StringRef value, StringRef opType) const {
  for (const Definitions &level : llvm::reverse(inside)) {
    if (!level.names.contains(value))
      continue;
    const NodeProto *node = level.makers.lookup(value);
    return node && node->input_size() > 0 &&
                   (opType.empty() || node->op_type() == opType)
               ? node
               : nullptr;
  }
  return nullptr;
}

/// The node in the loop or around it that makes `value`.
const NodeProto *LoopValues::anyMakerOf(StringRef value) const {
  for (const Definitions &level : llvm::reverse(inside))
    if (level.names.contains(value))
      return level.makers.lookup(value);
  return outer.makers.lookup(value);
}

/// The tensor that a constant has.
const TensorProto *LoopValues::tensorOf(StringRef value) const {
  const NodeProto *node = anyMakerOf(value);
  if (node) {
    const AttributeProto *given = findAttribute(*node, "value");
    return node->op_type() == "Constant" && given && given->has_t()
               ? &given->t()
               : nullptr;
  }
  for (const Definitions &level : llvm::reverse(inside))
    if (level.names.contains(value))
      return level.tensors.lookup(value);
  return outer.tensors.lookup(value);
}

/// Does the node change no more than the shape or type of a number?
static bool keepsNumbers(const NodeProto &node) {
  if (node.op_type() == "Cast") {
    const int64_t to = integerIn(node, "to", 0);
    return to == TensorProto::INT64 || to == TensorProto::INT32;
  }
  return llvm::is_contained(
      {"Reshape", "Squeeze", "Unsqueeze", "Identity", "CastLike"},
      node.op_type());
}

/// What has the numbers of `value`, which nodes in the loop give other shapes
/// and types.
StringRef LoopValues::uncast(StringRef value) const {
  for (int i = 0; i < kMostSteps; ++i) {
    const NodeProto *node = makerOf(value);
    if (!node || !keepsNumbers(*node))
      break;
    value = node->input(0);
  }
  return value;
}

/// The one integer, or bool, of a constant.
std::optional<int64_t> LoopValues::integerOf(StringRef value) const {
  for (int i = 0; i < kMostSteps; ++i) {
    const NodeProto *node = anyMakerOf(value);
    if (!node || !keepsNumbers(*node) || node->input_size() == 0)
      break;
    value = node->input(0);
  }
  if (const NodeProto *node = anyMakerOf(value);
      node && node->op_type() == "Constant" && node->attribute_size() == 1) {
    const AttributeProto &given = node->attribute(0);
    if (given.type() == AttributeProto::INT)
      return given.i();
    if (given.ints_size() == 1)
      return given.ints(0);
  }
  const TensorProto *tensor = tensorOf(value);
  if (!tensor)
    return std::nullopt;
  if (tensor->data_type() == TensorProto::BOOL) {
    if (tensor->raw_data().size() == 1)
      return tensor->raw_data()[0] != 0;
    if (tensor->int32_data_size() == 1)
      return tensor->int32_data(0) != 0;
  }
  if (tensor->data_type() != TensorProto::INT64)
    return std::nullopt;
  if (tensor->int64_data_size() == 1)
    return tensor->int64_data(0);
  int64_t number;
  if (tensor->raw_data().size() != sizeof number)
    return std::nullopt;
  std::memcpy(&number, tensor->raw_data().data(), sizeof number);
  return number;
}

/// Does a loop with this condition go on? Without one it does.
bool LoopValues::isTrue(StringRef value) const {
  if (value.empty())
    return true;
  for (int i = 0; i < kMostSteps; ++i) {
    const NodeProto *node = anyMakerOf(value);
    if (!node || node->input_size() == 0 ||
        (node->op_type() != "Cast" && node->op_type() != "Identity"))
      break;
    value = node->input(0);
  }
  auto known = integerOf(value);
  return known && *known != 0;
}

/// Is it zero whatever is trained? Initializers around the loop may be
/// parameters.
bool LoopValues::isZero(StringRef value) const {
  const NodeProto *node = anyMakerOf(value);
  if (!node && isOutside(value))
    return false;
  if (const AttributeProto *floats =
          node ? findAttribute(*node, "value_floats") : nullptr)
    return node->op_type() == "Constant" && floats->floats_size() == 1 &&
           floats->floats(0) == 0;
  const TensorProto *tensor = tensorOf(value);
  return tensor && tensor->data_type() == TensorProto::FLOAT &&
         tensor->data_location() == TensorProto::DEFAULT &&
         llvm::all_of(tensor->float_data(), [](float x) { return x == 0; }) &&
         llvm::all_of(tensor->raw_data(), [](char byte) { return byte == 0; });
}

/// Is it a row of zeros, [1, ...]?
bool LoopValues::isZeroRow(StringRef value) const {
  if (const TensorProto *tensor = tensorOf(value))
    return isZero(value) && tensor->dims_size() > 0 && tensor->dims(0) == 1;
  const NodeProto *expand = anyMakerOf(value);
  if (!expand || expand->op_type() != "Expand" || expand->input_size() != 2)
    return false;
  const NodeProto *shape = anyMakerOf(expand->input(1));
  return isZero(expand->input(0)) && shape && shape->op_type() == "Concat" &&
         shape->input_size() == 2 && integerOf(shape->input(0)) == 1;
}

/// The only one of a node's axes, which an attribute or operand 1 has.
std::optional<int64_t> LoopValues::axisOf(const NodeProto &node) const {
  if (const AttributeProto *axes = findAttribute(node, "axes"))
    return axes->ints_size() == 1 ? std::optional(axes->ints(0)) : std::nullopt;
  return node.input_size() > 1 ? integerOf(node.input(1)) : std::nullopt;
}

/// Neighbours along dimension 0.
bool LoopValues::isPlainSlice(const NodeProto &node) const {
  return node.op_type() == "Slice" && node.input_size() >= 3 &&
         (node.input_size() < 4 || integerOf(node.input(3)) == 0) &&
         (node.input_size() < 5 || integerOf(node.input(4)) == 1);
}

/// `value` less the number of the bag.
std::optional<int64_t> LoopValues::stepsFrom(StringRef value) const {
  int64_t steps = 0;
  for (int i = 0; i < kMostSteps; ++i) {
    value = uncast(value);
    if (value == index)
      return steps;
    const NodeProto *sum = makerOf(value, "Add");
    auto more =
        sum && sum->input_size() == 2 ? integerOf(sum->input(1)) : std::nullopt;
    if (!more || *more < 0 || *more > INT32_MAX)
      return std::nullopt;
    steps += *more;
    value = sum->input(0);
  }
  return std::nullopt;
}

std::optional<ListElement> LoopValues::elementOf(StringRef value) const {
  const NodeProto *node = makerOf(uncast(value));
  if (!node || node->input_size() < 2 || !isOutside(node->input(0)))
    return std::nullopt;
  auto first = stepsFrom(node->input(1));
  const bool isElement =
      node->op_type() == "Gather" && integerIn(*node, "axis", 0) == 0;
  if (!first || !(isElement || (isPlainSlice(*node) &&
                                stepsFrom(node->input(2)) == *first + 1)))
    return std::nullopt;
  ListElement bound{node->input(0), *first};
  // The list may be the rest of another.
  for (int i = 0; i < kMostSteps; ++i) {
    const NodeProto *rest = outer.makers.lookup(bound.list);
    auto from =
        rest && isPlainSlice(*rest) ? integerOf(rest->input(1)) : std::nullopt;
    if (!from || *from < 0 || *from > INT32_MAX)
      break;
    bound = {rest->input(0), bound.offset + *from};
  }
  return bound;
}
