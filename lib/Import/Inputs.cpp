//===- Inputs.cpp - graph inputs and their extents ------------------------===//

#include "Inputs.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using onnx::TensorProto;
using Dimension = onnx::TensorShapeProto::Dimension;

/// "dimension 1 of input 'x'".
static std::string describe(const onnx::ValueInfoProto &input, int d) {
  return "dimension " + std::to_string(d) + " of input '" + input.name() + "'";
}

/// Some exporters write -1 or 0 for an extent that is left open.
static bool isOpen(const Dimension &dim) {
  return !dim.has_dim_value() || dim.dim_value() < 1;
}

static std::string nameOf(const Dimension &dim) {
  return dim.has_dim_value() ? "" : dim.dim_param();
}

namespace {

class InputResolver {
public:
  InputResolver(const onnx::GraphProto &graph, const UseTable &uses,
                const TrainedValues &trained, const ffc::ImportOptions &options)
      : graph(graph), uses(uses), trained(trained), options(options) {}

  Error readFlags() {
    if (Error error = collect())
      return error;
    if (Error error = readFixed())
      return error;
    return readDims();
  }

  Expected<GraphInputs> run() {
    if (Error error = readFlags())
      return error;
    for (const onnx::ValueInfoProto *input : used)
      if (!input->type().has_tensor_type() ||
          !input->type().tensor_type().has_shape())
        return makeError("input '" + input->name() + "'" +
                         (input->type().has_sequence_type()   ? " is a sequence"
                          : input->type().has_optional_type() ? " is optional"
                                                              : "") +
                         ": expected a tensor of known rank");
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
  const TrainedValues &trained;
  const ffc::ImportOptions &options;
  std::vector<const onnx::ValueInfoProto *> used;
  llvm::StringMap<Constant> fixed;
  /// What --dim says of named dimensions, and --batch-size of those that it
  /// covers.
  llvm::StringMap<int64_t> values;
  /// What --dim says of dimensions by their place, with the flag's key.
  std::map<std::pair<const onnx::ValueInfoProto *, int>,
           std::pair<int64_t, std::string>>
      places;
  /// Dimension 0 of the first data input.
  const Dimension *batch = nullptr;
  GraphInputs result;

  bool isFree(const onnx::ValueInfoProto &input) const {
    return trained.isFree(input.name());
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
      used.push_back(&input);
    }
    return Error::success();
  }

  /// The used input of that name, or null.
  const onnx::ValueInfoProto *find(StringRef name) const {
    for (const onnx::ValueInfoProto *input : used)
      if (input->name() == name)
        return input;
    return nullptr;
  }

  std::string inputNames() const {
    std::string names;
    for (const onnx::ValueInfoProto *input : used)
      names += (names.empty() ? "" : ", ") + input->name();
    return names.empty() ? "none" : names;
  }

  //===--------------------------------------------------------------------===//
  // Flags, which must mean something
  //===--------------------------------------------------------------------===//

  Error readFixed() {
    for (const auto &[name, text] : options.fixed) {
      const onnx::ValueInfoProto *input = find(name);
      if (!input && llvm::is_contained(result.unused, name))
        continue;
      std::string flag = "--fix " + name + "=" + text + ": ";
      if (!input)
        return makeError(flag + "expected an input of the model, found '" +
                         name + "', which is none of: " + inputNames());
      Expected<Constant> value =
          parseNumber(input->type().tensor_type().elem_type(), text);
      if (!value)
        return makeError(flag + llvm::toString(value.takeError()));
      fixed[name] = std::move(*value);
    }
    return Error::success();
  }

  Error readDims() {
    llvm::StringSet<> known;
    std::string list;
    for (const onnx::ValueInfoProto *input : used)
      for (const Dimension &dim : shapeOf(*input).dim())
        if (std::string name = nameOf(dim);
            !name.empty() && known.insert(name).second)
          list += (list.empty() ? "" : ", ") + name;
    for (const auto &[key, value] : options.dims) {
      std::string flag = ("--dim " + key + "=" + Twine(value) + ": ").str();
      if (value < 1)
        return makeError(flag + "expected a positive extent");
      if (known.contains(key))
        values[key] = value;
      else if (StringRef(key).contains(':'))
        if (Error error = readPlace(flag, key, value))
          return error;
      if (!known.contains(key) && !StringRef(key).contains(':'))
        return makeError(
            flag +
            (list.empty()
                 ? "the inputs have no named dimensions"
                 : "no input has a dimension of that name, found " + list) +
            "; INPUT:AXIS=N gives one by its place, inputs are " +
            inputNames());
    }
    return Error::success();
  }

  /// "INPUT:AXIS", where the input's name may have colons too.
  Error readPlace(const Twine &flag, StringRef key, int64_t value) {
    auto [name, place] = key.rsplit(':');
    const onnx::ValueInfoProto *input = find(name);
    if (!input)
      return makeError(flag +
                       "expected an input of the model before ':', "
                       "found '" +
                       name + "', which is none of: " + inputNames());
    int64_t rank = shapeOf(*input).dim_size(), axis = 0;
    if (place.getAsInteger(10, axis) || axis < -rank || axis >= rank)
      return makeError(flag + "expected a dimension of input '" + name +
                       "' after ':', which has " + Twine(rank) + ", found '" +
                       place + "'");
    auto d = static_cast<int>(axis < 0 ? axis + rank : axis);
    const Dimension &dim = shapeOf(*input).dim(d);
    if (!isOpen(dim)) {
      if (dim.dim_value() != value && value != options.batchSize)
        return makeError(flag + "the model has " + Twine(dim.dim_value()) +
                         " there; only a batch can be changed, by "
                         "--batch-size, or by --batch-size and --dim with the "
                         "same number");
      if (dim.dim_value() != value)
        result.batchDims.push_back(key.str());
    }
    if (std::string symbol = nameOf(dim); !symbol.empty()) {
      int64_t given = values.try_emplace(symbol, value).first->second;
      if (auto other = options.dims.find(symbol); other != options.dims.end())
        given = other->second;
      if (given != value)
        return makeError(flag + "that is '" + symbol + "', which is " +
                         Twine(given) + " by another --dim");
    }
    places[{input, d}] = {value, key.str()};
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // The batch
  //===--------------------------------------------------------------------===//

  /// Can dimension 0 be the batch?
  bool mayCarryBatch(const onnx::ValueInfoProto &input) const {
    return shapeOf(input).dim_size() > 0 && !isFree(input);
  }

  Error findBatch() {
    int64_t size = *options.batchSize;
    if (size < 1)
      return makeError("--batch-size " + Twine(size) +
                       ": expected a positive extent");
    const onnx::ValueInfoProto *first = nullptr;
    for (const onnx::ValueInfoProto *input : used)
      if (!first && mayCarryBatch(*input) && !fixed.contains(input->name()))
        first = input;
    if (!first)
      return makeError("--batch-size " + Twine(size) +
                       ": expected an input that is read and has a batch "
                       "dimension, found none; leave the flag out");
    batch = &shapeOf(*first).dim(0);
    if (!isOpen(*batch) && batch->dim_value() != size)
      result.exportedBatch = batch->dim_value();
    if (std::string name = nameOf(*batch); !name.empty()) {
      auto given = values.try_emplace(name, size).first;
      if (given->second != size)
        return makeError("--batch-size " + Twine(size) + " and --dim " + name +
                         "=" + Twine(given->second) + " contradict each other");
    }
    for (const onnx::ValueInfoProto *input : used)
      if (mayCarryBatch(*input) && !placeOfBatchName(*input))
        if (std::string name = nameOf(shapeOf(*input).dim(0)); !name.empty())
          values.try_emplace(name, size);
    return Error::success();
  }

  /// A dimension behind the first with the name of dimension 0 of `input`,
  /// which is no batch then. Nothing if there is none.
  std::optional<std::string>
  placeOfBatchName(const onnx::ValueInfoProto &input) const {
    std::string name = nameOf(shapeOf(input).dim(0));
    if (name.empty() || name == nameOf(*batch))
      return std::nullopt;
    for (const onnx::ValueInfoProto *other : used)
      for (int d = 1; d < shapeOf(*other).dim_size(); ++d)
        if (nameOf(shapeOf(*other).dim(d)) == name)
          return describe(*other, d);
    return std::nullopt;
  }

  /// Is an extent that nobody gave the batch?
  bool isBatch(const onnx::ValueInfoProto &input) const {
    if (!batch || !mayCarryBatch(input))
      return false;
    const Dimension &dim = shapeOf(input).dim(0);
    return isOpen(dim)
               ? !placeOfBatchName(input)
               : !isOpen(*batch) && dim.dim_value() == batch->dim_value();
  }

  //===--------------------------------------------------------------------===//
  // Extents
  //===--------------------------------------------------------------------===//

  Error resolve(const onnx::ValueInfoProto &info) {
    GraphInput input;
    input.name = info.name();
    input.type = info.type().tensor_type().elem_type();
    input.isFree = isFree(info);
    if (!isCarriedType(input.type))
      return makeError("input '" + input.name + "' has element type " +
                       elementTypeName(input.type) +
                       ", expected floats of 16 to 64 bits, integers of 8 to "
                       "64 or bool");
    for (int d = 0; d < shapeOf(info).dim_size(); ++d) {
      Expected<int64_t> extent = extentOf(info, d);
      if (!extent)
        return extent.takeError();
      input.shape.push_back(*extent);
    }
    if (!elementCount(input.shape))
      return makeError("input '" + input.name + "' has shape " +
                       shapeText(input.shape) + ", which is too large");
    if (auto value = fixed.find(input.name); value != fixed.end())
      input.fixed = value->second;
    result.inputs.push_back(std::move(input));
    return Error::success();
  }

  Expected<int64_t> extentOf(const onnx::ValueInfoProto &info, int d) const {
    if (auto given = places.find({&info, d}); given != places.end())
      return given->second.first;
    const Dimension &dim = shapeOf(info).dim(d);
    std::string name = nameOf(dim);
    if (auto given = values.find(name); !name.empty() && given != values.end())
      return given->second;
    if (d == 0 && isBatch(info))
      return *options.batchSize;
    if (!isOpen(dim))
      return dim.dim_value();
    std::string problem = describe(info, d), flag = "--dim ";
    if (dim.has_dim_value())
      problem += " is " + std::to_string(dim.dim_value()) + " in the model";
    else
      problem += name.empty() ? " is unknown and has no name" : " is symbolic";
    if (!name.empty())
      flag += name + "=VALUE";
    else
      flag += info.name() + ":" + std::to_string(d) + "=VALUE";
    if (d == 0 && !batch && mayCarryBatch(info))
      flag += " or --batch-size";
    else if (d == 0 && batch && mayCarryBatch(info))
      problem +=
          " and no batch, since " + *placeOfBatchName(info) + " is the same";
    return makeError(problem + "; give " + flag);
  }
};

} // namespace

Expected<GraphInputs>
ffc::importer::resolveInputs(const onnx::GraphProto &graph,
                             const UseTable &uses, const TrainedValues &trained,
                             const ImportOptions &options) {
  return InputResolver(graph, uses, trained, options).run();
}

Error ffc::importer::checkInputFlags(const onnx::GraphProto &graph,
                                     const UseTable &uses,
                                     const TrainedValues &trained,
                                     const ImportOptions &options) {
  return InputResolver(graph, uses, trained, options).readFlags();
}
