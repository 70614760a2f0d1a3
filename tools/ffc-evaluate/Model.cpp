//===- Model.cpp - a training program in double precision -----------------===//

#include "Model.h"

#include "ffc/Reference/InitialValues.h"
#include "ffc/Reference/RankEvaluator.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace ffc;

FailureOr<Model> Model::load(MLIRContext &context, StringRef path,
                             const ImportOptions &options,
                             const DifferentiateOptions *differentiate,
                             uint64_t seed) {
  Model model;
  model.seed = seed;
  model.module = importModel(context, path, options);
  if (!model.module)
    return failure();
  if (differentiate) {
    PassManager passes(&context);
    passes.addPass(createDifferentiate(*differentiate));
    if (failed(passes.run(*model.module)))
      return failure();
    model.hasLoss = true;
  }
  auto states = ff::initialStates(*model.module, seed, options.weightsPath);
  if (failed(states))
    return failure();
  model.initial = std::move(*states);
  return model;
}

ff::ReferenceContext Model::at(int64_t step, double learningRate) const {
  ff::ReferenceContext context;
  context.seed = seed;
  context.step = step;
  context.learningRate = learningRate;
  return context;
}

FailureOr<ff::TensorValues> Model::inputs(int64_t step) const {
  return ff::syntheticInputs(*module, seed, step);
}

FailureOr<ff::EvaluationResult> Model::step(int64_t number,
                                            const ff::TensorValues &states,
                                            double learningRate,
                                            ff::Noise *noise) const {
  auto values = inputs(number);
  if (failed(values))
    return failure();
  return ff::evaluate(*module, *values, states, at(number, learningRate),
                      noise);
}

FailureOr<Model::Run> Model::run(int64_t steps, double learningRate,
                                 ff::Noise *noise) const {
  Run run;
  run.last.states = initial;
  for (int64_t number = 0; number < steps; ++number) {
    auto result = step(number, run.last.states, learningRate, noise);
    if (failed(result))
      return failure();
    run.last = std::move(*result);
    if (hasLoss)
      run.losses.push_back(run.last.outputs.at("loss").data[0]);
  }
  return run;
}

FailureOr<Model::Run> Model::run(ModuleOp program, int64_t steps,
                                 double learningRate) const {
  rank::RankEvaluator evaluator(program);
  // Passes add constants, which the model as it was imported lacks.
  evaluator.fillConstants();
  for (const auto &[name, value] : initial)
    if (failed(evaluator.setState(name, value)))
      return failure();
  for (int64_t number = 0; number < steps; ++number) {
    auto values = inputs(number);
    if (failed(values))
      return failure();
    for (auto &[name, value] : *values)
      evaluator.setInput(name, std::move(value));
    if (failed(evaluator.step(at(number, learningRate))))
      return failure();
  }
  // Parameters that inference reads in part are nowhere as a whole.
  if (!hasLoss)
    return Run{{}, {evaluator.outputs(), {}}};
  auto result = evaluator.result();
  if (failed(result))
    return failure();
  return Run{std::move(result->losses),
             {std::move(result->outputs), std::move(result->states)}};
}

FailureOr<double> Model::loss(const ff::TensorValues &states) const {
  auto result = step(0, states, /*learningRate=*/0, /*noise=*/nullptr);
  if (failed(result))
    return failure();
  return result->outputs.at("loss").data[0];
}
