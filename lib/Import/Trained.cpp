//===- Trained.cpp - which values of a model are trained ------------------===//

#include "Trained.h"

#include "Graph.h"
#include "NamePatterns.h"

#include "llvm/ADT/STLExtras.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

namespace ffc::importer {

class Decider {
public:
  Decider(const GraphProto &graph, const TensorData &data,
          const ImportOptions &options, const ExporterMetadata *metadata,
          llvm::ArrayRef<TiedWeight> ties)
      : graph(graph), data(data), options(options), metadata(metadata),
        flow(graph), roles(graph, flow) {
    for (const TiedWeight &tie : ties)
      tied[tie.of].push_back(tie.name);
  }

  Expected<TrainedValues> run() {
    Expected<NamePatterns> made = NamePatterns::create(options.trainRules);
    if (!made)
      return made.takeError();
    patterns = std::move(*made);
    addInputs();
    addGraph(graph);
    if (metadata) {
      result.listed.missing = metadata->missing(graph, held);
      result.listed.advice = metadata->advice();
    }
    for (const MissingParameter &missing : result.listed.missing)
      patterns.addOther(missing.name, "is not in the file: " + missing.where);
    if (!refused.empty())
      return makeError(refused);
    if (Error error = patterns.checkUsed())
      return error;
    return std::move(result);
  }

private:
  const GraphProto &graph;
  const TensorData &data;
  const ImportOptions &options;
  const ExporterMetadata *metadata;
  const Dataflow flow;
  const ParameterRoles roles;
  NamePatterns patterns;
  llvm::StringMap<std::vector<std::string>> tied;
  /// Parameters of the module that values are.
  llvm::StringSet<> held;
  /// What is wrong with a flag, or empty.
  std::string refused;
  TrainedValues result;

  ListedValue &list(const std::string &name, int32_t type, const Shape &shape) {
    ListedValue &value = result.listed.values.emplace_back();
    value.name = name;
    value.isOfFloats = isFloatType(type);
    value.shape.assign(shape.begin(), shape.end());
    value.bytes = elementCount(shape).value_or(0) * elementBytes(type);
    if (auto ties = tied.find(name); ties != tied.end())
      value.tied = ties->second;
    return value;
  }

  /// What the user says of a value of floats, by any of its names.
  std::optional<Verdict> asked(const ListedValue &value) {
    std::vector<std::string> names = value.tied;
    names.push_back(value.name);
    names.push_back(value.parameter);
    std::optional<NamePatterns::Answer> answer = patterns.match(names);
    if (!answer)
      return std::nullopt;
    return Verdict{answer->isTrained, answer->flag};
  }

  /// The verdict on a running statistic, which no --train changes; an error if
  /// one names it.
  std::optional<Verdict> statistic(const std::string &name) {
    std::optional<Verdict> verdict = roles.judgeStatistic(name);
    if (!verdict)
      return std::nullopt;
    std::optional<NamePatterns::Answer> whole = patterns.matchWhole(name);
    if (whole && whole->isTrained && refused.empty())
      refused = whole->flag + ": '" + name + "' is " + verdict->why +
                ", expected a value that gradients change";
    return verdict;
  }

  void decide(ListedValue &value, const Verdict &verdict) {
    std::optional<Verdict> user = asked(value);
    if (user && user->isTrained)
      if (std::optional<Verdict> known = statistic(value.name))
        user = std::move(known);
    value.isTrained = (user ? *user : verdict).isTrained;
    value.why = (user ? *user : verdict).why;
    result.decisions[value.name] = {value.isTrained, !value.isTrained && !user,
                                    /*isFree=*/false};
  }

  void addTensor(const std::string &name, int32_t type, const Shape &shape,
                 const Contents &contents) {
    ListedValue &value = list(name, type, shape);
    if (!isFloatType(type)) {
      value.why = ("of " + elementTypeName(type)).str();
      patterns.addOther(name, "is " + value.why);
      return;
    }
    std::optional<Claim> claim;
    if (metadata)
      claim = metadata->claimOf(name, flow, contents);
    if (!claim)
      return decide(value, roles.judge(name, contents));
    held.insert(claim->parameter);
    if (claim->parameter != name)
      value.parameter = claim->parameter;
    decide(value, {claim->isTrained, claim->why});
  }

  void addTensor(const std::string &name, const TensorProto &tensor) {
    Shape shape(tensor.dims().begin(), tensor.dims().end());
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    // What is wrong with a tensor is said when it is imported.
    if (Error error = data.check(tensor))
      llvm::consumeError(std::move(error));
    else if (isFloatType(tensor.data_type()))
      buffer = check(data.bytes(tensor));
    addTensor(name, tensor.data_type(), shape,
              Contents(tensor.data_type(), shape, std::move(buffer)));
  }

  static std::unique_ptr<llvm::MemoryBuffer>
  check(Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer) {
    if (buffer)
      return std::move(*buffer);
    llvm::consumeError(buffer.takeError());
    return nullptr;
  }

  void addGraph(const GraphProto &from) {
    for (const TensorProto &tensor : from.initializer())
      addTensor(tensor.name(), tensor);
    // Of Constants of one name the last counts.
    llvm::StringMap<const NodeProto *> last;
    for (const NodeProto &node : from.node())
      if (isConstant(node))
        last[node.output(0)] = &node;
    for (const NodeProto &node : from.node()) {
      if (isConstant(node) && last.lookup(node.output(0)) == &node)
        addConstant(node.output(0), node.attribute(0));
      if (node.output_size() == 1 && operatorName(node) == "ConstantOfShape")
        addFilled(node);
      forEachSubgraph(node, [&](const GraphProto &inner) { addGraph(inner); });
    }
  }

  static bool isConstant(const NodeProto &node) {
    return operatorName(node) == "Constant" && node.output_size() == 1 &&
           node.attribute_size() == 1;
  }

  void addConstant(const std::string &name,
                   const onnx::AttributeProto &attribute) {
    if (attribute.has_t())
      return addTensor(name, attribute.t());
    Constant constant;
    constant.type = TensorProto::FLOAT;
    if (attribute.type() == onnx::AttributeProto::FLOATS) {
      constant.floats.assign(attribute.floats().begin(),
                             attribute.floats().end());
      constant.shape = {static_cast<int64_t>(constant.floats.size())};
    } else if (attribute.type() == onnx::AttributeProto::FLOAT) {
      constant.floats = {attribute.f()};
    } else {
      return;
    }
    addTensor(name, constant.type, constant.shape, Contents(constant));
  }

  /// One number, repeated: a weight without data if it is used as such.
  void addFilled(const NodeProto &node) {
    const std::string &name = node.output(0);
    int32_t type = TensorProto::FLOAT;
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_t())
        type = attribute.t().data_type();
    if (!isFloatType(type) || !roles.feedsOnlyWeights(name))
      return;
    Shape shape = {-1};
    const TensorProto *extents = flow.tensorOf(node.input(0));
    if (extents && isIntegerType(extents->data_type())) {
      if (Expected<Constant> known = data.read(*extents))
        shape.assign(known->ints.begin(), known->ints.end());
      else
        llvm::consumeError(known.takeError());
    }
    ListedValue &value = list(name, type, shape);
    decide(value, {true, "drawn at random: a weight without data"});
  }

  //===--------------------------------------------------------------------===//
  // Inputs
  //===--------------------------------------------------------------------===//

  static int32_t typeOf(const onnx::ValueInfoProto &input) {
    return input.type().tensor_type().elem_type();
  }

  bool isOpen(const onnx::ValueInfoProto &input) const {
    return isFloatType(typeOf(input)) &&
           roles.feedsOnlyWeightsOrTables(input.name());
  }

  static bool isOpenExtent(const onnx::TensorShapeProto::Dimension &extent) {
    return extent.dim_value() < 1;
  }

  /// With -1 for extents that neither the model nor --dim says.
  Shape knownShape(const onnx::ValueInfoProto &input) const {
    const int rank = shapeOf(input).dim_size();
    Shape shape;
    for (int d = 0; d < rank; ++d) {
      const auto &dim = shapeOf(input).dim(d);
      shape.push_back(dim.dim_value() > 0 ? dim.dim_value() : -1);
      for (const std::string &key :
           {dim.dim_param(), input.name() + ":" + std::to_string(d),
            input.name() + ":" + std::to_string(d - rank)})
        if (auto given = options.dims.find(key);
            shape.back() < 0 && given != options.dims.end())
          shape.back() = given->second;
    }
    return shape;
  }

  /// Dimension 0 of the first input that is data whatever else is.
  const onnx::TensorShapeProto::Dimension *findBatch() const {
    for (const onnx::ValueInfoProto &input : graph.input())
      if (!flow.initializer(input.name()) &&
          !options.fixed.count(input.name()) && !isOpen(input) &&
          shapeOf(input).dim_size() > 0)
        return &shapeOf(input).dim(0);
    return nullptr;
  }

  /// Does an input that feeds only weights have the batch of the others? What
  /// constants name rows of may be all of the data.
  bool hasBatch(const onnx::ValueInfoProto &input,
                const onnx::TensorShapeProto::Dimension *batch) const {
    const onnx::TensorShapeProto &shape = shapeOf(input);
    if (shape.dim_size() == 0)
      return false;
    if (!roles.feedsOnlyWeights(input.name())) {
      if (!batch || llvm::any_of(shape.dim(), isOpenExtent))
        return true;
    } else if (!batch ||
               !roles.mayHaveBatch(input.name(),
                                   static_cast<size_t>(shape.dim_size()))) {
      return false;
    }
    // No weight has an extent that is open.
    const onnx::TensorShapeProto::Dimension &first = shape.dim(0);
    return isOpenExtent(first) || first.dim_value() == batch->dim_value();
  }

  /// An input without data is data, unless all that reads it takes it for a
  /// weight and it has no batch.
  void addInputs() {
    const onnx::TensorShapeProto::Dimension *batch = findBatch();
    for (const onnx::ValueInfoProto &input : graph.input()) {
      const std::string &name = input.name();
      if (flow.initializer(name))
        continue;
      if (options.fixed.count(name)) {
        patterns.addOther(name, "is an input that --fix makes a constant");
        continue;
      }
      if (!isFloatType(typeOf(input))) {
        patterns.addOther(name, "is an input that is not of floats");
        continue;
      }
      const bool isWeight = isOpen(input) && !hasBatch(input, batch);
      std::optional<NamePatterns::Answer> user =
          isWeight ? patterns.match({name}) : patterns.matchWhole(name);
      if (!(user ? user->isTrained : isWeight))
        continue;
      ListedValue &value = list(name, typeOf(input), knownShape(input));
      const std::optional<Verdict> known = statistic(name);
      value.isTrained = !known;
      value.why = known  ? known->why
                  : user ? user->flag
                         : "an input that only weights are, without a "
                           "batch; drawn at random";
      result.decisions[name] = {value.isTrained, /*isNumber=*/false,
                                /*isFree=*/true};
    }
  }
};

} // namespace ffc::importer

Expected<TrainedValues> TrainedValues::decide(const GraphProto &graph,
                                              const TensorData &data,
                                              const ImportOptions &options,
                                              const ExporterMetadata *metadata,
                                              llvm::ArrayRef<TiedWeight> ties) {
  return Decider(graph, data, options, metadata, ties).run();
}

bool TrainedValues::isTrained(StringRef name) const {
  auto found = decisions.find(name);
  return found != decisions.end() && found->second.isTrained;
}

bool TrainedValues::isFree(StringRef name) const {
  auto found = decisions.find(name);
  return found != decisions.end() && found->second.isFree;
}

bool TrainedValues::isNumber(StringRef name) const {
  auto found = decisions.find(name);
  return found != decisions.end() && found->second.isNumber;
}
