//===- OptimizerOps.cpp - updates as operators ----------------------------===//
//
// Of models that update values themselves; ffc derives updates otherwise.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"

#include <climits>

using namespace ffc;
using namespace ffc::importer;
using llvm::Twine;

namespace {
/// The operands: a rate, the number of the step, and several values of each
/// kind, all of the first kind first.
class Update {
public:
  Update(NodeImporter &node, int kinds) : node(node), made(node), kinds(kinds) {
    const int found = node.node.input_size() - 2;
    if (found < kinds || found % kinds != 0)
      node.error("expected a rate, a step and " + Twine(kinds) +
                 " operands for every value, found " +
                 Twine(node.node.input_size()) + " operands");
    for (int i = 0; i < node.node.input_size(); ++i)
      if (!node.failed() &&
          (!node.has(i) || !isFloatType(node.operand(i).type)) && i != 1)
        node.error("expected floats as operand " + Twine(i));
    count = node.failed() ? 0 : found / kinds;
  }

  int values() const { return count; }
  /// Both are of the type of the values that they are multiplied with.
  GraphValue *rate() { return scalar(0); }
  GraphValue *step() { return scalar(1); }
  GraphValue *operand(int kind, int value) {
    return &node.operand(2 + kind * count + value);
  }
  void define(int kind, int value, GraphValue *result) {
    const int i = kind * count + value;
    if (result && (i == 0 || node.isUsed(i)))
      made.define(result, i);
  }
  /// The gradient with that of the norm.
  GraphValue *gradient(int value, double norm) {
    return made.add(made.mul(operand(0, value), norm), operand(1, value));
  }
  /// weight a + other b.
  GraphValue *mix(double weight, GraphValue *a, double other, GraphValue *b) {
    return made.add(made.mul(a, weight), made.mul(b, other));
  }

  NodeImporter &node;
  Expression made;

private:
  int kinds, count = 0;

  GraphValue *scalar(int i) {
    if (node.failed())
      return nullptr;
    if (elementCount(node.shape(i)) != 1) {
      node.error("expected a scalar as operand " + Twine(i) + ", found shape " +
                 shapeText(node.shape(i)));
      return nullptr;
    }
    return made.cast(made.reshape(&node.operand(i), {}), operand(0, 0)->type);
  }
};
} // namespace

/// 1 - factor^step.
static GraphValue *correction(Update &update, double factor) {
  Expression &made = update.made;
  GraphValue *step = update.step();
  GraphValue *power = made.apply("Pow", {made.numberLike(step, factor), step});
  return made.sub(made.mul(power, -1), -1);
}

static void importAdam(NodeImporter &node) {
  const double alpha = node.real("alpha", 0.9), beta = node.real("beta", 0.999),
               norm = node.real("norm_coefficient", 0),
               after = node.real("norm_coefficient_post", 0),
               epsilon = node.real("epsilon", 1e-6);
  Update update(node, 4);
  Expression &made = update.made;
  // Before the first step nothing is corrected.
  GraphValue *step = update.step();
  GraphValue *corrected =
      made.div(made.apply("Sqrt", {correction(update, beta)}),
               correction(update, alpha));
  GraphValue *isFirst =
      made.apply("LessOrEqual", {step, made.numberLike(step, 0)});
  GraphValue *rate = made.mul(
      update.rate(), made.where(isFirst, made.numberLike(step, 1), corrected));
  for (int i = 0; i < update.values() && !node.failed(); ++i) {
    GraphValue *g = update.gradient(i, norm);
    GraphValue *v = update.mix(alpha, update.operand(2, i), 1 - alpha, g),
               *h = update.mix(beta, update.operand(3, i), 1 - beta,
                               made.mul(g, g));
    GraphValue *way = made.div(v, made.add(made.apply("Sqrt", {h}), epsilon));
    GraphValue *x = made.sub(update.operand(0, i), made.mul(rate, way));
    update.define(0, i, made.mul(x, 1 - after));
    update.define(1, i, v);
    update.define(2, i, h);
  }
}

static void importAdagrad(NodeImporter &node) {
  const double decay = node.real("decay_factor", 0),
               norm = node.real("norm_coefficient", 0),
               epsilon = node.real("epsilon", 1e-6);
  Update update(node, 3);
  Expression &made = update.made;
  GraphValue *rate =
      made.div(update.rate(), made.add(made.mul(update.step(), decay), 1));
  for (int i = 0; i < update.values() && !node.failed(); ++i) {
    GraphValue *g = update.gradient(i, norm);
    GraphValue *h = made.add(update.operand(2, i), made.mul(g, g));
    GraphValue *way =
        made.div(made.mul(rate, g), made.add(made.apply("Sqrt", {h}), epsilon));
    update.define(0, i, made.sub(update.operand(0, i), way));
    update.define(1, i, h);
  }
}

static void importMomentum(NodeImporter &node) {
  const double alpha = node.real("alpha", 0), beta = node.real("beta", 0),
               norm = node.real("norm_coefficient", 0);
  const llvm::StringRef mode = node.text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    node.error("expected mode standard or nesterov, found '" + mode + "'");
  Update update(node, 3);
  Expression &made = update.made;
  // The first gradient counts fully.
  GraphValue *step = update.step();
  GraphValue *share =
      made.where(made.apply("Greater", {step, made.numberLike(step, 0)}),
                 made.numberLike(step, beta), made.numberLike(step, 1));
  for (int i = 0; i < update.values() && !node.failed(); ++i) {
    GraphValue *g = update.gradient(i, norm);
    GraphValue *v =
        made.add(made.mul(update.operand(2, i), alpha), made.mul(share, g));
    GraphValue *way = mode == "standard" ? v : update.mix(1, g, alpha, v);
    update.define(0, i,
                  made.sub(update.operand(0, i), made.mul(update.rate(), way)));
    update.define(1, i, v);
  }
}

void ffc::importer::registerOptimizerOps() {
  registerOp("ai.onnx.preview.training.Adagrad", {importAdagrad, 5, INT_MAX});
  registerOp("ai.onnx.preview.training.Adam", {importAdam, 6, INT_MAX});
  registerOp("ai.onnx.preview.training.Momentum", {importMomentum, 5, INT_MAX});
}
