//===- EqualityModel.h - a model under many strategies ----------*- C++ -*-===//
//
// What the reference evaluator says of a model before anything is recognised,
// fused or split, to be compared with all ranks of a strategy.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TEST_UNIT_PASSES_EQUALITYMODEL_H
#define FFC_TEST_UNIT_PASSES_EQUALITYMODEL_H

#include "ffc/IR/Rank.h"
#include "ffc/Import/Import.h"
#include "ffc/Passes/Pipelines.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/RandomStrategy.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/StepTimer.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"
#include "ffc/Reference/Evaluator.h"
#include "ffc/Reference/InitialValues.h"
#include "ffc/Reference/RankEvaluator.h"

#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <unistd.h>

namespace ffc::equality {

inline constexpr uint64_t kSeed = 5;
inline constexpr int kSteps = 2;
/// So many strategies are compared, and more, up to so many, until every split
/// has been seen. FFC_STRATEGIES=100 in the environment compares that many.
inline constexpr int kStrategies = 40, kMostStrategies = 100;

/// With or without communication beside computation.
inline plan::Topology ranks(int count, bool overlap) {
  std::string error;
  auto topology = plan::Topology::parse(
      "kinds: {k: {like: cpu-core, overlap: " +
          std::string(overlap ? "true" : "false") +
          "}}\ndevices: " + std::to_string(count) +
          " x k\ninterconnect: {type: shared-memory, bandwidth: 10 GB/s, "
          "latency: 10 ns}\n",
      "test.yaml", error);
  EXPECT_TRUE(topology) << error;
  return *topology;
}

inline double norm(const std::vector<double> &values) {
  double sum = 0;
  for (double v : values)
    sum += v * v;
  return std::sqrt(sum);
}

/// How a training program is made of a model.
struct Making {
  int64_t sampleGroups = 1;
  DifferentiateOptions differentiate;
  std::string rounding; ///< of products' operands: "bf16", "f16", "tf32"
};

/// A training program, made by the pipelines that ffc runs, as it is before
/// anything is fused. That means what the model does as it was imported and
/// differentiated, unless values are rounded.
class Model {
public:
  explicit Model(const std::string &path, const Making &making = {}) {
    context.loadDialect<ff::FFDialect, rank::RankDialect,
                        mlir::func::FuncDialect>();
    ImportOptions options;
    options.sampleGroups = making.sampleGroups;
    options.timeBlock = 2; // several operators per layer
    options.weightsPath = ::testing::TempDir() + "/equality." +
                          std::to_string(getpid()) + ".weights";
    module = importModel(context, path, options);
    if (module)
      valid = make(making, options.weightsPath);
    std::remove(options.weightsPath.c_str());
  }

  static ff::ReferenceContext at(int step) {
    ff::ReferenceContext context;
    context.seed = kSeed;
    context.step = step;
    return context;
  }

  /// Compares a strategy of `planned`.
  void check(const plan::Strategy &strategy, const plan::Topology &topology) {
    evaluate(planned, strategy, topology);
    checkTime(strategy, topology);
  }
  /// Compares a strategy with micro-batches in the order of a pipeline.
  void checkPipeline(const plan::Strategy &strategy,
                     const plan::PipelineSchedule &schedule,
                     const plan::Topology &topology) {
    evaluate(planned, strategy, topology, schedule);
    checkScheduled(strategy, schedule, topology);
  }
  /// Segments say when the tasks of the program end, if micro-batches are
  /// alike.
  void checkScheduled(const plan::Strategy &strategy,
                      const plan::PipelineSchedule &schedule,
                      const plan::Topology &topology) {
    const plan::CostModel cost(topology);
    plan::SegmentTable table(planned.graph, topology.numDevices(), cost);
    const plan::ScheduledStep step(table, strategy, schedule);
    const auto time = step.time();
    if (!time)
      return;
    ++regular;
    const plan::Program program = plan::planProgram(
        planned.graph, strategy, topology.numDevices(), cost, schedule);
    EXPECT_EQ(
        *time,
        plan::timeProgram(planned.graph, strategy, program, cost).makespan);
    const auto bytes = step.memory();
    ASSERT_TRUE(bytes);
    for (int id = 0; id < topology.numDevices(); ++id) {
      const plan::DeviceProgram &device = program.devices[id];
      const int64_t needed = device.stateBytes + device.arenaBytes;
      EXPECT_LE((*bytes)[id], needed);
    }
  }

  /// Of the strategies that were compared, those whose time segments say.
  int regular = 0;
  /// Draws and compares a strategy that was given to operators before fusion:
  /// those with different configurations stay apart.
  void checkGiven(std::mt19937 &random, const plan::Topology &topology) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = unfused->clone();
    auto apart = buildPlanGraph(*copy);
    ASSERT_TRUE(succeeded(apart));
    const plan::Strategy drawn =
        plan::randomStrategy(apart->graph, topology.numDevices(), random);
    writeConfigurations(*apart, {drawn.begin(), drawn.end()});
    mlir::PassManager fusing(&context);
    addFusion(fusing);
    ASSERT_TRUE(succeeded(fusing.run(*copy)));
    auto fused = buildPlanGraph(*copy);
    ASSERT_TRUE(succeeded(fused));
    auto given = readConfigurations(*fused);
    ASSERT_TRUE(succeeded(given));
    plan::Strategy same;
    for (const auto &[id, config] : llvm::enumerate(*given)) {
      const auto problem =
          plan::checkConfiguration(fused->graph, static_cast<plan::OpId>(id),
                                   *config, topology.numDevices());
      ASSERT_FALSE(problem) << *problem;
      same.push_back(*config);
    }
    evaluate(*fused, same, topology);
  }

  bool hasOutput(const std::string &name) const {
    return last.outputs.count(name) != 0;
  }
  /// The states that the other has as well have been trained to the same.
  void expectSameStates(const Model &other) const {
    compare(last.states, other.last.states);
  }
  /// No bit of parameters and what the optimizer keeps of them has changed.
  void expectInitialStates() const {
    for (const auto &[name, value] : initial)
      if (name.rfind("loss.", 0) != 0) {
        EXPECT_EQ(last.states.at(name).data, value.data) << name;
      }
  }
  double stateOf(const std::string &name) const {
    return last.states.at(name).data[0];
  }

  /// Is there an operator of this type ("attention") that strategies are drawn
  /// for?
  bool hasOperator(llvm::StringRef type) const {
    return llvm::any_of(planned.graph.ops,
                        [&](const plan::Op &op) { return op.type == type; });
  }
  /// Is there a rounded copy of a parameter?
  bool hasCopies() const {
    bool found = false;
    module.get()->walk(
        [&](ff::StateOp state) { found |= state.getKind() == "copy"; });
    return found;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module, unfused;
  PlannedModule planned; ///< of `module`, in which operators are fused
  bool valid = false;

private:
  bool make(const Making &making, const std::string &weights) {
    mlir::OwningOpRef<mlir::ModuleOp> plain = module->clone();
    mlir::PassManager differentiating(&context), passes(&context);
    differentiating.addPass(createDifferentiate(making.differentiate));
    addRecognition(passes);
    addTraining(passes, making.differentiate);
    addRounding(passes, making.rounding);
    if (failed(passes.run(*module)) || failed(differentiating.run(*plain)))
      return false;
    auto start = statesOf(*module, making, weights),
         plainStart = statesOf(*plain, making, weights);
    if (failed(start) || failed(plainStart) ||
        failed(evaluate(*module, *start)))
      return false;
    // Numbers in f32 of which an operator is made, as those of GELU, differ
    // from what the operator has.
    if (making.rounding.empty()) {
      Model meant;
      if (failed(meant.evaluate(*plain, *plainStart)))
        return false;
      compare(last.outputs, meant.last.outputs, 1e-7);
      compare(last.states, meant.last.states, 1e-7);
    }
    initial = *start;
    mlir::PassManager fusing(&context);
    addFusion(fusing);
    unfused = module->clone();
    if (failed(fusing.run(*module)))
      return false;
    auto built = buildPlanGraph(*module);
    if (failed(built))
      return false;
    planned = std::move(*built);
    return true;
  }

  static mlir::FailureOr<ff::TensorValues> statesOf(mlir::ModuleOp module,
                                                    const Making &making,
                                                    llvm::StringRef weights) {
    auto states = ff::initialStates(module, kSeed, weights);
    // f32 has none by which squares of doubles overflow.
    if (succeeded(states))
      if (auto scale = states->find("loss.scale"); scale != states->end())
        scale->second.data[0] = making.differentiate.lossScale;
    return states;
  }

  Model() = default;

  /// Fills `inputs`, `losses` and `last`.
  mlir::LogicalResult evaluate(mlir::ModuleOp from, ff::TensorValues states) {
    for (int step = 0; step < kSteps; ++step) {
      inputs.push_back(*ff::syntheticInputs(from, kSeed, step));
      auto result = ff::evaluate(from, inputs.back(), states, at(step));
      if (failed(result))
        return mlir::failure();
      states = result->states;
      losses.push_back(result->outputs["loss"].data[0]);
      last = std::move(*result);
    }
    // Those that what was recognised does not need are gone.
    from.walk([&](ff::StateOp state) {
      if (state.getKind() == "constant")
        last.states.erase(state.getName().str());
    });
    return mlir::success();
  }

  void evaluate(const PlannedModule &planned, const plan::Strategy &strategy,
                const plan::Topology &topology,
                const plan::PipelineSchedule &schedule = {}) {
    plan::CostModel cost(topology);
    plan::Program program = plan::planProgram(
        planned.graph, strategy, topology.numDevices(), cost, schedule);
    auto error =
        plan::verifyProgram(planned.graph, strategy, program, topology);
    ASSERT_FALSE(error) << *error;
    auto lowered = lowerToRank(planned, program);
    ASSERT_TRUE(lowered);
    rank::RankEvaluator evaluator(*lowered);
    for (const auto &[name, value] : initial)
      ASSERT_TRUE(succeeded(evaluator.setState(name, value)));
    for (int step = 0; step < kSteps; ++step) {
      for (const auto &[name, value] : inputs[step])
        evaluator.setInput(name, value);
      ASSERT_TRUE(succeeded(evaluator.step(at(step))));
      double loss = evaluator.losses().back();
      EXPECT_NEAR(loss, losses[step], 1e-10 * std::abs(losses[step]));
    }
    auto result = evaluator.result();
    ASSERT_TRUE(succeeded(result));
    compare(result->outputs, last.outputs);
    compare(result->states, last.states);
  }

  /// A search times the strategy as it times the tasks of the program.
  void checkTime(const plan::Strategy &strategy,
                 const plan::Topology &topology) const {
    const plan::CostModel cost(topology);
    plan::SegmentTable table(planned.graph, topology.numDevices(), cost);
    std::vector<plan::ConfigId> configs;
    for (const plan::Configuration &config : strategy)
      configs.push_back(table.intern(config));
    const plan::StepTimer timer(table, configs);
    const plan::Program program =
        plan::planProgram(planned.graph, strategy, topology.numDevices(), cost);
    EXPECT_EQ(
        timer.makespan(),
        plan::timeProgram(planned.graph, strategy, program, cost).makespan);
  }

  /// Has the state a gradient that is zero but for rounding, as biases of keys,
  /// of which softmax takes no notice? Adam makes such gradients as large as
  /// others.
  bool isRounding(const std::string &state) const {
    auto gradient =
        last.outputs.find("grad/" + state.substr(0, state.find('/')));
    double all = 0;
    for (const auto &[name, value] : last.outputs)
      if (name.rfind("grad/", 0) == 0)
        all = std::hypot(all, norm(value.data));
    return gradient != last.outputs.end() &&
           norm(gradient->second.data) < 1e-12 * all;
  }

  /// Norm of the difference within a share of the norm, or of a fraction of the
  /// norm over all values of the kind.
  void compare(const ff::TensorValues &found, const ff::TensorValues &expected,
               double share = 1e-10) const {
    double all = 0;
    for (const auto &[name, value] : expected)
      all = std::hypot(all, norm(value.data));
    for (const auto &[name, value] : expected) {
      auto it = found.find(name);
      ASSERT_TRUE(it != found.end()) << name;
      ASSERT_EQ(it->second.shape, value.shape) << name;
      std::vector<double> difference = value.data;
      for (size_t i = 0; i < difference.size(); ++i)
        difference[i] -= it->second.data[i];
      EXPECT_LE(norm(difference),
                share * std::max(norm(value.data),
                                 (isRounding(name) ? 1 : 1e-4) * all))
          << name;
    }
  }

  ff::TensorValues initial;
  std::vector<ff::TensorValues> inputs;
  std::vector<double> losses;
  ff::EvaluationResult last;
};

/// The dimensions that some strategy splits, by family of operators.
class Splits {
public:
  explicit Splits(const plan::Graph &graph) : graph(graph) {}

  void add(const plan::Strategy &strategy) {
    for (size_t op = 0; op < strategy.size(); ++op)
      for (size_t d = 0; d < graph.ops[op].rules.dims.size(); ++d)
        if (strategy[op].degreeOf(static_cast<int>(d)) > 1)
          seen.insert(nameOf(graph.ops[op], d));
  }

  /// What no strategy has split of all that can be split, other than digits,
  /// which can be only where more significant ones are.
  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (const plan::Op &op : graph.ops)
      for (size_t d = 0; d < op.rules.dims.size(); ++d)
        if (op.rules.splittable(static_cast<int>(d)) &&
            plan::maxDegree(op.rules.dims[d]) > 1 &&
            !isDigit(op, static_cast<int>(d)) && !seen.count(nameOf(op, d)))
          names.push_back(nameOf(op, d));
    return names;
  }

private:
  static std::string nameOf(const plan::Op &op, size_t dim) {
    return op.type + ", " + op.rules.dims[dim].name;
  }

  static bool isDigit(const plan::Op &op, int dim) {
    for (const plan::Schedule &schedule : op.rules.schedules)
      for (const plan::Phase &phase : schedule.phases)
        for (const plan::SlotRead &read : phase.reads)
          for (const plan::DimMap &map : read.access.dims)
            if (map.kind == plan::DimMap::Kind::Digits && map.involves(dim))
              return true;
    return false;
  }

  const plan::Graph &graph;
  std::set<std::string> seen;
};

/// Compares strategies with orders of their own on `devices` devices, which
/// `draw` draws and `count` is told of: functions of the schedule.
template <class Draw, class Count>
void checkOrders(Model &model, int devices, unsigned seed, Draw draw,
                 Count count) {
  ASSERT_TRUE(model.valid);
  const plan::Graph &graph = model.planned.graph;
  const plan::Topology topologies[] = {ranks(devices, false),
                                       ranks(devices, true)};
  std::mt19937 random(seed);
  const char *given = std::getenv("FFC_STRATEGIES");
  for (int trial = 0; trial < (given ? std::atoi(given) : 12); ++trial) {
    plan::PipelineSchedule schedule;
    const plan::Strategy strategy = draw(schedule, random);
    count(strategy, schedule);
    model.checkPipeline(strategy, schedule, topologies[trial % 2]);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "seed " << seed << ", trial " << trial << ", schedule "
        << schedule.str() << " of " << schedule.microBatches << "\n"
        << plan::str(graph, strategy);
  }
}

inline void checkPipelines(Model &model, int devices) {
  const plan::Graph &graph = model.planned.graph;
  size_t turns = 0, stages = 0;
  checkOrders(
      model, devices, 2000 + devices,
      [&](plan::PipelineSchedule &schedule, std::mt19937 &random) {
        return plan::randomPipeline(graph, devices, schedule, random);
      },
      [&](const plan::Strategy &strategy,
          const plan::PipelineSchedule &schedule) {
        turns += plan::turnsOf(graph, strategy, schedule, false).size() -
                 graph.ops.size();
        stages += plan::numStages(graph, strategy, schedule);
      });
  // Batch normalisation over all samples ends a pipeline.
  const bool isWhole = model.hasOperator("normalize");
  EXPECT_GT(turns, isWhole ? 0 : 6 * graph.ops.size());
  // More than one each, on average.
  EXPECT_GT(stages, isWhole ? 11u : 12u);
}

/// Strategies and pipelines that do much again.
inline void checkRecomputation(Model &model, int devices) {
  const plan::Graph &graph = model.planned.graph;
  size_t again = 0, sentAgain = 0, ownSums = 0;
  checkOrders(
      model, devices, 3300 + devices,
      [&](plan::PipelineSchedule &schedule, std::mt19937 &random) {
        return plan::randomRecomputation(graph, devices, schedule, random);
      },
      [&](const plan::Strategy &strategy,
          const plan::PipelineSchedule &schedule) {
        for (const plan::Turn &turn :
             plan::turnsOf(graph, strategy, schedule, false)) {
          again += turn.isAgain;
          ownSums += turn.ownSums != 0;
        }
        for (bool state : plan::statesSentAgain(graph, strategy))
          sentAgain += state;
      });
  // More than one each, on average.
  EXPECT_GT(again, 12u);
  EXPECT_GT(sentAgain, 12u);
  // Batch normalisation over all samples ends a pipeline.
  EXPECT_TRUE(ownSums > 6 || model.hasOperator("normalize")) << ownSums;
}

/// Compares random strategies on `devices` devices. Splits of all kinds, of
/// heads, positions, vocabularies and experts for instance, are among them.
inline void checkStrategies(Model &model, int devices) {
  ASSERT_TRUE(model.valid);
  const plan::Topology topologies[] = {ranks(devices, false),
                                       ranks(devices, true)};
  unsigned seed = 1000 + devices;
  std::mt19937 random(seed);
  Splits splits(model.planned.graph);
  const char *given = std::getenv("FFC_STRATEGIES");
  const int least = given ? std::atoi(given) : kStrategies;
  const int most = given ? least : kMostStrategies;
  for (int trial = 0;
       trial < least || (trial < most && !splits.missing().empty()); ++trial) {
    plan::Strategy strategy =
        plan::randomStrategy(model.planned.graph, devices, random);
    splits.add(strategy);
    model.check(strategy, topologies[trial % 2]);
    if (trial % 10 == 0)
      model.checkGiven(random, topologies[trial / 10 % 2]);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "seed " << seed << ", trial " << trial << "\n"
        << plan::str(model.planned.graph, strategy);
  }
  EXPECT_THAT(splits.missing(), ::testing::IsEmpty());
}

} // namespace ffc::equality

#endif // FFC_TEST_UNIT_PASSES_EQUALITYMODEL_H
