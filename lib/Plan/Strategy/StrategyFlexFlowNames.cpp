//===- StrategyFlexFlowNames.cpp - operators by FlexFlow's names ----------===//
//
// Which operator of a graph a name of FlexFlow means, and how FlexFlow would
// call it.
//
//===----------------------------------------------------------------------===//

#include "StrategyFlexFlow.h"

#include "StrategyNames.h"
#include "Text/Text.h"

#include <algorithm>
#include <cctype>
#include <set>

using namespace ffc::plan;

[[noreturn]] static void fail(int at, const std::string &message) {
  throw Malformed{at, message};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

struct FlexFlowType {
  const char *name; ///< as FlexFlow writes it
  /// The families that count as this type.
  std::vector<std::string> families;
  /// Other names of it, lower case: of earlier versions and other parts of it.
  std::vector<std::string> otherNames = {};
};

} // namespace

/// An operator is written as the first type that it counts as.
static const std::vector<FlexFlowType> &flexFlowTypes() {
  static const std::vector<FlexFlowType> types = {
      {"Conv2D", {"conv2d"}, {"conv"}},
      {"Pool2D", {"pool2d"}, {"pool"}},
      {"Dense", {"linear"}, {"linear"}},
      {"BatchMatMul", {"linear"}, {"matmul"}},
      {"Embedding", {"embedding"}, {"embed"}},
      {"Concat", {"concat"}},
      {"Flat", {"flat"}, {"flatten"}},
      {"Reshape", {"flat"}},
      {"Transpose", {"transpose"}},
      {"Softmax", {"softmax"}},
      {"BatchNorm", {"normalize"}, {"bn"}},
      {"Dropout", {"dropout"}},
      {"LSTM", {"lstm"}},
      {"ReLU", {"relu"}},
      {"Sigmoid", {"sigmoid"}},
      {"Tanh", {"tanh"}},
      {"Elu", {"elu"}},
      {"GELU", {"gelu", "gelu_tanh"}},
      {"Exp", {"exp"}},
      {"Log", {"log"}},
      {"Sqrt", {"sqrt"}},
      {"ScalarMultiply", {"scale"}},
      {"ScalarAdd", {"shift"}},
      {"Add", {"add"}, {"ewadd"}},
      {"Sub", {"sub"}, {"subtract", "ewsub"}},
      {"Mul", {"mul"}, {"multiply", "ewmul"}},
      {"Div", {"div"}, {"divide", "ewdiv"}},
      {"Max", {"max"}, {"ewmax"}},
      {"Min", {"min"}, {"ewmin"}},
      {"Pow", {"pow"}},
      {"ReduceSum", {"reduce_sum"}},
      {"MSELoss", {"mse"}},
      {"ElementUnary",
       {"relu", "sigmoid", "tanh", "elu", "gelu", "gelu_tanh", "exp", "log",
        "sqrt", "scale", "shift"}},
      {"ElementBinary", {"add", "sub", "mul", "div", "max", "min", "pow"}}};
  return types;
}

/// Lower case, without '_', '-' and spaces.
static std::string normalized(const std::string &name) {
  std::string result;
  for (char c : name)
    if (c != '_' && c != '-' && c != ' ')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

static const FlexFlowType *findType(const std::string &name) {
  const std::string wanted = normalized(name);
  for (const FlexFlowType &type : flexFlowTypes())
    if (wanted == normalized(type.name) ||
        std::count(type.otherNames.begin(), type.otherNames.end(), wanted))
      return &type;
  return nullptr;
}

/// Does `op` count as `type`? One family multiplies by weights and multiplies
/// two activations, where FlexFlow has a type each.
static bool isOfType(const Graph &graph, const Op &op,
                     const FlexFlowType &type) {
  const bool wantsLoss = type.families.front() == "mse";
  if (op.role != (wantsLoss ? OpRole::Loss : OpRole::Forward) ||
      !std::count(type.families.begin(), type.families.end(), op.type))
    return false;
  if (op.type != "linear")
    return true;
  const bool ofActivations =
      op.operands.size() > 1 && op.operands[1] >= 0 &&
      graph.value(op.operands[1]).kind != ValueKind::State;
  return ofActivations == (type.name == std::string("BatchMatMul"));
}

static std::vector<OpId> ofType(const Graph &graph, const FlexFlowType &type) {
  std::vector<OpId> result;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (isOfType(graph, graph.op(id), type))
      result.push_back(id);
  return result;
}

std::vector<OpId> ffc::plan::flexFlowOpsOfType(const Graph &graph,
                                               const std::string &type) {
  const FlexFlowType *found = findType(type);
  return found ? ofType(graph, *found) : std::vector<OpId>();
}

/// The forward operators of a type that FlexFlow has, with that type, in graph
/// order: FlexFlow numbers its own from 100.
static std::vector<std::pair<OpId, const FlexFlowType *>>
typedOps(const Graph &graph) {
  std::vector<std::pair<OpId, const FlexFlowType *>> result;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    for (const FlexFlowType &type : flexFlowTypes())
      if (graph.op(id).role == OpRole::Forward &&
          isOfType(graph, graph.op(id), type)) {
        result.emplace_back(id, &type);
        break;
      }
  return result;
}

static constexpr int64_t kFirstNumber = 100;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

/// A configuration's name: "Dense_100", "Concat-111", "conv3", "linear".
struct ParsedName {
  const FlexFlowConfig *config = nullptr;
  const FlexFlowType *type = nullptr; ///< null: not of the form TYPE NUMBER
  bool hasNumber = false;
  bool hasSeparator = false;
  int64_t number = 0;
};

/// Finds the operators that the names of a file mean.
class NameMap {
public:
  NameMap(const Graph &graph, const std::vector<FlexFlowConfig> &configs)
      : graph(graph), configs(configs), names(graph), typed(typedOps(graph)) {
    for (const FlexFlowConfig &config : configs)
      parsed.push_back(parse(config));
  }

  /// The operators of each configuration.
  std::vector<std::vector<OpId>> find() const {
    std::vector<std::vector<OpId>> result(configs.size());
    for (size_t i = 0; i < configs.size(); ++i)
      if (!parsed[i].hasNumber)
        result[i] = findUnnumbered(parsed[i]);
    if (!numberDirectly(result))
      for (const FlexFlowType &type : flexFlowTypes())
        numberInOrder(type, result);
    return result;
  }

private:
  static ParsedName parse(const FlexFlowConfig &config) {
    const std::string &name = config.name;
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0)
      fail(config.at, quoted(name) +
                          " is the hash of an operator's name, which FlexFlow "
                          "of 2020 wrote in its place: expected names");
    ParsedName result;
    result.config = &config;
    result.hasSeparator = name[digits - 1] == '_' || name[digits - 1] == '-';
    result.type = findType(name.substr(0, digits));
    if (digits == name.size())
      return result;
    const auto number = parseCount(name.substr(digits), INT64_MAX);
    result.hasNumber = result.type && number;
    if (number)
      result.number = *number;
    else
      result.type = nullptr;
    return result;
  }

  /// A node's name, else a type: FlexFlow's operators may share a name.
  std::vector<OpId> findUnnumbered(const ParsedName &name) const {
    std::string error;
    const OpId id = names.find(name.config->name, error);
    if (id >= 0)
      return {id};
    if (!name.type)
      fail(name.config->at, error + ", or one of FlexFlow such as 'Dense_100' "
                                    "of a type that ffc has, too");
    std::vector<OpId> all = ofType(graph, *name.type);
    if (all.empty())
      fail(name.config->at,
           quoted(name.config->name) + ": expected an operator of that type (" +
               joined(name.type->families) + ") in the model, found none");
    return all;
  }

  /// "Dense_103" is the operator that would have number 103 in a program with
  /// just our operators; "conv3" is what our own format calls so. Returns
  /// whether that makes sense of all numbered names.
  bool numberDirectly(std::vector<std::vector<OpId>> &result) const {
    std::vector<std::vector<OpId>> direct = result;
    std::set<OpId> used;
    for (size_t i = 0; i < parsed.size(); ++i) {
      const ParsedName &name = parsed[i];
      if (!name.hasNumber)
        continue;
      OpId id = -1;
      if (name.hasSeparator) {
        const int64_t index = name.number - kFirstNumber;
        if (index < 0 || index >= static_cast<int64_t>(typed.size()) ||
            !isOfType(graph, graph.op(typed[index].first), *name.type))
          return false;
        id = typed[index].first;
      } else {
        std::string error;
        id = names.find(name.config->name, error);
      }
      if (id < 0 || !used.insert(id).second)
        return false;
      direct[i] = {id};
    }
    result = std::move(direct);
    return true;
  }

  /// The name of `type` with the k-th lowest number is the k-th operator: the
  /// numbers also count operators that we do not have.
  void numberInOrder(const FlexFlowType &type,
                     std::vector<std::vector<OpId>> &result) const {
    std::vector<size_t> numbered;
    for (size_t i = 0; i < parsed.size(); ++i)
      if (parsed[i].hasNumber && parsed[i].type == &type)
        numbered.push_back(i);
    std::stable_sort(numbered.begin(), numbered.end(), [&](size_t a, size_t b) {
      return parsed[a].number < parsed[b].number;
    });
    const std::vector<OpId> all = ofType(graph, type);
    for (size_t k = 0; k < numbered.size(); ++k) {
      const FlexFlowConfig &config = configs[numbered[k]];
      if (k > 0 && parsed[numbered[k]].number == parsed[numbered[k - 1]].number)
        fail(config.at, quoted(config.name) + " is given twice");
      if (k == all.size())
        fail(config.at,
             quoted(config.name) + ": the file has " +
                 std::to_string(numbered.size()) + " operators of type " +
                 type.name + ", expected at most as many as the model has (" +
                 joined(type.families) + "), " + std::to_string(all.size()));
      result[numbered[k]] = {all[k]};
    }
  }

  const Graph &graph;
  const std::vector<FlexFlowConfig> &configs;
  OperatorNames names;
  std::vector<std::pair<OpId, const FlexFlowType *>> typed;
  std::vector<ParsedName> parsed;
};

} // namespace

std::vector<std::vector<OpId>>
ffc::plan::findFlexFlowOps(const Graph &graph,
                           const std::vector<FlexFlowConfig> &configs) {
  return NameMap(graph, configs).find();
}

std::vector<std::string> ffc::plan::flexFlowNames(const Graph &graph) {
  std::vector<std::string> result(graph.ops.size());
  int64_t number = kFirstNumber;
  for (const auto &[id, type] : typedOps(graph))
    result[id] = std::string(type->name) + "_" + std::to_string(number++);
  return result;
}
