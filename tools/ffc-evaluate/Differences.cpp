//===- Differences.cpp - gradients by finite differences ------------------===//

#include "Differences.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace ffc;

/// Squares of the step and the rounding of double precision are equally small.
static constexpr double kStep = 1e-5;

namespace {
/// Of a step of a size in both directions: the slope between its ends, and by
/// how much it is larger on the one side than on the other.
struct Step {
  double slope, bend;
};
} // namespace

/// The step of `size` times `direction` from where the loss is `middle`.
static FailureOr<Step> stepOf(const Model &model, const std::string &parameter,
                              ArrayRef<double> direction, double size,
                              double middle) {
  double losses[2];
  for (int side : {0, 1}) {
    ff::TensorValues states = model.initialStates();
    std::vector<double> &values = states.at(parameter).data;
    for (auto [value, along] : llvm::zip(values, direction))
      value += (side ? size : -size) * along;
    auto loss = model.loss(states);
    if (failed(loss))
      return failure();
    losses[side] = *loss;
  }
  return Step{(losses[1] - losses[0]) / (2 * size),
              ((losses[1] - middle) - (middle - losses[0])) / size};
}

FailureOr<std::vector<Slope>> ffc::slopesOf(const Model &model,
                                            const ff::TensorValues &outputs) {
  std::vector<Slope> slopes;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  FailureOr<double> middle = failure(); // asked for by the first slope
  for (const auto &[name, gradient] : outputs) {
    StringRef parameter = name;
    if (!parameter.consume_front("grad/"))
      continue;
    std::vector<double> direction(gradient.data.size());
    if (failed(middle))
      middle = model.loss(model.initialStates());
    if (failed(middle))
      return failure();
    Slope slope{parameter.str(), 0, 0, 0, 0};
    for (auto [along, element] : llvm::zip(direction, gradient.data)) {
      along = uniform(random);
      slope.fromGradient += along * element;
    }
    auto whole = stepOf(model, slope.parameter, direction, kStep, *middle);
    auto half = stepOf(model, slope.parameter, direction, kStep / 2, *middle);
    if (failed(whole) || failed(half))
      return failure();
    slope.whole = whole->slope;
    slope.half = half->slope;
    // Half a step has half of what curvature bends, and all of a kink.
    slope.kink = 2 * half->bend - whole->bend;
    slopes.push_back(std::move(slope));
  }
  return slopes;
}
