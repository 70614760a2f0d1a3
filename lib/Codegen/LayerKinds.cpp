//===- LayerKinds.cpp - layers that share a class -------------------------===//

#include "Layers.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

/// What the text of a layer's class is made of.
static std::string structureOf(const Layers &layers, const Layer &layer,
                               const ProgramMeta &meta) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto op = meta.ops.find(layer.name);
  if (op != meta.ops.end())
    out << op->second.type;
  out << ";" << layer.values.size() << "," << layer.numGiven;
  for (size_t m : layer.methods) {
    const Method &method = layers.methods[m];
    out << ";" << wordOf(method.direction) << method.isAgain
        << method.inMicroBatch;
    for (const Call &call : method.calls) {
      out << "," << call.member;
      if (!layer.members[call.member].isByTurn)
        out << "." << call.part << call.isWhole;
    }
  }
  for (const Member &member : layer.members) {
    out << ";" << int(member.kind) << member.callee << "(";
    if (member.isByTurn)
      out << "by turn";
    else
      out << member.parts.size();
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

static void findParameters(const Layers &layers, LayerKind &kind) {
  const Layer &first = layers.layers[kind.layers.front()];
  for (auto [m, member] : llvm::enumerate(first.members)) {
    if (!member.args)
      continue;
    for (auto [a, arg] : llvm::enumerate(member.args)) {
      const bool differs = llvm::any_of(kind.layers, [&](size_t l) {
        return layers.layers[l].members[m].args.getValue()[a] != arg;
      });
      if (differs)
        kind.parameters.push_back({m, a, ""});
    }
  }
}

void codegen::findKinds(Layers &layers, const ProgramMeta &meta) {
  llvm::StringMap<size_t> byStructure;
  for (auto [l, layer] : llvm::enumerate(layers.layers)) {
    auto [entry, isNew] = byStructure.try_emplace(
        structureOf(layers, layer, meta), layers.kinds.size());
    if (isNew)
      layers.kinds.emplace_back();
    layer.kind = entry->second;
    layers.kinds[layer.kind].layers.push_back(l);
  }
  for (LayerKind &kind : layers.kinds)
    findParameters(layers, kind);
}
