//===- Inputs.cpp - graph inputs and their extents ------------------------===//

#include "Inputs.h"

#include "llvm/ADT/StringExtras.h"

using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using onnx::TensorProto;
using Dimension = onnx::TensorShapeProto::Dimension;

namespace {

class InputResolver {
public:
  InputResolver(const onnx::GraphProto &graph, const UseTable &uses,
                const ffc::ImportOptions &options)
      : graph(graph), uses(uses), options(options), values(options.dims) {}

  Expected<GraphInputs> run() {
    if (Error error = collect())
      return error;
    if (Error error = checkDims())
      return error;
    if (options.batchSize)
      if (Error error = findBatch())
        return error;
    for (const onnx::ValueInfoProto *input : used)
      if (Error error = resolve(*input))
        return error;
    return std::move(result);
  }

private:
  const onnx::GraphProto &graph;
  const UseTable &uses;
  const ffc::ImportOptions &options;
  std::map<std::string, int64_t> values;
  std::vector<const onnx::ValueInfoProto *> used;
  /// Dimension 0 of the first data input.
  const Dimension *batch = nullptr;
  GraphInputs result;

  static const onnx::TensorShapeProto &
  shapeOf(const onnx::ValueInfoProto &input) {
    return input.type().tensor_type().shape();
  }

  bool isFree(const onnx::ValueInfoProto &input) const {
    return input.type().tensor_type().elem_type() == TensorProto::FLOAT &&
           uses.feedsOnlyWeights(input.name());
  }

  Error collect() {
    llvm::StringSet<> initialized, seen;
    for (const TensorProto &tensor : graph.initializer())
      initialized.insert(tensor.name());
    for (const onnx::ValueInfoProto &input : graph.input()) {
      if (!seen.insert(input.name()).second)
        return makeError("input '" + input.name() + "' is defined twice");
      if (initialized.contains(input.name()))
        continue;
      if (!uses.isUsed(input.name())) {
        result.unused.push_back(input.name());
        continue;
      }
      if (!input.type().has_tensor_type() ||
          !input.type().tensor_type().has_shape())
        return makeError("input '" + input.name() +
                         "': expected a tensor of known rank");
      used.push_back(&input);
    }
    return Error::success();
  }

  /// Flags must mean something.
  Error checkDims() {
    llvm::StringSet<> known;
    std::string list;
    for (const onnx::ValueInfoProto *input : used)
      for (const Dimension &dim : shapeOf(*input).dim())
        if (dim.has_dim_param() && !dim.dim_param().empty() &&
            known.insert(dim.dim_param()).second)
          list += (list.empty() ? "" : ", ") + dim.dim_param();
    for (const auto &[name, value] : options.dims) {
      if (!known.contains(name))
        return makeError("--dim " + name + "=" + Twine(value) + ": " +
                         (list.empty() ? "the inputs have no named dimensions"
                                       : "no input has a dimension of that "
                                         "name, found " +
                                             list));
      if (value < 1)
        return makeError("--dim " + name + "=" + Twine(value) +
                         ": expected a positive extent");
    }
    return Error::success();
  }

  Error findBatch() {
    int64_t size = *options.batchSize;
    if (size < 1)
      return makeError("--batch-size " + Twine(size) +
                       ": expected a positive extent");
    for (const onnx::ValueInfoProto *input : used)
      if (!batch && !isFree(*input) && shapeOf(*input).dim_size() > 0)
        batch = &shapeOf(*input).dim(0);
    if (!batch)
      return makeError("--batch-size " + Twine(size) +
                       ": the model has no input with a batch dimension");
    if (batch->dim_value() > 0 && batch->dim_value() != size)
      result.exportedBatch = batch->dim_value();
    if (!batch->dim_param().empty()) {
      auto given = values.try_emplace(batch->dim_param(), size).first;
      if (given->second != size)
        return makeError("--batch-size " + Twine(size) + " and --dim " +
                         batch->dim_param() + "=" + Twine(given->second) +
                         " contradict each other");
    }
    return Error::success();
  }

  bool isBatch(const Dimension &dim) const {
    return batch && dim.dim_value() == batch->dim_value() &&
           dim.dim_param() == batch->dim_param();
  }

  Error resolve(const onnx::ValueInfoProto &info) {
    GraphInput input;
    input.name = info.name();
    input.type = info.type().tensor_type().elem_type();
    input.isFree = isFree(info);
    if (!isCarriedType(input.type))
      return makeError("input '" + input.name + "' has element type " +
                       elementTypeName(input.type) +
                       ", expected float, double, int32, int64, uint8 or bool");
    for (int d = 0; d < shapeOf(info).dim_size(); ++d) {
      Expected<int64_t> extent = extentOf(info, d, input.isFree);
      if (!extent)
        return extent.takeError();
      input.shape.push_back(*extent);
    }
    if (!elementCount(input.shape))
      return makeError("input '" + input.name + "' has shape " +
                       shapeText(input.shape) + ", which is too large");
    result.inputs.push_back(std::move(input));
    return Error::success();
  }

  Expected<int64_t> extentOf(const onnx::ValueInfoProto &info, int d,
                             bool isFree) const {
    const Dimension &dim = shapeOf(info).dim(d);
    std::string where =
        "dimension " + std::to_string(d) + " of input '" + info.name() + "'";
    if (d == 0 && !isFree && isBatch(dim))
      return *options.batchSize;
    if (dim.has_dim_value()) {
      if (dim.dim_value() < 1)
        return makeError(where + " is " + Twine(dim.dim_value()) +
                         ", expected a positive extent");
      return dim.dim_value();
    }
    if (dim.dim_param().empty())
      return makeError(where + " is unknown and has no name" +
                       (d == 0 ? "; give --batch-size" : ""));
    auto value = values.find(dim.dim_param());
    if (value == values.end())
      return makeError(where + " is symbolic; give --dim " + dim.dim_param() +
                       "=VALUE" + (d == 0 ? " or --batch-size" : ""));
    return value->second;
  }
};

} // namespace

Expected<GraphInputs>
ffc::importer::resolveInputs(const onnx::GraphProto &graph,
                             const UseTable &uses,
                             const ImportOptions &options) {
  return InputResolver(graph, uses, options).run();
}
