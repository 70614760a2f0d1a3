//===- ScalarProgram.cpp - what a fused kernel computes -------------------===//

#include "ffc/IR/ScalarProgram.h"

#include "ffc/IR/UnaryTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static llvm::StringMap<ScalarFunction> makeFunctions() {
  llvm::StringMap<ScalarFunction> functions;
  for (const UnaryFunction &unary : kUnaryTable) {
    functions[unary.name] = {unary.forward, 1, unary.parameters};
    if (unary.backward)
      functions[unary.backward] = {unary.backward, 2, unary.parameters};
  }
  for (uint32_t kind = 0; kind <= getMaxEnumValForBinaryKind(); ++kind) {
    std::string name = stringifyBinaryKind(static_cast<BinaryKind>(kind)).str();
    functions[name] = {name, 2, 0};
  }
  functions["select"] = {"select", 3, 0};
  return functions;
}

const ScalarFunction *ff::lookupScalarFunction(StringRef name) {
  static const llvm::StringMap<ScalarFunction> functions = makeFunctions();
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// From the body
//===----------------------------------------------------------------------===//

template <class Op>
static void addParameters(Op op, std::vector<double> &parameters) {
  for (FloatAttr attr : {op.getAlphaAttr(), op.getBetaAttr()})
    if (attr)
      parameters.push_back(attr.getValueAsDouble());
}

ScalarProgram ScalarProgram::of(Block &body) {
  ScalarProgram program;
  llvm::DenseMap<mlir::Value, Value> values;
  for (BlockArgument argument : body.getArguments())
    values[argument] = {true, program.inputs++};
  auto numbersOf = [&](ValueRange range) {
    std::vector<Value> list;
    for (mlir::Value value : range)
      list.push_back(values.lookup(value));
    return list;
  };
  for (Operation &op : body.without_terminator()) {
    if (auto cast = dyn_cast<CastOp>(op)) {
      values[cast.getY()] = values.lookup(cast.getX());
      continue;
    }
    Step step;
    llvm::TypeSwitch<Operation *>(&op)
        .Case<UnaryOp>([&](UnaryOp unary) {
          step.function = unaryFunction(unary.getKind()).name;
          addParameters(unary, step.parameters);
        })
        .Case<UnaryBackwardOp>([&](UnaryBackwardOp unary) {
          step.function = unaryFunction(unary.getKind()).backward;
          addParameters(unary, step.parameters);
        })
        .Case<BinaryOp>([&](BinaryOp binary) {
          step.function = stringifyBinaryKind(binary.getKind()).str();
        })
        .Case<SelectOp>([&](SelectOp) { step.function = "select"; });
    step.operands = numbersOf(op.getOperands());
    values[op.getResult(0)] = {false, static_cast<int>(program.steps.size())};
    program.steps.push_back(std::move(step));
  }
  program.results = numbersOf(body.getTerminator()->getOperands());
  for (mlir::Value value : body.getTerminator()->getOperands()) {
    auto type = tensorTypeOf(value.getType()).type;
    // In double precision nothing is narrow.
    program.types.push_back(
        type == plan::ElementType::F64 ? plan::ElementType::F32 : type);
  }
  return program;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string ff::str(const ScalarProgram::Value &value) {
  return (value.isInput ? "x" : "t") + std::to_string(value.number);
}

/// The shortest text that reads back as `value`.
static std::string textOf(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  return text;
}

static std::string textOf(const std::vector<ScalarProgram::Value> &values) {
  return llvm::join(
      llvm::map_range(
          values, [](const ScalarProgram::Value &value) { return str(value); }),
      ", ");
}

std::string ScalarProgram::str() const {
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    text += "t" + std::to_string(i) + " = " + step.function;
    if (!step.parameters.empty())
      text += "[" +
              llvm::join(llvm::map_range(step.parameters,
                                         [](double v) { return textOf(v); }),
                         ", ") +
              "]";
    text += "(" + textOf(step.operands) + "); ";
  }
  text += "return ";
  for (size_t i = 0; i < results.size(); ++i) {
    std::string value = ff::str(results[i]);
    text += i == 0 ? "" : ", ";
    text += types[i] == plan::ElementType::F32
                ? value
                : std::string(plan::str(types[i])) + "(" + value + ")";
  }
  return text;
}

namespace {

/// A reader of one text; the first thing wrong ends up in `error`.
class Reader {
public:
  Reader(StringRef text, std::string &error) : rest(text), error(error) {}

  std::optional<ScalarProgram> read() {
    while (!take("return")) {
      if (!readStep())
        return std::nullopt;
    }
    if (!readResults())
      return std::nullopt;
    if (!rest.trim().empty()) {
      expected("the end");
      return std::nullopt;
    }
    return std::move(program);
  }

private:
  bool expected(const Twine &what) {
    error = ("fused program: expected " + what + ", found '" +
             rest.take_front(16) + "'")
                .str();
    return false;
  }
  bool take(StringRef word) {
    rest = rest.ltrim();
    return rest.consume_front(word);
  }
  bool need(StringRef word) { return take(word) || expected("'" + word + "'"); }
  StringRef word() {
    rest = rest.ltrim();
    StringRef name =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    return name;
  }

  bool readValue(ScalarProgram::Value &value) {
    StringRef before = rest, name = word();
    value.isInput = name.consume_front("x");
    bool isKnown = (value.isInput || name.consume_front("t")) &&
                   !name.getAsInteger(10, value.number) && value.number >= 0 &&
                   (value.isInput ||
                    value.number < static_cast<int>(program.steps.size()));
    if (!isKnown) {
      rest = before.ltrim();
      return expected("an operand or an earlier step");
    }
    if (value.isInput)
      program.inputs = std::max(program.inputs, value.number + 1);
    return true;
  }
  bool readValues(std::vector<ScalarProgram::Value> &values) {
    do {
      if (!readValue(values.emplace_back()))
        return false;
    } while (take(","));
    return true;
  }
  bool readResults() {
    do {
      auto type = plan::ElementType::F32;
      for (auto narrow : {plan::ElementType::BF16, plan::ElementType::F16})
        if (take(plan::str(narrow)))
          type = narrow;
      const bool isNarrow = type != plan::ElementType::F32;
      if ((isNarrow && !need("(")) ||
          !readValue(program.results.emplace_back()) ||
          (isNarrow && !need(")")))
        return false;
      program.types.push_back(type);
    } while (take(","));
    return true;
  }
  bool readNumber(double &value) {
    rest = rest.ltrim();
    StringRef number = rest.take_until(
        [](char c) { return c == ',' || c == ']' || c == ' '; });
    if (number.empty() || number.getAsDouble(value, /*AllowInexact=*/true))
      return expected("a number");
    rest = rest.drop_front(number.size());
    return true;
  }

  bool readStep() {
    if (!need("t" + std::to_string(program.steps.size())) || !need("="))
      return false;
    ScalarProgram::Step step;
    StringRef before = rest.ltrim();
    step.function = word().str();
    const ScalarFunction *function = lookupScalarFunction(step.function);
    if (!function) {
      rest = before;
      return expected("a function");
    }
    if (take("[")) {
      do {
        if (!readNumber(step.parameters.emplace_back()))
          return false;
      } while (take(","));
      if (!need("]"))
        return false;
    }
    if (!need("(") || !readValues(step.operands) || !need(")") || !need(";"))
      return false;
    if (static_cast<int>(step.parameters.size()) != function->parameters ||
        static_cast<int>(step.operands.size()) != function->operands) {
      rest = before;
      return expected(std::to_string(function->parameters) +
                      " parameters and " + std::to_string(function->operands) +
                      " operands of '" + step.function + "'");
    }
    program.steps.push_back(std::move(step));
    return true;
  }

  StringRef rest;
  std::string &error;
  ScalarProgram program;
};

} // namespace

std::optional<ScalarProgram> ScalarProgram::parse(StringRef text,
                                                  std::string &error) {
  return Reader(text, error).read();
}
