//===- RewritesTest.cpp - rewritten graphs compute the same ---------------===//
//
// Every rule is applied to random graphs of the kind that it is for, of random
// shapes, and what the reference evaluator makes of both in double precision is
// compared: outputs, loss, the gradients of all parameters, and these after the
// step. A fault that is planted in a rewritten graph has to be found.
//
//===----------------------------------------------------------------------===//

#include "ffc/Passes/Rewrites.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Reference/Evaluator.h"
#include "ffc/Reference/InitialValues.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace ffc;

namespace {

using Shape = std::vector<int64_t>;

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

/// A value of the text that is written.
struct Value {
  std::string name;
  Shape shape;
};

/// Writes a forward graph, operator by operator.
class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {}

  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }
  bool flip() { return draw(0, 1) == 1; }
  template <class T> const T &oneOf(const std::vector<T> &all) {
    return all[static_cast<size_t>(
        draw(0, static_cast<int64_t>(all.size()) - 1))];
  }

  Value input(const Shape &shape) {
    const Value x{"%x" + std::to_string(inputs++), shape};
    arguments += (arguments.empty() ? "" : ", ") + x.name + ": " +
                 typeOf(shape) + " {ff.name = \"" + x.name.substr(1) + "\"}";
    return x;
  }
  Value state(const Shape &shape, const std::string &kind = "parameter") {
    const Value w{"%v" + std::to_string(number), shape};
    const std::string name = "w" + std::to_string(number++);
    body += "  " + w.name + " = ff.state \"" + name + "\" \"" + kind +
            "\" init <normal, 0.5 : f64, " + std::to_string(number) +
            "> : " + typeOf(shape) + " loc(\"" + name + "\")\n";
    return w;
  }
  Value op(const std::string &what, const std::vector<Value> &operands,
           const std::string &attributes, const Shape &shape) {
    const Value y{"%v" + std::to_string(number), shape};
    std::string names, types;
    for (const Value &operand : operands) {
      names += (names.empty() ? "" : ", ") + operand.name;
      types += (types.empty() ? "" : ", ") + typeOf(operand.shape);
    }
    const bool isUnary = what.rfind("ff.unary", 0) == 0;
    body += "  " + y.name + " = " + what + "(" + names + ") " + attributes +
            " : " + (isUnary ? types : "(" + types + ")") + " -> " +
            typeOf(shape) + " loc(\"op" + std::to_string(number) + "\")\n";
    ++number;
    return y;
  }
  Value unary(const Value &x) {
    return op("ff.unary " + oneOf<std::string>({"tanh", "sigmoid", "silu"}),
              {x}, "", x.shape);
  }
  Value product(const Value &x, const Value &w, bool transposed,
                const Value *bias = nullptr) {
    Shape shape = x.shape;
    shape.back() = w.shape[transposed ? 0 : 1];
    std::vector<Value> operands = {x, w};
    if (bias)
      operands.push_back(*bias);
    return op("ff.matmul", operands,
              std::string("{alpha = 0.5, beta = 1.5, trans_a = 0 : i64, "
                          "trans_b = ") +
                  (transposed ? "1" : "0") + " : i64}",
              shape);
  }
  void output(const Value &y) {
    body += "  ff.output " + y.name + " as \"out/" + y.name.substr(1) +
            "\" : " + typeOf(y.shape) + "\n";
  }

  std::string text() const {
    return "func.func @main(" + arguments + ") {\n" + body + "  return\n}\n";
  }

  static std::string listOf(const Shape &numbers) {
    std::string text = "array<i64: ";
    for (size_t i = 0; i < numbers.size(); ++i)
      text += (i ? ", " : "") + std::to_string(numbers[i]);
    return text + ">";
  }

private:
  std::mt19937_64 random;
  std::string arguments, body;
  int inputs = 0, number = 0;
};

/// Several layers of one operand, and what joins their results: with or without
/// biases, of different widths, transposed or not, some of other operands.
std::string layersOfOneOperand(uint64_t seed, int64_t least, int64_t most) {
  Writer w(seed);
  Shape shape = {w.draw(1, 3), w.draw(1, 4), w.draw(1, 6)};
  if (w.flip())
    shape.erase(shape.begin());
  const int64_t depth = shape.back();
  Value x = w.input(shape);
  if (w.flip())
    x = w.unary(x);
  const bool transposed = w.flip(), biased = w.flip();
  const int64_t unit = w.draw(1, 3), layers = w.draw(2, 4);
  std::vector<Value> results;
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t width = unit * w.draw(least, most);
    const Value weights =
        w.state(transposed ? Shape{width, depth} : Shape{depth, width});
    const Value bias = w.state({width});
    results.push_back(
        w.unary(w.product(x, weights, transposed, biased ? &bias : nullptr)));
    // One that is not like the others.
    if (w.draw(0, 3) == 0)
      results.push_back(
          w.product(x, w.state({depth, width}, "constant"), false));
  }
  Shape all = results[0].shape;
  all.back() = 0;
  for (const Value &result : results)
    all.back() += result.shape.back();
  w.output(w.op("ff.concat", results,
                "{axis = " + std::to_string(all.size() - 1) + " : i64}", all));
  return w.text();
}

std::string narrowLayers(uint64_t seed) {
  return layersOfOneOperand(seed, 1, 2);
}
std::string wideLayers(uint64_t seed) {
  return layersOfOneOperand(seed, 9, 12);
}

/// Heads that are brought before the positions, changed element by element, and
/// brought back, or elsewhere.
std::string transposes(uint64_t seed) {
  Writer w(seed);
  const int64_t n = w.draw(1, 2), t = w.draw(1, 3), h = w.draw(1, 3),
                d = 2 * w.draw(1, 2);
  const Value x = w.input({n * t, 3});
  Value y = w.op("ff.reshape", {w.product(x, w.state({3, h * d}), false)}, "",
                 {n, t, h, d});
  auto transpose = [&](const Value &value, const Shape &perm) {
    Shape shape;
    for (int64_t p : perm)
      shape.push_back(value.shape[p]);
    return w.op("ff.transpose", {value},
                "{perm = " + Writer::listOf(perm) + "}", shape);
  };
  auto binary = [&](const Value &a, const Value &b, const Shape &shape) {
    return w.op("ff.binary " + w.oneOf<std::string>({"add", "mul", "sub"}),
                {a, b}, "", shape);
  };
  const Shape heads = {0, 2, 1, 3};
  y = transpose(y, heads);
  const Value first = y;
  for (int64_t i = w.draw(0, 4); i > 0; --i) {
    const Shape shape = y.shape;
    switch (w.draw(0, 6)) {
    case 0:
      y = w.unary(y);
      break;
    case 1: // rows of their own, as of positions
      y = binary(y, w.state({shape[2], shape[3]}), shape);
      break;
    case 2:
      y = binary(w.state({}), y, shape);
      break;
    case 3: { // halves change places
      Shape half = shape;
      half[3] /= 2;
      const Value left = w.op("ff.slice", {y},
                              "{starts = array<i64: 0, 0, 0, 0>}", half),
                  right = w.op(
                      "ff.slice", {y},
                      "{starts = " + Writer::listOf({0, 0, 0, half[3]}) + "}",
                      half);
      y = w.op("ff.concat", {right, w.unary(left)}, "{axis = 3 : i64}", shape);
      break;
    }
    case 4: { // heads are shared by groups of others
      Shape apart = {shape[0], shape[1], 1, shape[2], shape[3]}, more = apart;
      more[2] = w.draw(1, 3);
      const Value groups = w.op("ff.reshape", {y}, "", apart);
      const Value shared = w.op("ff.expand", {groups}, "", more);
      y = w.op("ff.reshape", {shared}, "",
               {shape[0], shape[1] * more[2], shape[2], shape[3]});
      break;
    }
    case 5: // what is transposed itself
      y = binary(
          y,
          transpose(w.state({shape[0], shape[2], shape[1], shape[3]}), heads),
          shape);
      break;
    case 6: // a part of the others' own
      if (first.shape == shape && first.name != y.name)
        y = binary(y, first, shape);
      break;
    }
  }
  if (w.draw(0, 4) == 0)
    w.output(y);
  w.output(transpose(y, w.oneOf<Shape>({heads, {0, 2, 3, 1}, {2, 0, 1, 3}})));
  return w.text();
}

/// Sums of layers of different operands, and of what is no layer.
std::string sumsOfLayers(uint64_t seed) {
  Writer w(seed);
  Shape shape = {w.draw(1, 2), w.draw(1, 3)};
  if (w.flip())
    shape.erase(shape.begin());
  const int64_t unit = w.draw(1, 3), width = w.draw(1, 4);
  const bool transposed = w.flip(), biased = w.flip();
  Shape all = shape;
  all.push_back(width);
  std::vector<Value> summands;
  const Value bias = w.state({width});
  for (int64_t i = w.draw(2, 3); i > 0; --i) {
    const int64_t depth = unit * w.draw(1, 3);
    Shape operand = shape;
    operand.push_back(depth);
    summands.push_back(w.product(
        w.unary(w.input(operand)),
        w.state(transposed ? Shape{width, depth} : Shape{depth, width}),
        transposed, biased && i == 2 ? &bias : nullptr));
  }
  if (w.flip())
    summands.push_back(w.unary(w.input(all)));
  if (w.flip()) // read by somebody else
    w.output(summands[0]);
  while (summands.size() > 1) {
    const auto i = static_cast<size_t>(
        w.draw(0, static_cast<int64_t>(summands.size()) - 2));
    summands[i] =
        w.op("ff.binary add", {summands[i], summands[i + 1]}, "", all);
    summands.erase(summands.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  w.output(w.unary(summands[0]));
  return w.text();
}

/// Towers of layers, one after the other, some of which read others.
std::string towers(uint64_t seed) {
  Writer w(seed);
  const Shape shape =
      w.flip() ? Shape{w.draw(1, 3), 4} : Shape{w.draw(1, 2), w.draw(1, 3), 4};
  const bool transposed = w.flip(), biased = w.flip();
  std::vector<Value> tops;
  for (int64_t tower = w.draw(2, 4); tower > 0; --tower) {
    Value y = tops.empty() || w.draw(0, 3) > 0 ? w.input(shape) : tops.back();
    for (int64_t layer = w.draw(1, 3); layer > 0; --layer) {
      const Value bias = w.state({4});
      y = w.unary(
          w.product(y, w.state({4, 4}), transposed, biased ? &bias : nullptr));
    }
    tops.push_back(y);
  }
  Value sum = tops[0];
  for (size_t i = 1; i < tops.size(); ++i)
    sum = w.op("ff.binary mul", {sum, tops[i]}, "", shape);
  w.output(sum);
  return w.text();
}

/// The graphs that a rule is for.
struct RuleCase {
  const char *rule;
  std::string (*graph)(uint64_t seed);
};
const RuleCase kRules[] = {
    {"move-transposes", transposes},
    {"merge-narrow-products", narrowLayers},
    {"merge-wide-products", wideLayers},
    {"join-sums", sumsOfLayers},
    {"batch-products", towers},
};

class Rewrites : public ::testing::TestWithParam<RuleCase> {
protected:
  Rewrites() { context.loadDialect<ff::FFDialect, mlir::func::FuncDialect>(); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(uint64_t seed) {
    const std::string text = GetParam().graph(seed);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module) << text;
    return module;
  }
  size_t rewrite(mlir::ModuleOp module) {
    const size_t places =
        findRewrite(GetParam().rule)->apply(mainFunction(module));
    EXPECT_TRUE(succeeded(mlir::verify(module)));
    return places;
  }
  /// Outputs, among them loss and gradients, and states after a step.
  ff::TensorValues valuesOf(mlir::ModuleOp forward, uint64_t seed) {
    mlir::OwningOpRef<mlir::ModuleOp> module = forward.clone();
    mlir::PassManager passes(&context);
    DifferentiateOptions training;
    training.loss = "mse";
    addTraining(passes, training);
    EXPECT_TRUE(succeeded(passes.run(*module)));
    auto states = ff::initialStates(*module, seed);
    auto inputs = ff::syntheticInputs(*module, seed, 0);
    auto result = ff::evaluate(*module, *inputs, *states, {});
    EXPECT_TRUE(succeeded(result));
    ff::TensorValues values = result->outputs;
    for (const auto &[name, value] : result->states)
      values["state " + name] = value;
    return values;
  }
  /// The largest difference, as a share of the largest number of a value.
  static double distance(const ff::TensorValues &a, const ff::TensorValues &b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (const auto &[name, value] : a) {
      const auto other = b.find(name);
      if (other == b.end() || other->second.shape != value.shape) {
        ADD_FAILURE() << name;
        continue;
      }
      double largest = 1e-3, difference = 0;
      for (size_t i = 0; i < value.data.size(); ++i) {
        largest = std::max(largest, std::abs(value.data[i]));
        difference = std::max(difference,
                              std::abs(value.data[i] - other->second.data[i]));
      }
      most = std::max(most, difference / largest);
    }
    return most;
  }

  /// Calls visit(module, what it was worth before, seed) for the first random
  /// graphs, as far as the rule changes them. Returns how many it does.
  template <class Visit> uint64_t eachRewritten(uint64_t graphs, Visit visit) {
    uint64_t rewritten = 0;
    for (uint64_t seed = 0; seed < graphs; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      auto module = parse(seed);
      EXPECT_TRUE(module);
      if (!module)
        return rewritten;
      const ff::TensorValues expected = valuesOf(*module, seed);
      if (rewrite(*module) == 0)
        continue;
      ++rewritten;
      visit(*module, expected, seed);
    }
    return rewritten;
  }

  static constexpr uint64_t kGraphs = 100, kFaulty = 60;
  static constexpr double kRounding = 1e-12;

  mlir::MLIRContext context;
};

TEST_P(Rewrites, ComputeTheSame) {
  const uint64_t rewritten = eachRewritten(
      kGraphs, [&](mlir::ModuleOp module, const ff::TensorValues &expected,
                   uint64_t seed) {
        EXPECT_LT(distance(expected, valuesOf(module, seed)), kRounding);
        // Nothing is left to do.
        EXPECT_EQ(rewrite(module), 0u);
      });
  EXPECT_GT(rewritten, kGraphs / 4);
}

/// Each slice of a rewritten graph that can begin elsewhere, and each
/// concatenation and product whose operands can change places: the fault shows.
TEST_P(Rewrites, FaultsAreFound) {
  size_t planted = 0;
  eachRewritten(kFaulty, [&](mlir::ModuleOp module,
                             const ff::TensorValues &expected, uint64_t seed) {
    for (mlir::Operation &op : mainFunction(module).front()) {
      if (auto slice = mlir::dyn_cast<ff::SliceOp>(op)) {
        const Shape starts(slice.getStarts());
        for (size_t d = 0; d < starts.size(); ++d) {
          Shape other = starts;
          if (other[d] == 0)
            continue;
          other[d] = 0;
          slice.setStarts(other);
          EXPECT_GT(distance(expected, valuesOf(module, seed)), kRounding);
          slice.setStarts(starts);
          ++planted;
        }
      } else if (auto concat = mlir::dyn_cast<ff::ConcatOp>(op)) {
        const mlir::Value a = concat.getInputs()[0], b = concat.getInputs()[1];
        if (a.getType() != b.getType())
          continue;
        op.setOperand(0, b);
        op.setOperand(1, a);
        EXPECT_GT(distance(expected, valuesOf(module, seed)), kRounding);
        op.setOperand(0, a);
        op.setOperand(1, b);
        ++planted;
      }
    }
  });
  EXPECT_GT(planted, 10u);
}

INSTANTIATE_TEST_SUITE_P(Rules, Rewrites, ::testing::ValuesIn(kRules),
                         [](const auto &info) {
                           std::string name = info.param.rule;
                           for (char &c : name)
                             c = c == '-' ? '_' : c;
                           return name;
                         });

/// Every rule of the table has a case above.
TEST(RewriteTable, AllAreProved) {
  for (const Rewrite &rule : rewrites())
    EXPECT_TRUE(llvm::any_of(kRules, [&](const RuleCase &test) {
      return rule.name == test.rule;
    })) << rule.name.str();
}

} // namespace
