//===- LayerPrinter.cpp - layers as C++ classes and objects ---------------===//

#include "LayerPrinter.h"

#include "AttributeText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

std::string LayerPrinter::parameterOf(const LayerKind &kind, size_t member,
                                      size_t arg) {
  for (const LayerParameter &parameter : kind.parameters)
    if (parameter.member == member && parameter.arg == arg)
      return parameter.name;
  return "";
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

LogicalResult LayerPrinter::printKernel(Text &text, const LayerKind &kind,
                                        const Layer &layer, size_t m) {
  const Member &member = layer.members[m];
  auto namesOf = [&](const std::vector<int> &values) {
    std::vector<std::string> names;
    for (int value : values)
      names.push_back(value < 0 ? "absent" : layer.valueNames[value]);
    return braced(names);
  };
  std::string line = "Kernel<" + member.callee + "> " + member.name +
                     "{*this, " + namesOf(member.ins) + ", " +
                     namesOf(member.outs);
  if (!member.args) {
    text.line(line + "};");
    return success();
  }
  // Attributes are sorted by name, as constructors expect them (kernel.h).
  for (auto [a, arg] : llvm::enumerate(member.args)) {
    const std::string value = textOf(arg.getValue());
    if (value.empty())
      return firstOf(member.parts[0])->emitOpError()
             << "expected a number, a list of numbers or a string for '"
             << arg.getName().getValue() << "', found " << arg.getValue();
    const std::string parameter = parameterOf(kind, m, a);
    line += parameter.empty() ? ", /*" + arg.getName().str() + "=*/" + value
                              : ", " + parameter;
  }
  text.line(line + "};");
  return success();
}

void LayerPrinter::printConstructor(Text &text, const LayerKind &kind,
                                    const Layer &layer) {
  std::string parameters = "Program &program, std::size_t number";
  std::string initialisers = "Layer(program, number)";
  std::vector<std::string> fields;
  for (size_t v = 0; v < layer.numGiven; ++v) {
    const std::string &name = layer.valueNames[v];
    parameters += ", const Shards &" + name;
    initialisers += ", " + name + "(" + name + ")";
    fields.push_back("const Shards &" + name + ";");
  }
  for (const auto &[m, a, name] : kind.parameters) {
    const StringRef type =
        typeOf(layer.members[m].args.getValue()[a].getValue());
    const bool isNumber = type == "double" || type == "int64_t";
    parameters +=
        (", " + (isNumber ? type + " " : "const " + type + " &") + name).str();
    initialisers += ", " + name + "(" + name + ")";
    fields.push_back(("const " + type + " " + name + ";").str());
  }
  if (fields.empty()) {
    text.line("using Layer::Layer;");
  } else {
    text.line(kind.name + "(" + parameters + ")");
    text.line("    : " + initialisers + " {}");
    text.line();
    for (const std::string &field : fields)
      text.line(field);
  }
}

void LayerPrinter::printMethod(Text &text, const Layer &layer,
                               const Method &method) {
  text.line();
  text.line("void " + method.name + "() {");
  text.indent();
  for (const Call &call : method.calls) {
    const Member &member = layer.members[call.member];
    const size_t last = member.parts.size() - 1;
    text.line(member.name +
              (member.isByTurn  ? std::string(".next()")
               : call.isWhole   ? std::string("()")
               : call.part == 0 ? std::string(".start()")
               : call.part == last
                   ? std::string(".finish()")
                   : ".part(" + std::to_string(call.part) + ")") +
              ";");
  }
  text.outdent();
  text.line("}");
}

LogicalResult LayerPrinter::printKind(Text &text, const LayerKind &kind) {
  const Layer &layer = layers.layers[kind.layers.front()];
  constexpr size_t kNamed = 3;
  SmallVector<std::string> names;
  for (size_t l : ArrayRef(kind.layers).take_front(kNamed))
    names.push_back(layers.layers[l].identifier);
  std::string of = llvm::join(names, ", ");
  if (kind.layers.size() > kNamed)
    of += " and " + std::to_string(kind.layers.size() - kNamed) + " more";
  text.comment("///", of + ".");
  text.line("struct " + kind.name + " : Layer {");
  text.indent();
  printConstructor(text, kind, layer);
  for (size_t v = layer.numGiven; v < layer.values.size(); ++v)
    text.line("Shards " + layer.valueNames[v] + " = shards();");
  for (size_t m = 0; m < layer.members.size(); ++m) {
    const Member &member = layer.members[m];
    if (member.kind == Statement::Kind::Kernel) {
      if (failed(printKernel(text, kind, layer, m)))
        return failure();
    } else {
      text.line((member.kind == Statement::Kind::Probe ? "Dump " : "Reshard ") +
                member.name + "{*this};");
    }
  }
  for (size_t m : layer.methods)
    printMethod(text, layer, layers.methods[m]);
  text.outdent();
  text.line("};");
  text.line();
  return success();
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// What a layer computes, how much and where; of its other operators only how
/// they are split, if that differs.
void LayerPrinter::printSummary(Text &text, const Layer &layer) {
  llvm::StringSet<> said;
  for (const Member &member : layer.members) {
    auto op = meta.ops.find(member.op);
    if (member.kind != Statement::Kind::Kernel || op == meta.ops.end())
      continue;
    const OpMeta &facts = op->second;
    const bool isFirst = said.empty();
    if (!said.insert(facts.strategy).second)
      continue;
    SmallVector<std::string> parts;
    if (isFirst && !facts.shapes.empty())
      parts.push_back(facts.shapes);
    if (isFirst && facts.flops > 0)
      parts.push_back(unbroken(withPrefix(facts.flops) + "FLOP"));
    if (!facts.strategy.empty())
      parts.push_back(unbroken(facts.strategy));
    if (!parts.empty())
      text.comment("//", member.op + ": " + llvm::join(parts, "; "));
  }
}

void LayerPrinter::printObject(Text &text, size_t number) {
  const Layer &layer = layers.layers[number];
  const LayerKind &kind = layers.kinds[layer.kind];
  printSummary(text, layer);
  std::string line =
      kind.name + " " + layer.identifier + "{*this, " + std::to_string(number);
  for (size_t v = 0; v < layer.numGiven; ++v) {
    auto [owner, index] = layers.owners[layer.values[v]];
    const Layer &of = layers.layers[owner];
    line += ", " + of.identifier + "." + of.valueNames[index];
  }
  for (const auto &[m, a, name] : kind.parameters)
    line += ", /*" + name + "=*/" +
            textOf(layer.members[m].args.getValue()[a].getValue());
  text.line(line + "};");
}

bool LayerPrinter::hasMethods(bool inMicroBatch) const {
  return llvm::any_of(layers.methods, [&](const Method &method) {
    return method.inMicroBatch == inMicroBatch;
  });
}

void LayerPrinter::printStep(Text &text, StringRef name, bool inMicroBatch) {
  if (!hasMethods(inMicroBatch)) {
    text.line("void " + name + "() override {}");
    return;
  }
  text.line("void " + name + "() override {");
  text.indent();
  if (inMicroBatch && !layers.passes.empty()) {
    SmallVector<std::string> passes;
    for (const Pass &pass : layers.passes)
      passes.push_back("&Train::" + pass.name);
    text.line("run<Train>(" + braced(passes) + ");");
    text.outdent();
    text.line("}");
    return;
  }
  for (const Method &method : layers.methods)
    if (method.inMicroBatch == inMicroBatch)
      text.line(layers.layers[method.layer].identifier + "." + method.name +
                "();");
  text.outdent();
  text.line("}");
}

void LayerPrinter::printPasses(Text &text, ArrayRef<rank::FuncOp> classes) {
  for (const Pass &pass : layers.passes) {
    SmallVector<int64_t> ranks;
    for (size_t c : pass.classes)
      llvm::append_range(ranks, rank::FuncOp(classes[c]).getRanks());
    llvm::sort(ranks);
    text.comment("///", "Of " + describe(ranks) + ".");
    text.line("void " + pass.name + "() {");
    text.indent();
    for (size_t m : pass.methods)
      text.line(layers.layers[layers.methods[m].layer].identifier + "." +
                layers.methods[m].name + "();");
    text.outdent();
    text.line("}");
  }
}
