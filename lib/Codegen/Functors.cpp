//===- Functors.cpp - functors of fused kernels ---------------------------===//

#include "Functors.h"

#include "ffc/Codegen/Identifiers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;
using ff::ScalarProgram;

std::string Functors::classNameOf(plan::ElementType type) const {
  switch (type) {
  case plan::ElementType::BF16:
    return "ffrt::BFloat16";
  case plan::ElementType::F16:
    return "ffrt::Float16";
  default:
    return inF64 ? "double" : "float";
  }
}

/// The type that a kernel reads an operand as. What is absent has none.
static plan::ElementType typeOf(Value operand) {
  auto buffer = operand.getDefiningOp<rank::BufferOp>();
  return buffer ? buffer.elementType() : plan::ElementType::F32;
}

FailureOr<std::string> Functors::classOf(rank::KernelOp op) {
  auto text = op.getArgs().getAs<StringAttr>("program");
  if (!text)
    return op.emitOpError("expected a 'program', found none");
  StringRef layer = nameOf(op.getLoc());
  auto [entry, isNew] = byProgram.try_emplace(text.getValue(), functors.size());
  if (isNew) {
    std::string error;
    std::optional<ScalarProgram> program =
        ScalarProgram::parse(text.getValue(), error);
    if (!program)
      return op.emitOpError(error);
    // An operand that no step reads is an argument all the same.
    program->inputs = static_cast<int>(op.getIns().size());
    std::string base = toClassName(layer.empty() ? "fused" : layer);
    std::string name = base;
    for (int i = 2; !names.insert(name).second; ++i)
      name = base + "_" + std::to_string(i);
    functors.push_back({name, std::move(*program), {}});
  }
  Functor &functor = functors[entry->second];
  inF64 |= llvm::any_of(op.getOuts(), [](Value result) {
    return typeOf(result) == plan::ElementType::F64;
  });
  if (functor.program.inputs != static_cast<int>(op.getIns().size()) ||
      functor.program.results.size() != op.getOuts().size())
    return op.emitOpError("expected ")
           << functor.program.inputs << " operands and "
           << functor.program.results.size()
           << " results as in its program, found " << op.getIns().size()
           << " and " << op.getOuts().size();
  if (!llvm::is_contained(functor.layers, layer))
    functor.layers.push_back(layer.str());
  auto namesOf = [&](auto &&types) {
    return llvm::join(
        llvm::map_range(types, [&](auto type) { return classNameOf(type); }),
        ", ");
  };
  std::string kernel = "Fused<functors::" + functor.name + ", From<" +
                       namesOf(llvm::map_range(op.getIns(), typeOf)) + ">, " +
                       namesOf(functor.program.types) + ">";
  if (!llvm::is_contained(kernels, kernel))
    kernels.push_back(kernel);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The fewest digits that read back as the float nearest to `value`.
static std::string shortest(double value) {
  float wanted = static_cast<float>(value);
  char digits[40];
  for (int precision = 1; precision <= 9; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, wanted);
    if (std::strtof(digits, nullptr) == wanted)
      break;
  }
  return digits;
}

std::string Functors::literalOf(double value) const {
  if (std::fabs(value) > (inF64 ? DBL_MAX : FLT_MAX))
    return value < 0 ? "-HUGE_VALF" : "HUGE_VALF";
  std::string text = inF64 ? literal(value) : shortest(value);
  if (StringRef(text).find_first_of(".e") == StringRef::npos)
    text += ".0";
  return inF64 ? text : text + "f";
}

/// The functor of a function in ffrt/functors.h: that of "leaky_relu_backward"
/// is LeakyReluGradient.
std::string Functors::functorOf(const ScalarProgram::Step &step) const {
  StringRef name = step.function;
  bool isGradient = name.consume_back("_backward");
  SmallVector<std::string> parameters;
  for (double parameter : step.parameters)
    parameters.push_back(literalOf(parameter));
  return "fn::" + toClassName(name) + (isGradient ? "Gradient" : "") + "{" +
         llvm::join(parameters, ", ") + "}";
}

static std::string listOf(const std::vector<ScalarProgram::Value> &values) {
  return llvm::join(
      llvm::map_range(values, [](const auto &v) { return ff::str(v); }), ", ");
}

namespace {
/// A program as a person would write it. Steps that are used once stand where
/// they are used.
class Formula {
public:
  explicit Formula(const ScalarProgram &program)
      : program(program), uses(program.steps.size()) {
    for (const ScalarProgram::Step &step : program.steps)
      count(step.operands);
    count(program.results);
  }

  /// "t0 = x0 + x1; relu(t0), t0"
  std::string str() const {
    std::string text;
    for (size_t i = 0; i < uses.size(); ++i)
      if (uses[i] > 1)
        text += "t" + std::to_string(i) + " = " + stepText(i, false) + "; ";
    for (auto [i, value, type] :
         llvm::enumerate(program.results, program.types)) {
      std::string result = textOf(value, false);
      text += i == 0 ? "" : ", ";
      text += type == plan::ElementType::F32
                  ? result
                  : std::string(plan::str(type)) + "(" + result + ")";
    }
    return text;
  }

private:
  void count(const std::vector<ScalarProgram::Value> &values) {
    for (const ScalarProgram::Value &value : values)
      if (!value.isInput)
        ++uses[value.number];
  }
  std::string textOf(const ScalarProgram::Value &value, bool isOperand) const {
    if (value.isInput || uses[value.number] > 1)
      return ff::str(value);
    return stepText(value.number, isOperand);
  }
  std::string stepText(size_t i, bool isOperand) const;

  const ScalarProgram &program;
  std::vector<int> uses; ///< of every step
};
} // namespace

std::string Formula::stepText(size_t i, bool isOperand) const {
  const ScalarProgram::Step &step = program.steps[i];
  StringRef sign = llvm::StringSwitch<StringRef>(step.function)
                       .Case("add", " + ")
                       .Case("sub", " - ")
                       .Cases({"mul", "scale"}, " * ")
                       .Case("div", " / ")
                       .Default("");
  SmallVector<std::string> parameters, operands;
  for (double parameter : step.parameters)
    parameters.push_back(shortest(parameter));
  for (const ScalarProgram::Value &operand : step.operands)
    operands.push_back(textOf(operand, !sign.empty()));
  if (sign.empty())
    return step.function +
           (parameters.empty() ? ""
                               : "[" + llvm::join(parameters, ", ") + "]") +
           "(" + llvm::join(operands, ", ") + ")";
  parameters.append(operands);
  std::string text = llvm::join(parameters, sign);
  return isOperand ? "(" + text + ")" : text;
}

void Functors::print(Text &text, const Functor &functor) const {
  const ScalarProgram &program = functor.program;
  constexpr size_t kLayers = 4;
  std::string layers = functor.layers.front();
  for (size_t i = 1; i < functor.layers.size() && i < kLayers; ++i)
    layers += ", " + functor.layers[i];
  if (functor.layers.size() > kLayers)
    layers +=
        " and " + std::to_string(functor.layers.size() - kLayers) + " more";
  text.comment("///", layers + ": " + Formula(program).str());
  text.line("struct " + functor.name + " {");
  text.indent();
  size_t results = program.results.size();
  const std::string number = classNameOf(plan::ElementType::F32);
  std::string type = results == 1 ? number
                                  : "std::array<" + number + ", " +
                                        std::to_string(results) + ">";
  SmallVector<std::string> arguments;
  for (int i = 0; i < program.inputs; ++i)
    arguments.push_back(number + " x" + std::to_string(i));
  text.line("FFRT_FUNCTION");
  text.line(type + " operator()(" + llvm::join(arguments, ", ") + ") const {");
  text.indent();
  for (auto [i, step] : llvm::enumerate(program.steps))
    text.line("const " + number + " t" + Twine(i) + " = " + functorOf(step) +
              "(" + listOf(step.operands) + ");");
  text.line(results == 1 ? "return " + listOf(program.results) + ";"
                         : "return {" + listOf(program.results) + "};");
  text.outdent();
  text.line("}");
  text.outdent();
  text.line("};");
}

std::vector<SourceFile> Functors::files() const {
  Text header;
  header.banner("functors.h - what the fused kernels of train.cpp compute");
  header.line("#ifndef FUNCTORS_H");
  header.line("#define FUNCTORS_H");
  header.line();
  header.line("#include \"ffrt/functors.h\"");
  header.line("#include \"ffrt/fused.h\"");
  header.line();
  header.line("namespace functors {");
  header.line();
  header.line("namespace fn = ffrt::fn;");
  for (const Functor &functor : functors) {
    header.line();
    print(header, functor);
  }
  header.line();
  header.line("} // namespace functors");
  header.line();
  header.line("// Compiled in functors.cpp.");
  Text source;
  source.banner("functors.cpp - the fused kernels of train.cpp");
  source.line("#include \"functors.h\"");
  source.line("#include \"ffrt/fused_kernel.h\"");
  source.line();
  for (Text *text : {&header, &source}) {
    text->line("namespace ffrt {");
    for (const std::string &kernel : kernels)
      text->line(Twine(text == &header ? "extern " : "") + "template class " +
                 kernel + ";");
    text->line("} // namespace ffrt");
  }
  header.line();
  header.line("#endif // FUNCTORS_H");
  return {{"functors.h", header.take()}, {"functors.cpp", source.take()}};
}
