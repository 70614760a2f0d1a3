//===- Layers.cpp - the layers of a program, and their kinds --------------===//

#include "Layers.h"

#include "Blocks.h"

#include "llvm/ADT/StringMap.h"

#include <map>
#include <tuple>

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

std::vector<ArrayRef<Operation *>> Member::turnsOf(size_t c) const {
  std::vector<ArrayRef<Operation *>> result;
  if (!isByTurn)
    for (const auto &part : parts)
      result.push_back(part[c]);
  else
    for (std::optional<size_t> part : turns[c])
      result.push_back(part ? ArrayRef(parts[*part][c])
                            : ArrayRef<Operation *>());
  return result;
}

namespace {

/// The layer of what has no operator's name before anything that has one.
constexpr StringLiteral kNameless = "start";

class Arranger {
public:
  Arranger(const ProgramMeta &meta, Functors &functors, size_t classes,
           bool isPipeline)
      : meta(meta), functors(functors), numClasses(classes),
        isPipeline(isPipeline) {}

  LogicalResult add(const Statement &statement) {
    const Place place = placeOf(statement);
    switch (statement.kind) {
    case Statement::Kind::Kernel:
      return addKernels(statement, place);
    case Statement::Kind::Reshard:
      addReshard(statement, place);
      break;
    case Statement::Kind::Probe:
      addProbe(statement, place);
      break;
    }
    return success();
  }

  void finish() {
    if (isPipeline)
      makePasses();
    else
      for (Method &method : methodsOf(uses))
        add(std::move(method));
    joinParts();
    placeValues();
  }

  Layers result;

private:
  using ByClass = std::vector<SmallVector<Operation *>>;

  // layers

  /// Of a statement. In a method, all calls have the same.
  struct Place {
    size_t layer = 0;
    Direction direction = Direction::Forward;
    bool isAgain = false, inMicroBatch = true;
    bool operator==(const Place &o) const {
      return layer == o.layer && direction == o.direction &&
             isAgain == o.isAgain && inMicroBatch == o.inMicroBatch;
    }
  };
  /// What a statement does: a part of a member.
  struct Use {
    Place place;
    size_t member = 0, part = 0;
    /// Of a pipeline: classes that do something in it, and as what.
    std::vector<std::pair<size_t, Role>> classes;
  };

  /// Statements without an operator's name stay with what is before them, but
  /// nothing after the micro-batches with what is in them.
  Place placeOf(const Statement &statement) {
    const bool isFirst = uses.empty() || uses.back().place.inMicroBatch !=
                                             statement.inMicroBatch;
    if (!isFirst && statement.op.empty())
      return uses.back().place;
    Place place;
    place.isAgain = statement.isAgain;
    place.inMicroBatch = statement.inMicroBatch;
    if (!statement.op.empty())
      std::tie(place.layer, place.direction) = placeOf(statement.op);
    else if (uses.empty())
      std::tie(place.layer, place.direction) = placeOf(kNameless);
    else
      std::tie(place.layer, place.direction) =
          std::pair(uses.back().place.layer, Direction::Update);
    return place;
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

  Member &memberOf(const Use &use) {
    return result.layers[use.place.layer].members[use.member];
  }

  /// Tells members of a layer apart that have parts in several statements: by
  /// what these have in common and, of kernels, the text.
  using MemberKey = std::tuple<size_t, StatementKey, size_t, std::string>;

  /// Uses the member of `key`, or a new one, by a new part.
  Member &use(const Statement &statement, const Place &place,
              const std::optional<MemberKey> &key, ByClass part) {
    Layer &layer = result.layers[place.layer];
    size_t number = layer.members.size();
    if (key)
      number = members.try_emplace(*key, number).first->second;
    if (number == layer.members.size()) {
      Member &member = layer.members.emplace_back();
      member.kind = statement.kind;
      member.op = statement.op;
    }
    Member &member = layer.members[number];
    Use &use = uses.emplace_back();
    use.place = place;
    use.member = number;
    use.part = member.parts.size();
    for (auto [c, actions] : llvm::enumerate(part))
      if (isPipeline && !actions.empty())
        use.classes.push_back({c, roleOf(actions)});
    member.parts.push_back(std::move(part));
    return member;
  }

  /// Mostly all kernels of a statement are one member. If their texts differ,
  /// each rank's keep their order.
  LogicalResult addKernels(const Statement &statement, const Place &place) {
    std::map<std::pair<size_t, std::string>, ByClass> groups;
    std::map<std::string, size_t> signatures;
    for (const auto &actions : statement.actions)
      for (Operation *action : actions)
        signatures.try_emplace(signatureOf(cast<rank::KernelOp>(action)));
    for (auto [c, actions] : llvm::enumerate(statement.actions))
      for (auto [i, action] : llvm::enumerate(actions)) {
        ByClass &group = groups[{signatures.size() > 1 ? i : 0,
                                 signatureOf(cast<rank::KernelOp>(action))}];
        group.resize(numClasses);
        group[c].push_back(action);
      }
    for (auto &[key, group] : groups)
      if (failed(addKernel(statement, place, key, std::move(group))))
        return failure();
    return success();
  }

  LogicalResult addKernel(const Statement &statement, const Place &place,
                          const std::pair<size_t, std::string> &text,
                          ByClass group) {
    auto op = cast<rank::KernelOp>(firstOf(group));
    std::optional<MemberKey> key;
    if (isPipeline)
      key = {place.layer, keyOf(op), text.first, text.second};
    Member &member = use(statement, place, key, std::move(group));
    if (member.parts.size() > 1)
      return success();
    FailureOr<std::string> callee = Functors::isFused(op)
                                        ? functors.classOf(op)
                                        : toClassName(op.getCallee());
    if (failed(callee))
      return failure();
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
    return success();
  }

  /// All steps of a reshard are one member.
  void addReshard(const Statement &statement, const Place &place) {
    // Turns are those of the step.
    const bool isApart = isPipeline && !place.inMicroBatch;
    const MemberKey key(place.layer, keyOf(statement.first()), isApart, "");
    if (!isPipeline) {
      use(statement, place, key, statement.actions);
      return;
    }
    // Whether both come together may differ from micro-batch to micro-batch.
    ByClass starts(numClasses), ends(numClasses);
    for (auto [c, actions] : llvm::enumerate(statement.actions)) {
      auto wait = llvm::find_if(
          actions, [](Operation *op) { return isa<rank::WaitOp>(op); });
      starts[c].assign(actions.begin(), wait);
      ends[c].assign(wait, actions.end());
    }
    for (ByClass *part : {&starts, &ends})
      if (firstOf(*part))
        use(statement, place, key, std::move(*part));
  }

  /// Offers that follow each other are one member, of a pipeline those of one
  /// output, which micro-batches may make part by part.
  void addProbe(const Statement &statement, const Place &place) {
    if (isPipeline) {
      auto first = cast<rank::ProbeOp>(statement.first());
      const MemberKey key(place.layer, keyOf(first), !place.inMicroBatch,
                          first.getName().str());
      use(statement, place, key, statement.actions);
      return;
    }
    if (uses.empty() || !(uses.back().place == place) ||
        memberOf(uses.back()).kind != Statement::Kind::Probe) {
      use(statement, place, std::nullopt, statement.actions);
      return;
    }
    for (auto [c, actions] : llvm::enumerate(statement.actions))
      llvm::append_range(memberOf(uses.back()).parts[0][c], actions);
  }

  // methods

  /// Calls of one layer that follow each other in one direction are a method.
  std::vector<Method> methodsOf(ArrayRef<Use> calls) {
    std::vector<Method> methods;
    const Place *last = nullptr;
    for (const Use &use : calls) {
      const Place &place = use.place;
      if (!last || !(*last == place))
        methods.push_back({place.layer,
                           place.direction,
                           place.isAgain,
                           place.inMicroBatch,
                           "",
                           {}});
      last = &place;
      const bool isWhole = memberOf(use).kind != Statement::Kind::Reshard;
      methods.back().calls.push_back(
          {use.member, isWhole ? 0 : use.part, isWhole});
    }
    return methods;
  }

  /// Returns the method's index.
  size_t add(Method method) {
    result.layers[method.layer].methods.push_back(result.methods.size());
    result.methods.push_back(std::move(method));
    return result.methods.size() - 1;
  }

  /// The same, or the index of one that makes the same calls by turn.
  size_t addOnce(Method method) {
    auto isSame = [&](size_t m) {
      const Method &known = result.methods[m];
      return known.direction == method.direction &&
             known.isAgain == method.isAgain &&
             llvm::equal(known.calls, method.calls,
                         [](const Call &a, const Call &b) {
                           return a.member == b.member;
                         });
    };
    const std::vector<size_t> &known = result.layers[method.layer].methods;
    auto same = llvm::find_if(known, isSame);
    return same == known.end() ? add(std::move(method)) : *same;
  }

  /// Of a pipeline: what always follows each other is a pass.
  void makePasses() {
    std::map<std::tuple<size_t, size_t, bool, Role>, size_t> numbers;
    std::vector<const Use *> nodes;
    std::vector<std::vector<size_t>> sequences(numClasses);
    std::vector<std::vector<const Use *>> usesOf(numClasses);
    for (const Use &use : uses) {
      if (!use.place.inMicroBatch)
        break;
      for (auto [c, role] : use.classes) {
        auto [entry, isNew] = numbers.try_emplace(
            {use.place.layer, use.member, use.place.isAgain, role},
            nodes.size());
        if (isNew)
          nodes.push_back(&use);
        sequences[c].push_back(entry->second);
        usesOf[c].push_back(&use);
      }
    }
    std::vector<bool> mayMiss;
    for (const Use *node : nodes)
      mayMiss.push_back(memberOf(*node).kind != Statement::Kind::Kernel);
    const Blocks blocks = blocksOf(mayMiss, sequences);
    for (auto [c, sequence] : llvm::enumerate(blocks.filled))
      for (const Blocks::Item &item : sequence)
        takeTurn(c, *nodes[item.number],
                 item.at < 0 ? nullptr : usesOf[c][item.at]);
    for (const std::vector<size_t> &block : blocks.blocks) {
      std::vector<Use> calls;
      for (size_t node : block)
        calls.push_back(*nodes[node]);
      Pass &pass = result.passes.emplace_back();
      for (Method &method : methodsOf(calls))
        pass.methods.push_back(addOnce(std::move(method)));
    }
    result.passOrder = blocks.order;
    for (auto [c, order] : llvm::enumerate(result.passOrder))
      for (size_t pass : order)
        if (auto &classes = result.passes[pass].classes;
            classes.empty() || classes.back() != c)
          classes.push_back(c);
    for (Method &method : methodsOf(ArrayRef(uses).drop_while(
             [](const Use &use) { return use.place.inMicroBatch; })))
      add(std::move(method));
  }

  /// The ranks of class `c` call the member of `node`, for what `use` does if
  /// there is anything.
  void takeTurn(size_t c, const Use &node, const Use *use) {
    Member &member = memberOf(node);
    member.turns.resize(numClasses);
    std::vector<std::optional<size_t>> &turns = member.turns[c];
    turns.emplace_back();
    if (use)
      turns.back() = use->part;
    member.isByTurn |= turns.size() > 1 || member.parts.size() > 1;
  }

  /// Calls of all parts, one after the other, are one.
  void joinParts() {
    for (Method &method : result.methods) {
      std::vector<Call> calls;
      const Layer &layer = result.layers[method.layer];
      for (const Call &call : method.calls) {
        calls.push_back(call);
        const Member &member = layer.members[call.member];
        const size_t parts = member.parts.size();
        if (member.isByTurn || call.isWhole || calls.size() < parts ||
            call.part + 1 != parts)
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

  const ProgramMeta &meta;
  Functors &functors;
  const size_t numClasses;
  const bool isPipeline;
  llvm::StringMap<size_t> byName;
  std::map<MemberKey, size_t> members;
  std::vector<Use> uses; ///< in the order of the statements
};

} // namespace

FailureOr<Layers> codegen::arrange(ArrayRef<rank::FuncOp> classes,
                                   const ProgramMeta &meta,
                                   Functors &functors) {
  FailureOr<std::vector<Statement>> statements = statementsOf(classes);
  if (failed(statements))
    return failure();
  Arranger arranger(meta, functors, classes.size(), isPipeline(*statements));
  arranger.result.values.emplace(classes, *statements);
  for (const Statement &statement : *statements)
    if (failed(arranger.add(statement)))
      return failure();
  arranger.finish();
  findKinds(arranger.result, meta);
  nameLayers(arranger.result, meta);
  return std::move(arranger.result);
}
