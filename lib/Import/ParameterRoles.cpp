//===- ParameterRoles.cpp - is a value a parameter by its uses? -----------===//

#include "ParameterRoles.h"

#include "Graph.h"
#include "OperandUses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::NodeProto;
using Use = Dataflow::Use;

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
  const std::string type = operatorName(node);
  if (isLookup(node) && use.operand == 0)
    return Kind::Weight;
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
  if (std::string type = operatorName(node); type == "Sin" || type == "Cos")
    return Kind::Angle;
  if (!flow.readsOtherData(node, use.operand))
    return std::nullopt;
  if (isWeightOperand(use) || isProduct(node))
    return Kind::Weight;
  return roleBesideData(use);
}

ParameterRoles::Uses ParameterRoles::usesOf(StringRef name) const {
  Uses found;
  for (const std::string &alias : flow.aliasesOf(name))
    found.next.push_back({alias, false});
  for (const Use &use : flow.usesOf(name)) {
    if (auto kind = roleAt(use)) {
      found.roles.push_back({*kind, use, /*isExpanded=*/false});
      continue;
    }
    const std::string type = operatorName(*use.node);
    const bool expands = type == "Expand" || type == "Tile";
    for (const std::string &output : use.node->output())
      if (!output.empty())
        found.next.push_back({output, expands});
  }
  return found;
}

StringRef ParameterRoles::endOfWay(StringRef name) const {
  std::vector<StringRef> work = {name};
  while (!work.empty()) {
    auto [it, isNew] = ways.try_emplace(work.back());
    const StringRef at = it->first();
    Way &way = it->second;
    if (way.isKnown) {
      work.pop_back();
      continue;
    }
    const Uses uses = usesOf(at);
    if (isNew) {
      way.end = at; // for cycles of a malformed graph
      const size_t before = work.size();
      for (const Next &next : uses.next)
        if (!ways.count(next.name))
          work.push_back(next.name);
      if (work.size() > before)
        continue;
    }
    auto endOf = [&](const Next &next) { return ways.lookup(next.name).end; };
    if (uses.roles.empty() && !uses.next.empty() &&
        llvm::all_of(uses.next, [&](const Next &next) {
          return !next.isExpanded && endOf(next) == endOf(uses.next.front());
        }))
      way.end = endOf(uses.next.front());
    way.isKnown = true;
    work.pop_back();
  }
  return ways.lookup(name).end;
}

std::vector<ParameterRoles::Role>
ParameterRoles::rolesOf(StringRef name) const {
  std::vector<Role> roles;
  llvm::StringSet<> seen;
  std::vector<Next> work = {{name, false}};
  while (!work.empty()) {
    const bool isExpanded = work.back().isExpanded;
    const StringRef at = endOfWay(work.back().name);
    work.pop_back();
    if (!seen.insert(at).second)
      continue;
    const Uses uses = usesOf(at);
    for (const Role &role : uses.roles)
      roles.push_back({role.kind, role.use, isExpanded});
    for (const Next &next : uses.next)
      work.push_back({next.name, isExpanded || next.isExpanded});
  }
  return roles;
}

static bool isIdentity(const NodeProto &node) {
  return operatorName(node) == "Identity" && node.output_size() == 1;
}

/// Does `holds(value, uses)` hold for a value and all that an Identity makes of
/// it? The uses are without Identities.
template <class Holds>
static bool holdsForSame(const Dataflow &flow, StringRef name, Holds holds) {
  llvm::StringSet<> seen;
  std::vector<std::string> work = {name.str()};
  while (!work.empty()) {
    std::string at = std::move(work.back());
    work.pop_back();
    if (!seen.insert(at).second)
      continue;
    std::vector<Use> uses;
    for (const Use &use : flow.usesOf(at))
      if (isIdentity(*use.node))
        work.push_back(use.node->output(0));
      else
        uses.push_back(use);
    if (!holds(at, uses))
      return false;
  }
  return true;
}

/// Is the operand a weight that data meets?
bool ParameterRoles::isWeightOfData(const Use &use) const {
  if (!isWeightOperand(use))
    return false;
  const int data = infoOf(*use.node)->dataOperand;
  return data < use.node->input_size() && flow.isData(use.node->input(data));
}

/// Is the operand a table of which a list of constants names several rows?
bool ParameterRoles::namesRows(const Use &use) const {
  const NodeProto &node = *use.node;
  if (operatorName(node) != "Gather" || use.operand != 0)
    return false;
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == "axis" && attribute.i() != 0)
      return false;
  const onnx::TensorProto *rows = flow.tensorOf(node.input(1));
  return rows && llvm::any_of(rows->dims(), [](int64_t d) { return d > 1; });
}

/// Does `holds` hold for all uses of the value, of which there are some, and is
/// it no result?
bool ParameterRoles::holdsForUses(
    StringRef name, llvm::function_ref<bool(const Use &)> holds) const {
  size_t count = 0;
  return holdsForSame(flow, name,
                      [&](StringRef at, const std::vector<Use> &uses) {
                        count += uses.size();
                        return !flow.isOutput(at) &&
                               flow.aliasesOf(at).empty() &&
                               llvm::all_of(uses, holds);
                      }) &&
         count > 0;
}

bool ParameterRoles::feedsOnlyWeights(StringRef name) const {
  return holdsForUses(name,
                      [this](const Use &use) { return isWeightOfData(use); });
}

bool ParameterRoles::feedsOnlyWeightsOrTables(StringRef name) const {
  return holdsForUses(name, [this](const Use &use) {
    return isWeightOfData(use) || namesRows(use);
  });
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
  auto multipliesBatches = [&](const Use &use) {
    const std::string type = operatorName(*use.node);
    const bool multiplies =
        type == "MatMul" || type == "com.microsoft.FusedMatMul";
    return (multiplies && rank >= 3) ||
           (type == "Einsum" && isBatchedEinsum(*use.node));
  };
  return !holdsForSame(flow, name, [&](StringRef, const auto &uses) {
    return llvm::none_of(uses, multipliesBatches);
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
  if (operatorName(node) != "InstanceNormalization" || role.use.operand == 0 ||
      contents.oneValue() != (isScale(role.use) ? 1.0 : 0.0))
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
  return weightsAreApart && maker && operatorName(*maker) == "Constant" &&
         isNormalization(node) &&
         contents.oneValue() == (isScale(role.use) ? 1.0 : 0.0);
}

/// A product of one feature has a bias of one element.
bool ParameterRoles::isBiasOfOneFeature(const Role &role,
                                        const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  if (operatorName(node) != "Add" || contents.getShape().empty())
    return false;
  const NodeProto *product = flow.makerOf(
      flow.behind(node.input(1 - role.use.operand), [](const NodeProto &maker) {
        return operatorName(maker) != "MatMul" && movesOperand(maker, 0);
      }));
  if (!product || operatorName(*product) != "MatMul")
    return false;
  const onnx::TensorProto *weight =
      flow.tensorOf(flow.behind(product->input(1), [](const NodeProto &maker) {
        return operatorName(maker) == "Transpose";
      }));
  return weight && llvm::is_contained(weight->dims(), 1);
}

/// Are the results what a softmax takes, so that the node adds to scores?
bool ParameterRoles::goesToSoftmax(const NodeProto &node) const {
  return llvm::any_of(node.output(), [this](const std::string &output) {
    return llvm::any_of(flow.usesOf(output), [](const Use &use) {
      return operatorName(*use.node) == "Softmax";
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
    return {false, "left out in " + labelOf(node) +
                       ", which an exporter made of a normalisation of groups"};
  if (isLeftOut(name, role, contents))
    return {false,
            "left out in " + labelOf(node) + ", where it changes nothing"};
  // Small numbers like these may be anything in a vector, and a matrix on the
  // right may begin as one of zeros and ones.
  if (contents.getShape().size() >= 2 && (isProduct(node) || isLookup(node)))
    if (auto told = judgeContents(contents, role.use.operand == 0 &&
                                                contents.isStrictMask()))
      return *told;
  return {true, nameOfWeight(role.use).str() + " " + labelOf(node)};
}

Verdict ParameterRoles::judgeOperand(const Role &role,
                                     const Contents &contents) const {
  const NodeProto &node = *role.use.node;
  const std::string type = operatorName(node);
  const bool isOne = contents.oneValue().has_value();
  auto fill = [&](StringRef what) {
    return Verdict{false, (what + " " + labelOf(node)).str()};
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
    return {true, nameOfFactor(role.use).str() + " " + labelOf(node)};
  }
  case Kind::Joined:
    if (isOne && !role.isExpanded)
      return fill("a number, repeated, at");
    return {true, "joined to data at " + labelOf(node)};
  case Kind::State:
    if (isOne)
      return fill("a number, repeated, that starts");
    return {true, "initial state of " + labelOf(node)};
  default:
    if (isOne)
      return fill("a number, repeated, at");
    return {true, "operand of " + labelOf(node)};
  }
}

std::optional<Verdict> ParameterRoles::judgeStatistic(StringRef name) const {
  for (const Role &role : rolesOf(name))
    if (role.kind == Kind::Statistic)
      return Verdict{false,
                     "a running statistic of " + labelOf(*role.use.node)};
  return std::nullopt;
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
  if (auto statistic = judgeStatistic(name))
    return *statistic;
  if (const Role *role = find(Kind::LossWeight))
    return {false, "weights of the loss " + labelOf(*role->use.node)};
  const Role *operand =
      find(Kind::Factor, Kind::Joined, Kind::State, Kind::Other);
  if (!operand) {
    if (const Role *role = find(Kind::Angle))
      return {false, "of the angles of " + labelOf(*role->use.node)};
    if (const Role *role = find(Kind::Setting))
      return {false, "a setting of " + labelOf(*role->use.node)};
    if (const Role *role = find(Kind::Condition))
      return {false,
              "for " + labelOf(*role->use.node) + ", which has no gradient"};
    return {false, "no operator computes with it"};
  }
  if (contents.size() == 1) {
    for (const Role &role : roles)
      if (isBiasOfOneFeature(role, contents))
        return {true, "bias at " + labelOf(*role.use.node)};
    return {false, "a number in " + labelOf(*operand->use.node)};
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
