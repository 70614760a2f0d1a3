//===- UnrolledRecurrent.cpp - recurrent layers, step by step -------------===//
#include "UnrolledRecurrent.h"

#include "Expression.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using onnx::AttributeProto;
using onnx::TensorProto;
using Operand = RecurrentOperand;

namespace {
/// What a gate's sum goes through.
struct GateFunction {
  std::string op; ///< of ONNX, or Affine or ScaledTanh
  std::optional<double> alpha, beta;
};

/// A function and the numbers that it has, with their defaults.
struct KnownFunction {
  StringRef name;
  bool hasAlpha, hasBeta;
  std::optional<double> alpha, beta;
};
const KnownFunction kFunctions[] = {
    {"Relu", false, false, {}, {}},
    {"Tanh", false, false, {}, {}},
    {"Sigmoid", false, false, {}, {}},
    {"Softsign", false, false, {}, {}},
    {"Softplus", false, false, {}, {}},
    {"Affine", true, true, {}, {}},
    {"LeakyRelu", true, false, 0.01, {}},
    {"ThresholdedRelu", true, false, 1.0, {}},
    {"ScaledTanh", true, true, {}, {}},
    {"HardSigmoid", true, true, 0.2, 0.5},
    {"Elu", true, false, 1.0, {}},
};

class Unroller {
public:
  Unroller(NodeImporter &node, const RecurrentForm &form)
      : node(node), form(form), made(node) {}

  void run();

private:
  struct State {
    GraphValue *h = nullptr, *c = nullptr;
  };
  /// One direction: matrices that vectors are multiplied by from the left, and
  /// rows that are added; null where there are none.
  struct Layer {
    size_t number = 0;
    GraphValue *projected = nullptr; ///< of all steps, what gates get of x
    GraphValue *recurrent = nullptr; ///< units x (gates x units)
    GraphValue *resetBias = nullptr; ///< of what a GRU resets afterwards
    GraphValue *peepholes[3] = {};   ///< of the input, output and forget gate
  };

  void readFunctions();
  void readAttributes();
  GraphValue *direction(GraphValue *of, size_t number, int64_t axis = 0);
  /// Columns of gates from number `gate` on.
  GraphValue *columns(GraphValue *of, int64_t gate, int64_t count = 1);
  Layer makeLayer(size_t number);
  GraphValue *firstState(int operand, size_t number);
  /// Function `index` of direction `number`, of x as it is.
  GraphValue *function(size_t number, size_t index, GraphValue *x);
  /// The same of a gate's sum, which is clipped.
  GraphValue *gate(size_t number, size_t index, GraphValue *sum) {
    return function(number, index,
                    sum && clip ? made.clamp(sum, -*clip, *clip) : sum);
  }
  State step(const Layer &layer, GraphValue *projected, const State &before);
  State lstm(const Layer &layer, GraphValue *projected, const State &before);
  GraphValue *gru(const Layer &layer, GraphValue *projected, GraphValue *h);
  /// Which sequences have a step `t`, for all units; null if all have.
  GraphValue *mask(int64_t t);
  GraphValue *zeros() {
    return made.filled(type, {form.samples, form.units}, 0);
  }

  NodeImporter &node;
  const RecurrentForm &form;
  Expression made;
  int32_t type = TensorProto::FLOAT;
  SmallVector<GateFunction> functions; ///< of all directions
  std::optional<double> clip;
  bool isCoupled = false, resetsAfter = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading the node
//===----------------------------------------------------------------------===//

void Unroller::readFunctions() {
  SmallVector<StringRef> names;
  if (auto *given = node.attribute("activations", AttributeProto::STRINGS))
    names.append(given->strings().begin(), given->strings().end());
  const SmallVector<StringRef> usual = usualFunctions(node.opType());
  if (names.empty())
    for (size_t i = 0; i < form.reversed.size(); ++i)
      names.append(usual.begin(), usual.end());
  if (names.size() != usual.size() * form.reversed.size())
    return node.error("expected " + Twine(usual.size() * form.reversed.size()) +
                      " activations, found " + Twine(names.size()));
  auto numbers = [&](StringRef name) {
    auto *given = node.attribute(name.data(), AttributeProto::FLOATS);
    return given ? SmallVector<double>(given->floats().begin(),
                                       given->floats().end())
                 : SmallVector<double>();
  };
  // Functions take the numbers that they have, one after the other.
  const SmallVector<double> alphas = numbers("activation_alpha"),
                            betas = numbers("activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  for (StringRef name : names) {
    const auto *known =
        llvm::find_if(kFunctions, [&](const KnownFunction &function) {
          return function.name.equals_insensitive(name);
        });
    if (known == std::end(kFunctions))
      return node.error("unknown activation '" + name + "'");
    GateFunction function{known->name.str(), known->alpha, known->beta};
    if (known->hasAlpha && nextAlpha < alphas.size())
      function.alpha = alphas[nextAlpha++];
    if (known->hasBeta && nextBeta < betas.size())
      function.beta = betas[nextBeta++];
    if ((known->hasAlpha && !function.alpha) ||
        (known->hasBeta && !function.beta))
      return node.error("expected activation_alpha and activation_beta of "
                        "activation " +
                        name);
    functions.push_back(std::move(function));
  }
}

void Unroller::readAttributes() {
  readFunctions();
  if (node.attribute("clip", AttributeProto::FLOAT)) {
    clip = node.real("clip", 0);
    if (!(*clip >= 0))
      node.error("expected a clip that is not negative, found " +
                 numberText(*clip));
  }
  if (node.opType() == "LSTM")
    isCoupled = node.integer("input_forget", 0) != 0;
  if (node.opType() == "GRU")
    resetsAfter = node.integer("linear_before_reset", 0) != 0;
}

//===----------------------------------------------------------------------===//
// Parts of a layer
//===----------------------------------------------------------------------===//

GraphValue *Unroller::direction(GraphValue *of, size_t number, int64_t axis) {
  const auto at = static_cast<int64_t>(number);
  return form.reversed.size() == 1 ? of : made.slice(of, axis, at, at + 1);
}

GraphValue *Unroller::columns(GraphValue *of, int64_t gate, int64_t count) {
  if (!of)
    return nullptr;
  const auto axis = static_cast<int64_t>(of->shape.size()) - 1;
  if (of->shape[axis] == count * form.units)
    return of;
  return made.slice(of, axis, gate * form.units, (gate + count) * form.units);
}

Unroller::Layer Unroller::makeLayer(size_t number) {
  const int64_t width = form.gates * form.units;
  auto operand = [&](int i, const Role &role) {
    mlir::Value value = node.tensor(i, role);
    return node.failed() ? nullptr
                         : direction(made.computed(type, value), number);
  };
  auto matrix = [&](int i, int64_t rows) {
    GraphValue *of = operand(i, {Role::Weight, rows, form.units});
    return made.transpose(made.reshape(of, {width, rows}), {1, 0});
  };
  Layer layer;
  layer.number = number;
  GraphValue *x = made.computed(type, node.tensor(Operand::X));
  if (form.batchFirst)
    x = made.transpose(x, {1, 0, 2});
  layer.projected = made.apply("MatMul", {x, matrix(Operand::W, form.inputs)});
  layer.recurrent = matrix(Operand::R, form.units);
  if (node.has(Operand::B)) {
    GraphValue *both =
        made.reshape(operand(Operand::B, {Role::Bias}), {1, 2 * width});
    GraphValue *ofInput = made.slice(both, 1, 0, width),
               *ofState = made.slice(both, 1, width, 2 * width);
    if (resetsAfter) {
      layer.resetBias = columns(ofState, 2);
      ofState = made.concat(
          {columns(ofState, 0, 2), made.filled(type, {1, form.units}, 0)}, 1);
    }
    layer.projected = made.add(layer.projected, made.add(ofInput, ofState));
  }
  if (node.opType() == "LSTM" && node.has(Operand::Peepholes)) {
    GraphValue *all = made.reshape(operand(Operand::Peepholes, {Role::Bias}),
                                   {1, 3 * form.units});
    for (int64_t i = 0; i < 3; ++i)
      layer.peepholes[i] = columns(all, i);
  }
  return layer;
}

GraphValue *Unroller::firstState(int operand, size_t number) {
  if (!node.has(operand))
    return zeros();
  mlir::Value given = node.tensor(operand);
  if (node.failed())
    return nullptr;
  return made.reshape(
      direction(made.computed(type, given), number, form.batchFirst),
      {form.samples, form.units});
}

GraphValue *Unroller::mask(int64_t t) {
  if (!node.has(Operand::Lengths))
    return nullptr;
  GraphValue *lengths = &node.operand(Operand::Lengths);
  GraphValue *has =
      made.apply("Less", {made.constant(lengths->type, {1}, {t}), lengths});
  return made.reshape(has, {form.samples, 1});
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

GraphValue *Unroller::function(size_t number, size_t index, GraphValue *x) {
  if (!x)
    return nullptr;
  const size_t count = functions.size() / form.reversed.size();
  const GateFunction &of = functions[number * count + index];
  if (of.op == "Affine")
    return made.add(made.mul(x, *of.alpha), *of.beta);
  if (of.op == "ScaledTanh")
    return made.mul(made.apply("Tanh", {made.mul(x, *of.beta)}), *of.alpha);
  MadeNode op(of.op);
  if (of.alpha)
    op.real("alpha", *of.alpha);
  if (of.beta)
    op.real("beta", *of.beta);
  return made.make(std::move(op), {x});
}

Unroller::State Unroller::lstm(const Layer &layer, GraphValue *projected,
                               const State &before) {
  GraphValue *sums =
      made.add(projected, made.apply("MatMul", {before.h, layer.recurrent}));
  auto seeing = [&](int64_t column, size_t peephole, GraphValue *cell) {
    GraphValue *sum = columns(sums, column);
    if (layer.peepholes[peephole])
      sum = made.add(sum, made.mul(layer.peepholes[peephole], cell));
    return gate(layer.number, 0, sum);
  };
  GraphValue *input = seeing(0, 0, before.c), *forget = nullptr;
  if (isCoupled)
    forget = made.sub(made.numberLike(input, 1), input);
  else
    forget = seeing(2, 2, before.c);
  GraphValue *proposed = gate(layer.number, 1, columns(sums, 3));
  State after;
  after.c = made.add(made.mul(forget, before.c), made.mul(input, proposed));
  GraphValue *output = seeing(1, 1, after.c);
  // As ONNX Runtime does it, cells are not clipped.
  after.h = made.mul(output, function(layer.number, 2, after.c));
  return after;
}

GraphValue *Unroller::gru(const Layer &layer, GraphValue *projected,
                          GraphValue *h) {
  GraphValue *sums =
      made.add(columns(projected, 0, 2),
               made.apply("MatMul", {h, columns(layer.recurrent, 0, 2)}));
  GraphValue *update = gate(layer.number, 0, columns(sums, 0)),
             *reset = gate(layer.number, 0, columns(sums, 1)),
             *last = columns(layer.recurrent, 2), *past = nullptr;
  if (resetsAfter) {
    past = made.apply("MatMul", {h, last});
    if (layer.resetBias)
      past = made.add(past, layer.resetBias);
    past = made.mul(reset, past);
  } else {
    past = made.apply("MatMul", {made.mul(reset, h), last});
  }
  GraphValue *proposed =
      gate(layer.number, 1, made.add(columns(projected, 2), past));
  return made.add(proposed, made.mul(update, made.sub(h, proposed)));
}

Unroller::State Unroller::step(const Layer &layer, GraphValue *projected,
                               const State &before) {
  if (node.opType() == "LSTM")
    return lstm(layer, projected, before);
  State after;
  if (node.opType() == "GRU")
    after.h = gru(layer, projected, before.h);
  else
    after.h = gate(
        layer.number, 0,
        made.add(projected, made.apply("MatMul", {before.h, layer.recurrent})));
  return after;
}

void Unroller::run() {
  readAttributes();
  if (node.failed())
    return;
  type = node.operand(Operand::X).type;
  const bool isLstm = node.opType() == "LSTM";
  const int64_t samples = form.samples, units = form.units;
  SmallVector<GraphValue *> sequences, h, c;
  for (size_t d = 0; d < form.reversed.size() && !node.failed(); ++d) {
    const Layer layer = makeLayer(d);
    State state;
    state.h = firstState(Operand::H0, d);
    if (isLstm)
      state.c = firstState(Operand::C0, d);
    SmallVector<GraphValue *> results(form.steps);
    for (int64_t i = 0; i < form.steps && !node.failed(); ++i) {
      const int64_t t = form.reversed[d] ? form.steps - 1 - i : i;
      GraphValue *projected =
          made.reshape(made.slice(layer.projected, 0, t, t + 1),
                       {samples, form.gates * units});
      State after = step(layer, projected, state);
      GraphValue *y = after.h;
      // Sequences that are at their end keep their states.
      if (GraphValue *has = mask(t)) {
        y = made.where(has, after.h, zeros());
        after.h = made.where(has, after.h, state.h);
        if (isLstm)
          after.c = made.where(has, after.c, state.c);
      }
      results[t] = made.reshape(y, {1, 1, samples, units});
      state = after;
    }
    sequences.push_back(made.concat(results, 0));
    const Shape shape =
        form.batchFirst ? Shape{samples, 1, units} : Shape{1, samples, units};
    h.push_back(made.reshape(state.h, shape));
    if (isLstm)
      c.push_back(made.reshape(state.c, shape));
  }
  if (node.failed())
    return;
  if (node.isUsed(0)) {
    GraphValue *y = made.concat(sequences, 1);
    made.define(form.batchFirst ? made.transpose(y, {2, 0, 1, 3}) : y);
  }
  if (node.isUsed(1))
    made.define(made.concat(h, form.batchFirst), 1);
  if (isLstm && node.isUsed(2))
    made.define(made.concat(c, form.batchFirst), 2);
}

SmallVector<StringRef> ffc::importer::usualFunctions(StringRef opType) {
  if (opType == "RNN")
    return {"Tanh"};
  if (opType == "GRU")
    return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

void ffc::importer::importUnrolledRecurrent(NodeImporter &node,
                                            const RecurrentForm &form,
                                            StringRef why) {
  if (form.steps > kMaxUnrolled)
    return node.error("expected at most " + Twine(kMaxUnrolled) +
                      " time steps, which are unrolled because of " + why +
                      ", found " + Twine(form.steps));
  Unroller(node, form).run();
}
