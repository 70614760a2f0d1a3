//===- LayerNames.cpp - names in the classes of layers --------------------===//
//
// Within the class of a layer a name says what part something plays there:
// "weight", "output_grad". It comes from the names of the model without what
// names the layer or, where that says nothing, from the kernels that use it.
//
//===----------------------------------------------------------------------===//

#include "Layers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

/// `name` without the words that it begins with and the layer's name ends with:
/// "weight" for "fc.weight" in "fc". Of a layer that is named by a path, its
/// last part may be the kind of the layer: "weight" is left of
/// "layer4.2.conv3.weight" in "/layer4/layer4.2/conv3/Conv". None if there are
/// no such words.
static std::optional<std::string> withoutLayer(StringRef name,
                                               StringRef layer) {
  SmallVector<StringRef> words, ofLayer;
  const std::string text = toIdentifier(name), other = toIdentifier(layer);
  StringRef(text).split(words, '_');
  StringRef(other).split(ofLayer, '_');
  const size_t kind = layer.contains('/') ? 1 : 0;
  size_t longest = 0;
  for (size_t tail = 0; tail <= kind && tail < ofLayer.size(); ++tail)
    for (size_t count = 1;
         count <= words.size() && count + tail <= ofLayer.size(); ++count)
      if (ArrayRef(words).take_front(count) ==
          ArrayRef(ofLayer).drop_back(tail).take_back(count))
        longest = std::max(longest, count);
  if (longest == 0)
    return std::nullopt;
  return llvm::join(ArrayRef(words).drop_front(longest), "_");
}

namespace {

/// How the kernels and reshards of a layer use one of its values.
struct Uses {
  /// By direction.
  bool read[3] = {}, written[3] = {};
  bool isState = false;
  bool isAgain = false; ///< it is what is computed again
  /// Indices in the layer, or -1: the parameter that is updated with it; the
  /// value that it is a copy of; the value that it is a part of the sum for.
  int gradientOf = -1, copyOf = -1, partOf = -1;
};

/// Directions of the members of a layer, by their first calls.
std::vector<Direction> directionsOf(const Layers &all, const Layer &layer) {
  std::vector<Direction> directions(layer.members.size());
  for (size_t m : llvm::reverse(layer.methods))
    for (const Call &call : all.methods[m].calls)
      directions[call.member] = all.methods[m].direction;
  return directions;
}

SmallVector<Value> sourcesOf(Operation *action) {
  if (auto copy = dyn_cast<rank::CopyOp>(action))
    return {copy.getSrc()};
  if (auto collective = dyn_cast<rank::CollectiveOp>(action))
    return {collective.getSrc()};
  if (auto exchange = dyn_cast<rank::ExchangeOp>(action))
    return SmallVector<Value>(exchange.getSends());
  return {};
}

SmallVector<Value> targetsOf(Operation *action) {
  if (auto copy = dyn_cast<rank::CopyOp>(action))
    return {copy.getDst()};
  if (auto collective = dyn_cast<rank::CollectiveOp>(action))
    return {collective.getDst()};
  if (auto exchange = dyn_cast<rank::ExchangeOp>(action))
    return SmallVector<Value>(exchange.getReceives());
  return {};
}

/// From which value to which other one a reshard moves; -1 for buffers of none.
std::pair<int, int> moveOf(const Member &member, const Values &values) {
  int from = -1, to = -1;
  for (const auto &part : member.parts)
    for (const auto &actions : part)
      for (Operation *action : actions) {
        for (Value source : sourcesOf(action))
          if (const int v = values.valueOf(source); v >= 0 && from < 0)
            from = v;
        for (Value target : targetsOf(action))
          if (const int v = values.valueOf(target); v >= 0 && v != from)
            to = v;
      }
  return {from, to};
}

/// The kernel that makes a value, or what the value is a copy of.
struct Maker {
  Direction direction;
  bool isKernel;
};
/// By value; states and inputs have none.
using Makers = std::vector<std::optional<Maker>>;

Makers makersOf(const Layers &all) {
  Makers makers(all.values->all().size());
  for (const Layer &layer : all.layers) {
    const std::vector<Direction> directions = directionsOf(all, layer);
    for (auto [m, member] : llvm::enumerate(layer.members))
      for (int v : member.outs)
        if (v >= 0 && !makers[layer.values[v]])
          makers[layer.values[v]] = {directions[m], true};
  }
  for (const Layer &layer : all.layers)
    for (const Member &member : layer.members) {
      if (member.kind != Statement::Kind::Reshard)
        continue;
      auto [from, to] = moveOf(member, *all.values);
      if (from >= 0 && to >= 0 && !makers[to] && makers[from])
        makers[to] = {makers[from]->direction, false};
    }
  return makers;
}

class LayerNamer {
public:
  LayerNamer(Layers &all, LayerKind &kind, const Makers &makers)
      : all(all), kind(kind), layer(all.layers[kind.layers.front()]),
        makers(makers), directions(directionsOf(all, layer)),
        scope({"number", "program", "rows", "shards"}) {}

  void run() {
    isAgain.resize(layer.members.size());
    nameMethods();
    findUses();
    layer.valueNames.resize(layer.values.size());
    for (size_t v = 0; v < layer.values.size(); ++v)
      layer.valueNames[v] =
          scope.take(nameOfValue(v) + (uses[v].isAgain ? kAgain : ""));
    for (size_t m = 0; m < layer.members.size(); ++m)
      layer.members[m].name = scope.take(nameOfMember(m));
    for (LayerParameter &parameter : kind.parameters) {
      const Member &member = layer.members[parameter.member];
      StringRef name = member.args.getValue()[parameter.arg].getName();
      const bool isTaken = !names.insert(name).second;
      parameter.name =
          scope.take(isTaken ? member.name + "_" + name.str() : name.str());
    }
  }

private:
  void nameMethods() {
    for (size_t m : layer.methods) {
      Method &method = all.methods[m];
      method.name = scope.take(!all.passes.empty() && communicates(method)
                                   ? StringRef("exchange")
                               : method.isAgain ? StringRef("recompute")
                                                : wordOf(method.direction));
      for (const Call &call : method.calls)
        isAgain[call.member] = isAgain[call.member] || method.isAgain;
    }
  }

  bool communicates(const Method &method) const {
    return llvm::all_of(method.calls, [&](const Call &call) {
      return layer.members[call.member].kind == Statement::Kind::Reshard;
    });
  }

  void findUses() {
    uses.resize(layer.values.size());
    for (auto [m, member] : llvm::enumerate(layer.members)) {
      const auto direction = static_cast<size_t>(directions[m]);
      for (int value : member.ins)
        if (value >= 0)
          uses[value].read[direction] = true;
      for (int value : member.outs)
        if (value >= 0) {
          uses[value].written[direction] = true;
          uses[value].isAgain |= isAgain[m];
        }
      // An update reads the parameter, then its gradient.
      if (isUpdate(m) && member.ins[1] != member.ins[0])
        uses[member.ins[1]].gradientOf = member.ins[0];
    }
    for (size_t v = 0; v < layer.values.size(); ++v)
      for (const auto &buffers : all.values->all()[layer.values[v]].buffers)
        for (rank::BufferOp buffer : buffers)
          uses[v].isState |= buffer.getSection() == "state";
    for (const Member &member : layer.members)
      if (member.kind == Statement::Kind::Reshard)
        findMoves(member);
  }

  /// What a reshard moves from one value of the layer to another one.
  void findMoves(const Member &member) {
    const auto [global, target] = moveOf(member, *all.values);
    const int from = localOf(global), to = localOf(target);
    if (from < 0 || to < 0)
      return;
    auto isWritten = [&](int v) {
      return llvm::any_of(uses[v].written, [](bool each) { return each; });
    };
    if (!isWritten(to) && !uses[to].isState && uses[to].gradientOf < 0)
      uses[to].copyOf = from;
    else if (isWritten(from) && uses[to].gradientOf >= 0)
      uses[from].partOf = to;
  }

  /// Index in the layer, or -1.
  int localOf(int value) const {
    auto local = llvm::find(layer.values, value);
    return value < 0 || local == layer.values.end()
               ? -1
               : static_cast<int>(local - layer.values.begin());
  }

  bool isUpdate(size_t m) const {
    const Member &member = layer.members[m];
    return member.kind == Statement::Kind::Kernel &&
           directions[m] == Direction::Update && member.ins.size() > 1 &&
           member.ins[0] >= 0 && member.ins[1] >= 0 &&
           llvm::is_contained(member.outs, member.ins[0]);
  }

  std::string nameOfValue(size_t v) const {
    const Uses &use = uses[v];
    if (use.gradientOf >= 0)
      return nameOfValue(use.gradientOf) + "_grad";
    if (use.partOf >= 0)
      return nameOfValue(use.partOf) + "_partial";
    if (use.copyOf >= 0 && uses[use.copyOf].copyOf < 0)
      return nameOfValue(use.copyOf) + "_gathered";
    const std::string &name = all.values->all()[layer.values[v]].name;
    std::optional<std::string> rest = withoutLayer(name, layer.name);
    const bool saysNothing = !rest || rest->empty() ||
                             llvm::isDigit(rest->front()) ||
                             StringRef(*rest).contains("backward") ||
                             StringRef(*rest).starts_with("internal");
    if (v >= layer.numGiven && !saysNothing)
      return *rest;
    if (use.isState)
      return rest && !rest->empty() ? *rest : name;
    if (rest && StringRef(*rest).starts_with("internal"))
      return "output_partial";
    return roleOf(v, rest.has_value(), rest ? "output" : name);
  }

  /// `isOwn`: its name says that it is of this layer.
  std::string roleOf(size_t v, bool isOwn, const std::string &otherwise) const {
    const Uses &use = uses[v];
    const std::optional<Maker> maker = makers[layer.values[v]];
    if (use.written[0])
      return "output";
    const bool isForward = maker && maker->direction == Direction::Forward;
    // A loss makes its gradient while it goes forward.
    if (isForward && maker->isKernel && v >= layer.numGiven && !use.read[0])
      return "output_grad";
    if (isForward || (!maker && use.read[0]))
      return isOwn || use.isState || isGraphInput(v) ? otherwise : "input";
    if (use.written[1])
      return use.read[1] ? "inner_grad" : "input_grad";
    if (use.read[1])
      return "output_grad";
    return otherwise;
  }

  bool isGraphInput(size_t v) const {
    for (const auto &buffers : all.values->all()[layer.values[v]].buffers)
      for (rank::BufferOp buffer : buffers)
        for (Operation *user : buffer->getUsers())
          if (isa<rank::InputOp>(user))
            return true;
    return false;
  }

  std::string nameOfMember(size_t m) const {
    const Member &member = layer.members[m];
    switch (member.kind) {
    case Statement::Kind::Kernel:
      return nameOfKernel(m);
    case Statement::Kind::Reshard:
      return nameOfReshard(member);
    case Statement::Kind::Probe:
      return directions[m] == Direction::Forward ? "dump" : "dump_gradients";
    }
    llvm_unreachable("unknown kind");
  }

  std::string nameOfKernel(size_t m) const {
    const Member &member = layer.members[m];
    if (isUpdate(m))
      return layer.valueNames[member.ins[0]] + "_update";
    for (const auto &actions : member.parts[0])
      for (Operation *action : actions)
        if (auto op = cast<rank::KernelOp>(action); !Functors::isFused(op))
          return op.getCallee().str() + (isAgain[m] ? kAgain : "");
    return "fused_" + (isAgain[m] ? "recompute" : wordOf(directions[m]).str());
  }

  /// The value that a reshard provides, as its first reader in the layer calls
  /// it; else what is moved.
  std::string nameOfReshard(const Member &member) const {
    std::string moved;
    for (const auto &part : llvm::reverse(member.parts))
      for (const auto &actions : part)
        for (Operation *action : llvm::reverse(actions)) {
          for (Value target : targetsOf(action))
            if (const int v = localOf(all.values->valueOf(target)); v >= 0) {
              StringRef name = layer.valueNames[v];
              name.consume_back("_gathered");
              return name.str() + "_" + howOf(member);
            }
          if (isa<rank::ExchangeOp, rank::CollectiveOp>(action))
            moved = transferOf(action);
        }
    StringRef value = StringRef(moved).rsplit(" <- ").second;
    if (value.empty())
      value = moved;
    std::optional<std::string> rest = withoutLayer(value, layer.name);
    return (rest && !rest->empty() ? *rest
            : rest                 ? "output"
                                   : value.str()) +
           "_" + howOf(member);
  }

  static StringRef wordOf(Operation *action) {
    if (auto copy = dyn_cast<rank::CopyOp>(action))
      return copy.getCombine() == rank::kMeanWord ? "mean"
             : copy.getCombine() == "none"        ? "copy"
                                                  : "sum";
    if (isa<rank::ExchangeOp>(action))
      return "exchange";
    if (auto collective = dyn_cast<rank::CollectiveOp>(action))
      return collective.getReduce() != "none"                  ? "sum"
             : collective.getKind() == StringRef("all_gather") ? "gather"
                                                               : "broadcast";
    return "";
  }
  static StringRef wordOf(Direction direction) {
    return codegen::wordOf(direction);
  }

  /// What communicates says more than a copy.
  static void merge(std::string &how, StringRef word) {
    if (word.empty() || how == word)
      return;
    if (how.empty() || how == "copy")
      how = word.str();
    else if (word != "copy")
      how = "reshard";
  }

  static std::string howOf(const Member &member) {
    std::string how;
    for (const auto &part : member.parts)
      for (const auto &actions : part)
        for (Operation *action : actions)
          merge(how, wordOf(action));
    return how.empty() ? "wait" : how;
  }

  Layers &all;
  LayerKind &kind;
  Layer &layer;            ///< the first of the kind
  llvm::StringSet<> names; ///< of attributes
  const Makers &makers;
  static constexpr const char *kAgain = "_again";
  std::vector<bool> isAgain;               ///< by member
  const std::vector<Direction> directions; ///< by member
  NameScope scope;
  std::vector<Uses> uses;
};

} // namespace

/// What its kernels do; a pass without kernels communicates.
static StringRef passName(const Pass &pass, const Layers &layers) {
  for (size_t m : pass.methods) {
    const Method &method = layers.methods[m];
    for (const Call &call : method.calls)
      if (layers.layers[method.layer].members[call.member].kind ==
          Statement::Kind::Kernel)
        return method.isAgain ? "recompute" : codegen::wordOf(method.direction);
  }
  return "exchange";
}

void codegen::nameLayers(Layers &layers, const ProgramMeta &meta) {
  // Methods of the program.
  NameScope objects({"step", "update", "run"});
  for (Layer &layer : layers.layers)
    layer.identifier = objects.take(layer.name);
  for (Pass &pass : layers.passes)
    pass.name = objects.take(passName(pass, layers));
  const auto makers = makersOf(layers);
  llvm::StringSet<> classes;
  for (LayerKind &kind : layers.kinds) {
    Layer &first = layers.layers[kind.layers.front()];
    auto op = meta.ops.find(first.name);
    const bool isKnown = op != meta.ops.end() && !op->second.type.empty();
    const std::string base =
        (isKnown ? toClassName(op->second.type) : "Plain") + "Layer";
    kind.name = base;
    for (int i = 2; !classes.insert(kind.name).second; ++i)
      kind.name = base + std::to_string(i);
    LayerNamer(layers, kind, makers).run();
    for (size_t l : ArrayRef(kind.layers).drop_front()) {
      Layer &layer = layers.layers[l];
      layer.valueNames = first.valueNames;
      for (auto [member, named] : llvm::zip(layer.members, first.members))
        member.name = named.name;
      for (auto [method, named] : llvm::zip(layer.methods, first.methods))
        layers.methods[method].name = layers.methods[named].name;
    }
  }
}
