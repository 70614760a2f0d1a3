//===- Layers.cpp - the layers of a program, and their kinds --------------===//

#include "Layers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <map>

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

StringRef codegen::wordOf(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return "forward";
  case Direction::Backward:
    return "backward";
  case Direction::Update:
    return "update";
  }
  llvm_unreachable("unknown direction");
}

namespace {

/// The layer of what has no operator's name before anything that has one.
constexpr StringLiteral kNameless = "start";

class Arranger {
public:
  Arranger(const ProgramMeta &meta, Functors &functors, size_t classes)
      : meta(meta), functors(functors), numClasses(classes) {}

  LogicalResult add(const Statement &statement) {
    Method &method = methodOf(statement);
    switch (statement.kind) {
    case Statement::Kind::Kernel:
      return addKernels(statement, method);
    case Statement::Kind::Reshard:
      addReshard(statement, method);
      break;
    case Statement::Kind::Probe:
      addProbe(statement, method);
      break;
    }
    return success();
  }

  void finish() {
    joinParts();
    placeValues();
    findKinds();
  }

  Layers result;

private:
  using ByClass = std::vector<SmallVector<Operation *>>;

  // layers and methods

  /// Statements without an operator's name stay with what is before them, but
  /// nothing after the micro-batches with what is in them.
  Method &methodOf(const Statement &statement) {
    const bool isNew =
        result.methods.empty() ||
        result.methods.back().inMicroBatch != statement.inMicroBatch;
    if (!isNew && statement.op.empty())
      return result.methods.back();
    auto [layer, direction] =
        !statement.op.empty() ? placeOf(statement.op)
        : result.methods.empty()
            ? placeOf(kNameless)
            : std::pair(result.methods.back().layer, Direction::Update);
    if (isNew || result.methods.back().layer != layer ||
        result.methods.back().direction != direction ||
        result.methods.back().isAgain != statement.isAgain) {
      result.layers[layer].methods.push_back(result.methods.size());
      result.methods.push_back({layer,
                                direction,
                                statement.isAgain,
                                statement.inMicroBatch,
                                "",
                                {}});
    }
    return result.methods.back();
  }

  std::pair<size_t, Direction> placeOf(StringRef name) {
    auto op = meta.ops.find(name.str());
    if (op == meta.ops.end())
      return {layerCalled(name), Direction::Forward};
    StringRef layer = op->second.layer;
    return {layerCalled(layer.empty() ? name : layer), op->second.direction};
  }

  size_t layerCalled(StringRef name) {
    auto [entry, isNew] = byName.try_emplace(name, result.layers.size());
    if (isNew)
      result.layers.emplace_back().name = name.str();
    return entry->second;
  }

  // members

  Member &addMember(const Statement &statement, Method &method) {
    Layer &layer = result.layers[method.layer];
    method.calls.push_back({layer.members.size(), 0, true});
    Member &member = layer.members.emplace_back();
    member.kind = statement.kind;
    member.op = statement.op;
    return member;
  }

  /// Mostly all kernels of a statement are one member. If their texts differ,
  /// each rank's keep their order.
  LogicalResult addKernels(const Statement &statement, Method &method) {
    std::map<std::pair<size_t, std::string>, ByClass> groups;
    std::map<std::string, size_t> signatures;
    size_t most = 0;
    for (const auto &actions : statement.actions) {
      most = std::max(most, actions.size());
      for (Operation *action : actions)
        signatures.try_emplace(signatureOf(cast<rank::KernelOp>(action)));
    }
    for (auto [c, actions] : llvm::enumerate(statement.actions))
      for (auto [i, action] : llvm::enumerate(actions)) {
        ByClass &group = groups[{signatures.size() > 1 ? i : 0,
                                 signatureOf(cast<rank::KernelOp>(action))}];
        group.resize(numClasses);
        group[c].push_back(action);
      }
    for (auto &[key, group] : groups)
      if (failed(addKernel(statement, method, std::move(group))))
        return failure();
    return success();
  }

  LogicalResult addKernel(const Statement &statement, Method &method,
                          ByClass group) {
    auto op = cast<rank::KernelOp>(firstOf(group));
    FailureOr<std::string> callee = Functors::isFused(op)
                                        ? functors.classOf(op)
                                        : toClassName(op.getCallee());
    if (failed(callee))
      return failure();
    Member &member = addMember(statement, method);
    member.callee = *callee;
    // What a fused kernel computes is part of its class.
    if (!Functors::isFused(op))
      member.args = op.getArgs();
    auto valuesOf = [&](ValueRange buffers) {
      std::vector<int> values;
      for (Value buffer : buffers)
        values.push_back(result.values->valueOf(buffer));
      return values;
    };
    member.ins = valuesOf(op.getIns());
    member.outs = valuesOf(op.getOuts());
    member.parts = {std::move(group)};
    return success();
  }

  void addReshard(const Statement &statement, Method &method) {
    Layer &layer = result.layers[method.layer];
    auto [entry, isNew] = reshards.try_emplace(
        std::make_pair(method.layer, keyOf(statement.first())),
        layer.members.size());
    if (isNew) {
      addMember(statement, method);
      method.calls.back().isWhole = false;
    } else {
      method.calls.push_back(
          {entry->second, layer.members[entry->second].parts.size(), false});
    }
    layer.members[entry->second].parts.push_back(statement.actions);
  }

  void addProbe(const Statement &statement, Method &method) {
    Layer &layer = result.layers[method.layer];
    Member *member = nullptr;
    if (!method.calls.empty())
      member = &layer.members[method.calls.back().member];
    if (!member || member->kind != Statement::Kind::Probe) {
      member = &addMember(statement, method);
      member->parts = {ByClass(numClasses)};
    }
    for (auto [c, actions] : llvm::enumerate(statement.actions))
      llvm::append_range(member->parts[0][c], actions);
  }

  /// Calls of all parts, one after the other, are one.
  void joinParts() {
    for (Method &method : result.methods) {
      std::vector<Call> calls;
      const Layer &layer = result.layers[method.layer];
      for (const Call &call : method.calls) {
        calls.push_back(call);
        const size_t parts = layer.members[call.member].parts.size();
        if (call.isWhole || calls.size() < parts || call.part + 1 != parts)
          continue;
        ArrayRef<Call> last = ArrayRef(calls).take_back(parts);
        if (llvm::any_of(llvm::enumerate(last), [&](auto each) {
              return each.value().member != call.member || // of a former one
                     each.value().part != each.index();
            }))
          continue;
        calls.resize(calls.size() - parts);
        calls.push_back({call.member, 0, true});
      }
      method.calls = std::move(calls);
    }
  }

  // values

  void placeValues() {
    constexpr size_t kNone = ~size_t(0);
    result.owners.assign(result.values->all().size(), {kNone, 0});
    for (auto [l, layer] : llvm::enumerate(result.layers)) {
      std::vector<int> given, mine;
      for (const Member &member : layer.members)
        for (const std::vector<int> *list : {&member.ins, &member.outs})
          for (int value : *list) {
            if (value < 0 || llvm::is_contained(given, value))
              continue;
            if (result.owners[value].first == kNone) {
              result.owners[value].first = l;
              mine.push_back(value);
            } else if (result.owners[value].first != l) {
              given.push_back(value);
            }
          }
      layer.numGiven = given.size();
      layer.values = std::move(given);
      llvm::append_range(layer.values, mine);
      std::map<int, int> local;
      for (auto [i, value] : llvm::enumerate(layer.values)) {
        local[value] = static_cast<int>(i);
        if (result.owners[value].first == l)
          result.owners[value].second = i;
      }
      for (Member &member : layer.members)
        for (std::vector<int> *list : {&member.ins, &member.outs})
          for (int &value : *list)
            value = value < 0 ? -1 : local.at(value);
    }
  }

  // kinds

  /// What the text of a layer's class is made of.
  std::string structureOf(const Layer &layer) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    auto op = meta.ops.find(layer.name);
    if (op != meta.ops.end())
      out << op->second.type;
    out << ";" << layer.values.size() << "," << layer.numGiven;
    for (size_t m : layer.methods) {
      const Method &method = result.methods[m];
      out << ";" << wordOf(method.direction) << method.isAgain
          << method.inMicroBatch;
      for (const Call &call : method.calls)
        out << "," << call.member << "." << call.part << call.isWhole;
    }
    for (const Member &member : layer.members) {
      out << ";" << int(member.kind) << member.callee << "("
          << member.parts.size();
      for (int value : member.ins)
        out << "," << value;
      out << ")";
      for (int value : member.outs)
        out << "," << value;
      if (member.args)
        for (NamedAttribute arg : member.args) {
          out << "," << arg.getName() << ":";
          if (auto typed = dyn_cast<TypedAttr>(arg.getValue()))
            out << typed.getType();
          else
            out << arg.getValue().getAbstractAttribute().getName();
        }
    }
    return text;
  }

  void findKinds() {
    llvm::StringMap<size_t> byStructure;
    for (auto [l, layer] : llvm::enumerate(result.layers)) {
      auto [entry, isNew] =
          byStructure.try_emplace(structureOf(layer), result.kinds.size());
      if (isNew)
        result.kinds.emplace_back();
      layer.kind = entry->second;
      result.kinds[layer.kind].layers.push_back(l);
    }
    for (LayerKind &kind : result.kinds)
      findParameters(kind);
  }

  void findParameters(LayerKind &kind) {
    const Layer &first = result.layers[kind.layers.front()];
    for (auto [m, member] : llvm::enumerate(first.members)) {
      if (!member.args)
        continue;
      for (auto [a, arg] : llvm::enumerate(member.args)) {
        const bool differs = llvm::any_of(kind.layers, [&](size_t l) {
          return result.layers[l].members[m].args.getValue()[a] != arg;
        });
        if (differs)
          kind.parameters.push_back({m, a, ""});
      }
    }
  }

  const ProgramMeta &meta;
  Functors &functors;
  const size_t numClasses;
  llvm::StringMap<size_t> byName;
  /// All steps of a reshard are one member.
  std::map<std::pair<size_t, StatementKey>, size_t> reshards;
};

} // namespace

FailureOr<Layers> codegen::arrange(ArrayRef<rank::FuncOp> classes,
                                   const ProgramMeta &meta,
                                   Functors &functors) {
  FailureOr<std::vector<Statement>> statements = statementsOf(classes);
  if (failed(statements))
    return failure();
  Arranger arranger(meta, functors, classes.size());
  arranger.result.values.emplace(classes, *statements);
  for (const Statement &statement : *statements)
    if (failed(arranger.add(statement)))
      return failure();
  arranger.finish();
  nameLayers(arranger.result, meta);
  return std::move(arranger.result);
}
