//===- Differences.cpp - gradients by finite differences ------------------===//

#include "Differences.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace ffc;

/// Squares of the step and the rounding of double precision are equally small.
static constexpr double kStep = 1e-5;

/// The central difference of the loss over `size` times `direction`.
static FailureOr<double> differenceOf(const Model &model,
                                      const std::string &parameter,
                                      ArrayRef<double> direction, double size) {
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
  return (losses[1] - losses[0]) / (2 * size);
}

FailureOr<std::vector<Slope>> ffc::slopesOf(const Model &model,
                                            const ff::TensorValues &outputs) {
  std::vector<Slope> slopes;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const auto &[name, gradient] : outputs) {
    StringRef parameter = name;
    if (!parameter.consume_front("grad/"))
      continue;
    std::vector<double> direction(gradient.data.size());
    Slope slope{parameter.str(), 0, 0, 0};
    for (auto [along, element] : llvm::zip(direction, gradient.data)) {
      along = uniform(random);
      slope.fromGradient += along * element;
    }
    auto whole = differenceOf(model, slope.parameter, direction, kStep);
    auto half = differenceOf(model, slope.parameter, direction, kStep / 2);
    if (failed(whole) || failed(half))
      return failure();
    slope.whole = *whole;
    slope.half = *half;
    slopes.push_back(std::move(slope));
  }
  return slopes;
}
