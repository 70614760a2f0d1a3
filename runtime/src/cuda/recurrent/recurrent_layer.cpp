//===- recurrent_layer.cpp - algorithms for the steps of a layer ----------===//
//
// Clusters wait less; the library multiplies faster where layers are wide or
// samples many, and rounds operands to TF32 if it may. Time tells.
//
//===----------------------------------------------------------------------===//
#include "cuda/recurrent/recurrent_layer.h"

#include "cuda/matmul/gemm.h"
#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"

#include <functional>
#include <string>
#include <vector>

namespace ffrt {

namespace {

std::string text_of(const RecurrentSteps &s) {
  return std::string(s.kernel) + (s.tf32 ? " tf32 " : " ") + s.kind + ", " +
         std::to_string(s.steps) + " steps of " + std::to_string(s.samples) +
         " samples, " + std::to_string(s.units) + " units";
}

/// All algorithms, of which one is taken.
template <class Layer, class Operands>
class Algorithms : public cuda::Candidates {
public:
  using InClusters = std::function<std::unique_ptr<Layer>(SamplesOfCluster)>;
  using InSteps = std::function<std::unique_ptr<Layer>(const Operands &)>;

  Algorithms(InClusters in_clusters, InSteps in_steps, Tensors in, Tensors out)
      : in_clusters(std::move(in_clusters)), in_steps(std::move(in_steps)),
        tensors(in, out) {}

  std::vector<std::string> names() const override {
    return {"clusters of few samples", "clusters of many samples", "steps"};
  }
  void take(std::size_t i) override {
    layer.reset();
    layer = i == 0   ? in_clusters(SamplesOfCluster::few)
            : i == 1 ? in_clusters(SamplesOfCluster::many)
                     : in_steps(Operands(tensors.in(), tensors.out()));
  }
  double seconds() override {
    return tensors.seconds_of([&](const Tensor *in, const Tensor *out) {
      (*layer)(Operands(in, out));
    });
  }

  std::unique_ptr<Layer> layer;

private:
  const InClusters in_clusters;
  const InSteps in_steps;
  cuda::TimedTensors tensors;
};

template <class Layer, class Operands>
std::unique_ptr<Layer> fastest(const RecurrentSteps &steps,
                               Algorithms<Layer, Operands> &&algorithms) {
  cuda::tuner().choose(
      cuda::Gemm::version() + "; algorithm of " + text_of(steps), algorithms);
  return std::move(algorithms.layer);
}

} // namespace

std::unique_ptr<ForwardLayer> make_forward_layer(const RecurrentSteps &steps,
                                                 Tensors in, Tensors out) {
  return fastest(
      steps,
      Algorithms<ForwardLayer, ForwardOperands>(
          [&](auto samples) { return forward_in_clusters(steps, samples); },
          [&](auto &t) { return forward_in_steps(steps, t); }, in, out));
}

std::unique_ptr<BackwardLayer> make_backward_layer(const RecurrentSteps &steps,
                                                   Tensors in, Tensors out) {
  return fastest(
      steps,
      Algorithms<BackwardLayer, BackwardOperands>(
          [&](auto samples) { return backward_in_clusters(steps, samples); },
          [&](auto &t) { return backward_in_steps(steps, t); }, in, out));
}

} // namespace ffrt
