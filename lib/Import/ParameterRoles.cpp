//===- ParameterRoles.cpp - is a value a parameter by its uses? -----------===//

#include "ParameterRoles.h"

#include "Graph.h"
#include "OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::NodeProto;
using Use = Dataflow::Use;

/// "'conv1' (Conv)".
static std::string text(const NodeProto &node) {
  std::string name = node.name();
  for (int i = 0; name.empty() && i < node.output_size(); ++i)
    name = node.output(i);
  return "'" + name + "' (" + node.op_type() + ")";
}

static const OpInfo *infoOf(const NodeProto &node) {
  return isStandardDomain(node.domain()) ? lookupOp(node.op_type()) : nullptr;
}

static bool isWeightOperand(const Use &use) {
  const OpInfo *info = infoOf(*use.node);
  return info && use.operand < 32 && (info->weightOperands >> use.operand & 1);
}

static bool isProduct(const NodeProto &node) {
  return llvm::StringSwitch<bool>(node.op_type())
      .Cases({"MatMul", "Gemm", "Einsum", "FusedMatMul"}, true)
      .Default(false);
}

static bool isRecurrent(const NodeProto &node) {
  return llvm::StringSwitch<bool>(node.op_type())
      .Cases({"LSTM", "GRU", "RNN"}, true)
      .Default(false);
}

static bool isRunningStatistic(const Use &use) {
  return use.node->op_type() == "BatchNormalization" && use.operand >= 3;
}

/// Operators whose results have no gradient.
static bool endsGradients(const NodeProto &node) {
  if (node.op_type() == "Cast")
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.name() == "to" &&
          !isFloatType(static_cast<int32_t>(attribute.i())))
        return true;
  return llvm::StringSwitch<bool>(node.op_type())
      .Cases({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"},
             true)
      .Cases({"And", "Or", "Xor", "Not", "IsNaN", "IsInf", "NonZero"}, true)
      .Cases({"ArgMax", "ArgMin", "Hardmax", "Sign", "Floor", "Ceil", "Round"},
             true)
      .Cases({"Shape", "Size", "If"}, true)
      .Default(false);
}

/// Does the operator read the operand as a number or list that says what it
/// does?
static bool isSetting(const Use &use) {
  StringRef type = use.node->op_type();
  if (type == "Range" || type == "ConstantOfShape")
    return true;
  if (use.operand == 0)
    return type == "Loop";
  const OpInfo *info = infoOf(*use.node);
  if (info && info->movesElements && type != "Concat")
    return true;
  if (type == "Loop")
    return use.operand == 1;
  return type.starts_with("Reduce") ||
         llvm::StringSwitch<bool>(type)
             .Cases({"Clip", "Resize", "Upsample", "Dropout", "OneHot"}, true)
             .Cases({"TopK", "CumSum", "RotaryEmbedding", "CastLike"}, true)
             .Default(false);
}

static StringRef nameOfWeight(const Use &use) {
  StringRef type = use.node->op_type();
  if (type == "Gather")
    return "table of";
  if (type == "PRelu")
    return "slope of";
  if (type.ends_with("Normalization"))
    return use.operand == 1 ? "scale of" : "bias of";
  if (isRecurrent(*use.node))
    return use.operand == 3 ? "bias of" : "weight of";
  return use.operand >= 2 && type != "Einsum" ? "bias of" : "weight of";
}

static StringRef nameOfFactor(const Use &use) {
  return llvm::StringSwitch<StringRef>(use.node->op_type())
      .Cases({"Mul", "Div"}, "scale at")
      .Cases({"Add", "Sub", "Sum"}, "bias at")
      .Case("Pow", use.operand == 1 ? "exponent at" : "base at")
      .Default("operand of");
}

ParameterRoles::ParameterRoles(const onnx::GraphProto &graph,
                               const Dataflow &flow)
    : flow(flow) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    weightsAreApart |=
        isFloatType(tensor.data_type()) &&
        llvm::any_of(tensor.dims(), [](int64_t d) { return d > 1; });
  for (const onnx::ValueInfoProto &input : graph.input())
    weightsAreApart |= feedsOnlyWeights(input.name());
}

//===----------------------------------------------------------------------===//
// Where values go
//===----------------------------------------------------------------------===//

ParameterRoles::Kind ParameterRoles::roleBesideData(const Use &use) const {
  const NodeProto &node = *use.node;
  StringRef type = node.op_type();
  if (isRecurrent(node))
    return use.operand == 7   ? Kind::Weight
           : use.operand >= 5 ? Kind::State
                              : Kind::Other;
  if (type == "SoftmaxCrossEntropyLoss" || type == "NegativeLogLikelihoodLoss")
    return use.operand == 2 ? Kind::LossWeight : Kind::Other;
  return llvm::StringSwitch<Kind>(type)
      .Cases({"Add", "Sub", "Mul", "Div", "Pow"}, Kind::Factor)
      .Cases({"Max", "Min", "Sum", "Mean"}, Kind::Factor)
      .Case("Where", use.operand == 0 ? Kind::Condition : Kind::Factor)
      .Cases({"Concat", "Scatter", "ScatterElements", "ScatterND"},
             Kind::Joined)
      .Default(Kind::Other);
}

std::optional<ParameterRoles::Kind>
ParameterRoles::roleAt(const Use &use) const {
  const NodeProto &node = *use.node;
  if (isRunningStatistic(use))
    return Kind::Statistic;
  if (isSetting(use))
    return Kind::Setting;
  if (endsGradients(node))
    return Kind::Condition;
  if (node.op_type() == "Sin" || node.op_type() == "Cos")
    return Kind::Angle;
  if (!flow.readsOtherData(node, use.operand))
    return std::nullopt;
  if (isWeightOperand(use) || isProduct(node))
    return Kind::Weight;
  return roleBesideData(use);
}

std::vector<ParameterRoles::Role>
ParameterRoles::rolesOf(StringRef name) const {
  std::vector<Role> roles;
  llvm::StringSet<> seen;
  std::vector<std::pair<std::string, bool>> work = {{name.str(), false}};
  while (!work.empty()) {
    auto [at, isExpanded] = std::move(work.back());
    work.pop_back();
    if (at.empty() || !seen.insert(at).second)
      continue;
    for (const std::string &alias : flow.aliasesOf(at))
      work.emplace_back(alias, isExpanded);
    for (const Use &use : flow.usesOf(at)) {
      if (auto kind = roleAt(use)) {
        roles.push_back({*kind, use, isExpanded});
        continue;
      }
      const bool expands =
          use.node->op_type() == "Expand" || use.node->op_type() == "Tile";
      for (const std::string &output : use.node->output())
        work.emplace_back(output, isExpanded || expands);
    }
  }
  return roles;
}

bool ParameterRoles::feedsOnlyWeights(StringRef name) const {
  unsigned weights = 0;
  llvm::StringSet<> seen;
  std::vector<std::string> work = {name.str()};
  while (!work.empty()) {
    std::string at = std::move(work.back());
    work.pop_back();
    if (!seen.insert(at).second)
      continue;
    if (flow.isOutput(at) || !flow.aliasesOf(at).empty())
      return false;
    for (const Use &use : flow.usesOf(at)) {
      const NodeProto &node = *use.node;
      if (node.op_type() == "Identity" && node.output_size() == 1) {
        work.push_back(node.output(0));
        continue;
      }
      if (!isWeightOperand(use))
        return false;
      const int data = infoOf(node)->dataOperand;
      if (data >= node.input_size() || !flow.isData(node.input(data)))
        return false;
      ++weights;
    }
  }
  return weights > 0;
}

/// Is the first index of both operands of an Einsum one of its result?
static bool isBatchedEinsum(const NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() != "equation")
      continue;
    auto [from, to] = StringRef(attribute.s()).split("->");
    auto [first, second] = from.split(',');
    first = first.trim();
    second = second.trim();
    return !first.empty() && !second.empty() &&
           first.front() == second.front() && to.contains(first.front());
  }
  return false;
}

bool ParameterRoles::mayHaveBatch(StringRef name, size_t rank) const {
  return llvm::any_of(flow.usesOf(name), [&](const Use &use) {
    StringRef type = use.node->op_type();
    return (type == "MatMul" && rank >= 3) ||
           (type == "Einsum" && isBatchedEinsum(*use.node));
  });
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

/// Exporters spell group normalisation as one of instances, without parameters,
/// between reshapes.
bool ParameterRoles::isGroupNorm(const Role &role,
                                 const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  if (node.op_type() != "InstanceNormalization" || role.use.operand == 0 ||
      contents.oneValue() != (role.use.operand == 1 ? 1.0 : 0.0))
    return false;
  const NodeProto *before = flow.makerOf(node.input(0));
  return before && before->op_type() == "Reshape" &&
         llvm::all_of(flow.usesOf(node.output(0)), [](const Use &use) {
           return use.node->op_type() == "Reshape";
         });
}

/// Exporters that keep weights elsewhere write constants that change nothing
/// for a normalisation without parameters.
bool ParameterRoles::isLeftOut(StringRef name, const Role &role,
                               const Contents &contents) const {
  const NodeProto &node = *role.use.node, *maker = flow.makerOf(name);
  return weightsAreApart && maker && maker->op_type() == "Constant" &&
         StringRef(node.op_type()).ends_with("Normalization") &&
         contents.oneValue() == (role.use.operand == 1 ? 1.0 : 0.0);
}

/// A product of one feature has a bias of one element.
bool ParameterRoles::isBiasOfOneFeature(const Role &role,
                                        const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  if (node.op_type() != "Add" || contents.getShape().empty())
    return false;
  const NodeProto *product = flow.makerOf(node.input(1 - role.use.operand));
  while (product && product->op_type() != "MatMul" &&
         product->input_size() > 0 && movesOperand(*product, 0))
    product = flow.makerOf(product->input(0));
  if (!product || product->op_type() != "MatMul")
    return false;
  std::string weight = product->input(1);
  for (const NodeProto *maker = flow.makerOf(weight);
       maker && maker->op_type() == "Transpose"; maker = flow.makerOf(weight))
    weight = maker->input(0);
  const onnx::TensorProto *tensor = flow.initializer(weight);
  if (const NodeProto *maker = flow.makerOf(weight);
      maker && maker->op_type() == "Constant" && maker->attribute_size() == 1)
    tensor = &maker->attribute(0).t();
  return tensor && llvm::is_contained(tensor->dims(), 1);
}

/// Are the results what a softmax takes, so that the node adds to scores?
bool ParameterRoles::goesToSoftmax(const NodeProto &node) const {
  return llvm::any_of(node.output(), [this](const std::string &output) {
    return llvm::any_of(flow.usesOf(output), [](const Use &use) {
      return use.node->op_type() == "Softmax";
    });
  });
}

static std::optional<Verdict> judgeContents(const Contents &contents,
                                            bool isMask) {
  if (isMask)
    return Verdict{false, "a mask"};
  if (contents.isPositions())
    return Verdict{false, "positions, which count"};
  if (contents.isGeometric())
    return Verdict{false, "frequencies, each a multiple of the one before"};
  if (contents.isSines())
    return Verdict{false, "a table of sines"};
  return std::nullopt;
}

Verdict ParameterRoles::judgeWeight(StringRef name, const Role &role,
                                    const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  if (isGroupNorm(role, contents))
    return {false, "left out in " + text(node) +
                       ", which an exporter made of a normalisation of groups"};
  if (isLeftOut(name, role, contents))
    return {false, "left out in " + text(node) + ", where it changes nothing"};
  // Small numbers like these may be anything in a vector, and a matrix on the
  // right may begin as one of zeros and ones.
  if (contents.getShape().size() >= 2 &&
      (isProduct(node) || node.op_type() == "Gather"))
    if (auto told = judgeContents(contents, role.use.operand == 0 &&
                                                contents.isStrictMask()))
      return *told;
  return {true, nameOfWeight(role.use).str() + " " + text(node)};
}

Verdict ParameterRoles::judgeOperand(const Role &role,
                                     const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  StringRef type = node.op_type();
  const bool isOne = contents.oneValue().has_value();
  auto fill = [&](StringRef what) {
    return Verdict{false, (what + " " + text(node)).str()};
  };
  switch (role.kind) {
  case Kind::Factor: {
    const bool fits = llvm::StringSwitch<bool>(type)
                          .Case("Mul", true)
                          .Cases({"Sub", "Div"}, role.use.operand == 1)
                          .Default(false);
    if (fits && flow.isRaw(node.input(1 - role.use.operand)))
      return fill("what the inputs are brought to a scale with at");
    if (isOne && (type == "Max" || type == "Min" || type == "Where"))
      return fill("a number, repeated, at");
    if (isOne && (type == "Add" || type == "Sub") && goesToSoftmax(node))
      return fill("a mask of scores at");
    return {true, nameOfFactor(role.use).str() + " " + text(node)};
  }
  case Kind::Joined:
    if (isOne && !role.isExpanded)
      return fill("a number, repeated, at");
    return {true, "joined to data at " + text(node)};
  case Kind::State:
    if (isOne)
      return fill("a number, repeated, that starts");
    return {true, "initial state of " + text(node)};
  default:
    if (isOne)
      return fill("a number, repeated, at");
    return {true, "operand of " + text(node)};
  }
}

Verdict ParameterRoles::judge(StringRef name, const Contents &contents) const {
  const std::vector<Role> roles = rolesOf(name);
  auto find = [&](auto... kinds) -> const Role * {
    for (const Role &role : roles)
      if (((role.kind == kinds) || ...))
        return &role;
    return nullptr;
  };
  std::optional<Verdict> refused;
  for (const Role &role : roles)
    if (role.kind == Kind::Weight) {
      Verdict verdict = judgeWeight(name, role, contents);
      if (verdict.isTrained)
        return verdict;
      refused = refused.value_or(verdict);
    }
  if (refused)
    return *refused;
  if (const Role *role = find(Kind::Statistic))
    return {false, "a running statistic of " + text(*role->use.node), true};
  if (const Role *role = find(Kind::LossWeight))
    return {false, "weights of the loss " + text(*role->use.node)};
  const Role *operand =
      find(Kind::Factor, Kind::Joined, Kind::State, Kind::Other);
  if (!operand) {
    if (const Role *role = find(Kind::Angle))
      return {false, "of the angles of " + text(*role->use.node)};
    if (const Role *role = find(Kind::Setting))
      return {false, "a setting of " + text(*role->use.node)};
    if (const Role *role = find(Kind::Condition))
      return {false,
              "for " + text(*role->use.node) + ", which has no gradient"};
    return {false, "no operator computes with it"};
  }
  if (contents.size() == 1) {
    for (const Role &role : roles)
      if (isBiasOfOneFeature(role, contents))
        return {true, "bias at " + text(*role.use.node)};
    return {false, "a number in " + text(*operand->use.node)};
  }
  if (auto told = judgeContents(contents, contents.isMask()))
    return *told;
  for (const Role &role : roles)
    if (role.kind == Kind::Factor || role.kind == Kind::Joined ||
        role.kind == Kind::State || role.kind == Kind::Other) {
      Verdict verdict = judgeOperand(role, contents);
      if (verdict.isTrained)
        return verdict;
      refused = refused.value_or(verdict);
    }
  return *refused;
}
