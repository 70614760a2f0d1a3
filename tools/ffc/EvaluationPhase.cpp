//===- EvaluationPhase.cpp - the evaluation beside a step of training -----===//
//
// A program validates while it trains: it has a second step, the forward pass
// with running statistics and without dropout, which reads the parameters where
// training has them. Operators are where training has them, too.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "InternalError.h"
#include "Meta.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/SharedState.h"
#include "ffc/Plan/Verifier.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace ffc;

LogicalResult Compilation::makeEvaluationGraph() {
  ModuleOp graph = *evaluation->module;
  PassManager passes(&context);
  EvaluateOptions evaluating;
  evaluating.loss = options.loss;
  if (options.classAxis)
    evaluating.classAxis = *options.classAxis;
  passes.addPass(createEvaluate(evaluating));
  if (failed(passes.run(graph)) || failed(round(graph)) ||
      failed(fuseOperators(graph)))
    return failure();
  FailureOr<PlannedModule> result = buildPlanGraph(graph);
  if (failed(result))
    return failure();
  evaluation->planned = std::move(*result);
  return success();
}

LogicalResult Compilation::planEvaluation() {
  if (!evaluation)
    return success();
  auto goOnWithout = [&](const Twine &why) {
    evaluation.reset();
    report.say("no --validate in this program: " + why);
    return success();
  };
  std::string cause;
  {
    ScopedDiagnosticHandler why(&context, [&](Diagnostic &diagnostic) {
      if (cause.empty())
        cause = diagnostic.str();
      return success();
    });
    if (failed(makeEvaluationGraph()))
      return goOnWithout(cause);
  }
  const plan::Graph &graph = evaluation->planned.graph;
  plan::keepStatesOf(planned.graph, program, evaluation->planned.graph);
  evaluation->strategy = strategyOfEvaluation();
  const plan::CostModel cost = costModel(graph);
  evaluation->program = plan::planProgram(graph, evaluation->strategy,
                                          topology->numDevices(), cost);
  plan::shareState(planned.graph, program, graph, evaluation->program);
  // The larger one of two arenas, and what the evaluation adds to the state.
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id) {
    const plan::DeviceProgram &training = program.devices[id],
                              &mine = evaluation->program.devices[id];
    const int64_t bytes =
        mine.stateBytes + program.symmetricArena +
        std::max(training.arenaBytes - program.symmetricArena, mine.arenaBytes);
    if (const int64_t most = topology->kindOf(id).memoryBytes; bytes > most)
      return goOnWithout("with it device " + Twine(id) + " (" +
                         topology->device(id).name + ") needs " +
                         bytesText(bytes) + ", expected at most " +
                         bytesText(most));
  }
  if (auto error = plan::verifyProgram(graph, evaluation->strategy,
                                       evaluation->program, *topology))
    return fail(internalError("the evaluation's plan is not safe to run",
                              options, *error));
  evaluation->ranks = lowerToRank(evaluation->planned, evaluation->program);
  if (!evaluation->ranks)
    return failure();
  if (options.emit == Emit::Source) {
    writeConfigurations(evaluation->planned, {evaluation->strategy.begin(),
                                              evaluation->strategy.end()});
    addStep(*evaluation->ranks, evaluation->planned);
  }
  return success();
}

codegen::EvaluationStep
Compilation::describeEvaluation(const codegen::ProgramMeta &training) const {
  codegen::EvaluationStep step;
  step.ranks = *evaluation->ranks;
  const plan::Graph &graph = evaluation->planned.graph;
  step.meta = describeProgram(options, graph, evaluation->strategy);
  step.meta.training = false;
  step.meta.modelHash = training.modelHash;
  // Labels are those of the training, which its loss bounds.
  for (codegen::InputMeta &input : step.meta.inputs)
    for (const codegen::InputMeta &theirs : training.inputs)
      if (theirs.name == input.name)
        input.classes = theirs.classes;
  step.rows = mainFunction(*evaluation->module)
                  ->getAttrOfType<StringAttr>(ff::kRowsAttr)
                  .str();
  return step;
}
