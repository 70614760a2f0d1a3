//===- PyTorchRestore.cpp - what PyTorch's exporter merged or dropped -----===//
//
// The optimizer of PyTorch's exporter makes one initializer of parameters that
// are equal at the moment, as scales of ones are, and drops biases of zeros.
// Without the optimizer, batch normalisation of a module in training is written
// as if it were not. The call that a node came from still names what it read,
// and how.
//
//===----------------------------------------------------------------------===//

#include "Fold.h"
#include "PyTorchMetadata.h"

#include "llvm/ADT/STLExtras.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::NodeProto;
using onnx::TensorProto;

class PyTorchMetadata::Restorer {
public:
  Restorer(PyTorchMetadata &metadata, onnx::GraphProto &graph)
      : metadata(metadata), graph(graph) {}

  void run() {
    for (const TensorProto &tensor : graph.initializer()) {
      initializers[tensor.name()] = &tensor;
      isTaken.insert(tensor.name());
      if (std::string parameter = parameterOf(tensor.name());
          !parameter.empty())
        isTaken.insert(parameter);
    }
    for (const auto &folded : metadata.foldedFrom)
      for (const std::string &part : folded.second)
        isTaken.insert(part);
    for (NodeProto &node : *graph.mutable_node()) {
      restoreTraining(node);
      const std::vector<std::string> read = metadata.parametersOf(node);
      if (read.empty())
        continue;
      for (int i = 0; i < node.input_size(); ++i)
        separate(node, i, read);
      addBias(node, read);
    }
  }

private:
  PyTorchMetadata &metadata;
  onnx::GraphProto &graph;
  llvm::StringMap<const TensorProto *> initializers;
  /// Parameters that values of the file are or were made of.
  llvm::StringSet<> isTaken;
  /// What a restored parameter was a part of.
  llvm::StringMap<std::string> mergedInto;
  llvm::StringSet<> addedBiases;

  /// batch_norm(..., training, momentum, epsilon) takes the batch's statistics
  /// if `training` is true.
  static void restoreTraining(NodeProto &node) {
    if (node.op_type() != "BatchNormalization" || node.output_size() != 1 ||
        findAttribute(node, "training_mode"))
      return;
    const std::string call = callOf(node);
    if (!StringRef(call).contains("batch_norm") ||
        !StringRef(call).contains(", True, "))
      return;
    onnx::AttributeProto &mode = *node.add_attribute();
    mode.set_name("training_mode");
    mode.set_type(onnx::AttributeProto::INT);
    mode.set_i(1);
  }

  /// The parameter that the value is, or was made of alone.
  std::string parameterOf(StringRef value) const {
    if (auto mark = metadata.marks.find(value); mark != metadata.marks.end())
      return mark->second.kind == "PARAMETER" ? mark->second.target : "";
    std::string only;
    if (auto folded = metadata.foldedFrom.find(value);
        folded != metadata.foldedFrom.end())
      for (const std::string &part : folded->second)
        if (metadata.isListed.contains(part)) {
          if (!only.empty())
            return "";
          only = part;
        }
    return only;
  }

  static bool isBias(const NodeProto &node, int i) {
    return node.op_type() == "Add" || node.op_type() == "Sub" ||
           (i == 2 && node.op_type() != "Where");
  }

  /// Which of the parameters `free` operand i stands for, `shared` being the
  /// name that it has; empty if that cannot be told.
  static std::string choose(const NodeProto &node, int i, StringRef shared,
                            llvm::ArrayRef<std::string> free) {
    StringRef role = isBias(node, i) ? "bias" : "weight";
    for (StringRef wanted : {role, lastComponent(shared)}) {
      auto isWanted = [&](const std::string &parameter) {
        return lastComponent(parameter) == wanted;
      };
      if (llvm::count_if(free, isWanted) == 1)
        return *llvm::find_if(free, isWanted);
    }
    StringRef other = isBias(node, i) ? "weight" : "bias";
    return free.size() == 1 && lastComponent(free.front()) != other
               ? free.front()
               : "";
  }

  void add(TensorProto tensor, const std::string &parameter) {
    tensor.set_name(parameter);
    *graph.add_initializer() = std::move(tensor);
    metadata.marks[parameter] = {"PARAMETER", parameter};
    initializers[parameter] = &graph.initializer(graph.initializer_size() - 1);
    isTaken.insert(parameter);
  }

  /// Gives operand i a value of its own if it is one that another parameter
  /// was merged into.
  void separate(NodeProto &node, int i, llvm::ArrayRef<std::string> read) {
    const std::string value = node.input(i);
    auto tensor = initializers.find(value);
    if (tensor == initializers.end())
      return;
    const std::string shared = parameterOf(value);
    if (shared.empty() || llvm::is_contained(read, shared))
      return;
    std::vector<std::string> free;
    for (const std::string &parameter : read) {
      auto merged = mergedInto.find(parameter);
      if (merged != mergedInto.end() ? merged->second == value
                                     : !isTaken.contains(parameter))
        free.push_back(parameter);
    }
    const std::string parameter = choose(node, i, shared, free);
    if (parameter.empty())
      return;
    if (!initializers.contains(parameter)) {
      add(*tensor->second, parameter);
      mergedInto[parameter] = value;
    }
    if (mergedInto.contains(parameter))
      node.set_input(i, parameter);
  }

  static int64_t integer(const NodeProto &node, StringRef name,
                         int64_t missing) {
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.name() == name)
        return attribute.i();
    return missing;
  }

  /// The channels or features of the result; nothing if the node has no bias,
  /// or its weight is computed or none that it can have.
  std::optional<int64_t> features(const NodeProto &node) const {
    if (node.input_size() < 2)
      return std::nullopt;
    auto weight = initializers.find(node.input(1));
    if (weight == initializers.end() || weight->second->dims_size() < 2)
      return std::nullopt;
    const TensorProto &tensor = *weight->second;
    if (elementCount(Shape(tensor.dims().begin(), tensor.dims().end()))
            .value_or(0) == 0)
      return std::nullopt;
    if (node.op_type() == "Conv")
      return tensor.dims(0);
    if (node.op_type() == "ConvTranspose") {
      const int64_t groups = integer(node, "group", 1);
      if (groups < 1 || groups > tensor.dims(0))
        return std::nullopt;
      return tensor.dims(1) * groups;
    }
    if (node.op_type() == "Gemm")
      return tensor.dims(integer(node, "transB", 0) ? 0 : 1);
    return std::nullopt;
  }

  void addBias(NodeProto &node, llvm::ArrayRef<std::string> read) {
    const std::string rules = rulesOf(node);
    // What follows has gone into the weight, and what the bias was as well.
    if (StringRef(rules).contains("FuseBatchNorm") ||
        !StringRef(rules).contains("RemoveOptionalBias") ||
        (node.input_size() > 2 && !node.input(2).empty()))
      return;
    std::vector<std::string> free;
    for (const std::string &parameter : read)
      if (lastComponent(parameter) == "bias" &&
          (addedBiases.contains(parameter) || !isTaken.contains(parameter)))
        free.push_back(parameter);
    std::optional<int64_t> count = features(node);
    if (free.size() != 1 || !count)
      return;
    if (addedBiases.insert(free.front()).second) {
      TensorProto zeros;
      const TensorProto &weight = *initializers.find(node.input(1))->second;
      zeros.set_data_type(weight.data_type());
      zeros.add_dims(*count);
      zeros.set_raw_data(
          std::string(*count * elementBytes(weight.data_type()), '\0'));
      add(std::move(zeros), free.front());
    }
    if (node.input_size() == 2)
      node.add_input();
    node.set_input(2, free.front());
  }
};

void PyTorchMetadata::restore(onnx::GraphProto &graph) {
  if (!parameters.empty())
    Restorer(*this, graph).run();
}
