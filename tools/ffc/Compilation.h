//===- Compilation.h - the phases of one run of ffc -------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_COMPILATION_H
#define FFC_TOOLS_FFC_COMPILATION_H

#include "Options.h"
#include "Report.h"

#include "ffc/Codegen/Build.h"
#include "ffc/Codegen/EmitProgram.h"
#include "ffc/Import/Parameters.h"
#include "ffc/Network/TopologySearch.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/FlexFlowModel.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Plan/Profile.h"
#include "ffc/Plan/Program.h"
#include "ffc/Plan/Simulation.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/StrategyFile.h"
#include "ffc/Plan/Topology.h"
#include "ffc/Search/Search.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <memory>

namespace ffc {

/// A strategy with an order of the step of its own, better than the answer of
/// the search's chains.
struct TakenPlan {
  std::string name;
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  search::Quality quality;
};

/// The forward pass with what is trained, beside a step of training.
struct PlannedEvaluation {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PlannedModule planned;
  plan::Strategy strategy;
  plan::Program program;
  mlir::OwningOpRef<mlir::ModuleOp> ranks;
};

struct PlanSearch {
  std::optional<TakenPlan> taken;
  /// If nothing fits, what came closer: "; data-parallel, 12 operators computed
  /// again needs 1.2 GB", or empty.
  std::string closer;
};

/// One model on its way to one output. Phases run in order up to the one that
/// gives what was asked for.
class Compilation {
public:
  explicit Compilation(const Options &options);

  /// Fails after a message on standard error; no output is left then.
  mlir::LogicalResult run();

  /// Prints what the alternatives for one operator would cost, with the
  /// strategy that compiling would take for all others.
  mlir::LogicalResult explain(llvm::StringRef op);

  /// Prints what of the model is trained (ffc parameters).
  mlir::LogicalResult listParameters();
  /// Writes the model with the values of a checkpoint (ffc export).
  mlir::LogicalResult exportModel();

  /// Writes the program that measures the kernels of several strategies.
  mlir::LogicalResult profile();

private:
  /// Up to the operators of `level`, which is Plan at most; that is where the
  /// strategy is known.
  mlir::LogicalResult runTo(Emit level);
  mlir::LogicalResult import();
  /// Makes one operator of what exporters spell out.
  mlir::LogicalResult recognize();
  /// Rewrites the forward graph by the rules that options or a strategy file
  /// name, or a search finds worth it. `level` is how far the compilation goes.
  mlir::LogicalResult rewrite(Emit level);
  /// Does a search choose the rules?
  bool choosesRewrites(Emit level) const;
  /// Rewrites by what is worth it, and says what each rule gives.
  mlir::LogicalResult chooseRewrites();
  /// What a short search finds for a forward graph; nothing if it is too large
  /// for that to be short.
  mlir::FailureOr<std::optional<search::Result>>
  judge(mlir::ModuleOp graph, const search::Options &judging);
  mlir::LogicalResult differentiate();
  /// What these do to any graph: the step that is trained, with the rounding of
  /// --precision, that alone, and fusion.
  mlir::LogicalResult makeStep(mlir::ModuleOp graph);
  mlir::LogicalResult round(mlir::ModuleOp graph);
  mlir::LogicalResult fuseOperators(mlir::ModuleOp graph);
  /// Reads the topology, unless that is done.
  mlir::LogicalResult readTopology();
  mlir::LogicalResult checkServers();
  /// Reads the file of the profile, if there is one, unless that is done.
  mlir::LogicalResult loadProfile();
  bool isMeasuredByFlexNet() const { return measured && measured->flexNet(); }
  /// FlexNet's layers are measured apart, by it or for it, each with its
  /// activation.
  bool keepsLayersApart() const {
    return isMeasuredByFlexNet() || !options.exportMeasures.empty();
  }
  /// Reads the profile, if there is one, for the topology's devices.
  mlir::LogicalResult readProfile();
  /// Of the tasks of `graph`.
  plan::CostModel costModel(const plan::Graph &graph) const {
    return costModel(graph, *topology);
  }
  plan::CostModel costModel(const plan::Graph &graph,
                            const plan::Topology &on) const;
  mlir::LogicalResult loadTopology();
  /// What kernels are compiled for.
  std::string cudaArch() const;
  /// Refuses what cannot be a program for the target.
  mlir::LogicalResult checkTarget();
  /// Notes what files say of the model's operators, on the operators.
  mlir::LogicalResult readStrategyFiles();
  /// Fewer operators, each of which is computed by one kernel.
  mlir::LogicalResult fuse();
  /// The only graph that is searched, planned and timed.
  mlir::LogicalResult buildGraph();
  mlir::LogicalResult chooseStrategy();
  /// The order of the strategy's micro-batches.
  mlir::LogicalResult chooseSchedule();
  mlir::LogicalResult orderMicroBatches();
  plan::PipelineSchedule fastestSchedule(int microBatches) const;
  /// How much the strategy does again, and what it need not.
  void reportAgain();
  /// What --strategy=FILE says of the operators that there are now.
  mlir::FailureOr<plan::PartialStrategy> strategyOfFile();
  /// The same of --start=FILE.
  plan::Strategy strategyToStartFrom() const;
  /// The strategy of the model's operators.
  plan::Strategy strategyOfModel() const;
  /// Writes `text` to `path`, "-" being standard output, unless that is empty.
  mlir::LogicalResult writeStrategy(const std::string &path,
                                    const std::string &text);
  /// Writes the strategy in a form of FlexFlow if options say so.
  mlir::LogicalResult exportStrategy();
  /// Layers and machine of FlexFlow's simulator, of the model's operators. A
  /// search by it finds what these have.
  mlir::LogicalResult readForFlexFlow(const PlannedModule &model);
  plan::PartialStrategy searchByFlexFlow(const plan::Graph &graph);
  /// Says what FlexFlow's simulator makes of the strategy.
  mlir::LogicalResult timeByFlexFlow();
  /// The best strategy of a search, and a report on it.
  mlir::FailureOr<plan::PartialStrategy> search();
  /// Strategy and network together (--topology=topoopt); the topology is that
  /// of the network found from then on.
  mlir::FailureOr<plan::PartialStrategy> searchWithNetwork();
  /// The same of what FlexNet measured.
  mlir::FailureOr<plan::PartialStrategy> searchLayersWithNetwork();
  /// The same of any model, by whole plans.
  mlir::FailureOr<plan::PartialStrategy> searchPlansWithNetwork();
  /// A network for what servers send each other by a strategy, judged by the
  /// time of the plan, kNever if it does not fit; nothing if none of that
  /// degree is connected.
  std::optional<network::FoundTopology>
  networkFor(const plan::Strategy &strategy,
             const plan::PipelineSchedule &order,
             const network::TopologySearchOptions &searching) const;
  /// Of a step; nothing if it does not fit. The table is of the graph, on the
  /// devices of `on`.
  std::optional<plan::Picoseconds>
  timeIfItFits(const plan::Strategy &strategy,
               const plan::PipelineSchedule &order, const plan::Topology &on,
               plan::SegmentTable &table) const;
  /// The same on `found` between the servers of the topology.
  std::optional<plan::Picoseconds>
  timeOn(const network::Network &found, const plan::Strategy &strategy,
         const plan::PipelineSchedule &order) const;
  /// The servers of the topology, joined by `found`, and its text.
  plan::Topology topologyOf(const network::Network &found,
                            std::string &text) const;
  /// Takes `found` as the network between the servers of the topology.
  void takeNetwork(network::FoundTopology found);
  network::TopologySearchOptions networkOptions() const;
  bool mayBePipeline(const search::Options &searching) const;
  bool mayKeepLess(const search::Options &searching) const;
  /// Tries what is judged by whole steps: pipelines, and what is faster than
  /// the chains' answer and does not fit, with less kept. `start`: the strategy
  /// that the search started from, as it was given.
  PlanSearch searchPlans(const search::Result &result,
                         const std::optional<plan::Strategy> &start,
                         const plan::CostModel &cost,
                         const search::Options &searching) const;
  bool needsTasks() const;
  /// The tasks of every device, where they have their buffers.
  plan::Program programOf(const plan::Strategy &strategy,
                          const plan::CostModel &cost) const;
  static std::vector<int64_t> bytesOf(const plan::Program &program);
  /// The program, proved safe.
  mlir::LogicalResult planProgram();
  /// The time of the step and how much memory it needs at least, without its
  /// tasks, of which a large model on many devices has millions.
  mlir::LogicalResult timePlan();
  /// "1.5 GB for parameters, ...; more devices need less each", of `total`.
  std::string describeMemory(const plan::MemoryParts &parts,
                             int64_t total) const;
  /// Fails if a device has less than that, by device. `atLeast`: it is a bound.
  mlir::LogicalResult checkMemory(const std::vector<int64_t> &bytes,
                                  bool atLeast, const plan::CostModel &cost);
  void reportStep(llvm::StringRef atLeast, const std::vector<int64_t> &bytes);
  /// The report, the trace and the task graph, as far as options say so.
  mlir::LogicalResult writeTimeline(const plan::CostModel &cost,
                                    plan::Timeline times);
  /// Writes --export-measures.
  mlir::LogicalResult writeMeasures(const plan::CostModel &cost);
  /// Writes --server-tasks.
  mlir::LogicalResult writeServerTasks(const plan::Simulation &simulation,
                                       const plan::CostModel &cost);
  /// Says how much of the kernels' time in `program` was measured.
  void reportProfile(const plan::CostModel &cost);
  /// Strategies whose kernels are worth measuring, the most likely ones first.
  std::vector<plan::Strategy> strategiesToProfile();
  /// Plans and proves the evaluation beside the step; where the model or the
  /// devices do not allow one, that is said, and the program has none.
  mlir::LogicalResult planEvaluation();
  mlir::LogicalResult makeEvaluationGraph();
  /// By the operators' names and aliases.
  llvm::StringMap<ff::ConfigAttr> configurationsByName() const;
  plan::Strategy strategyOfEvaluation() const;
  codegen::EvaluationStep
  describeEvaluation(const codegen::ProgramMeta &training) const;
  /// Writes strategy and schedule on the module's operators.
  void writePlan();
  mlir::LogicalResult emit();
  /// "search", or the name of a file.
  std::string originOfStrategy() const;
  /// What files the program takes for its own strategy.
  void describeStrategyFiles(codegen::ProgramMeta &meta) const;
  /// The source folder or the executable, and its weights.
  mlir::LogicalResult
  writeProgram(const std::vector<codegen::SourceFile> &files,
               const codegen::ProgramMeta &meta);

  /// Writes text to the output, or to standard output without one.
  mlir::LogicalResult writeText(llvm::StringRef text);
  mlir::LogicalResult writeModule(mlir::ModuleOp module);
  mlir::LogicalResult fail(const llvm::Twine &text);
  mlir::LogicalResult check(llvm::Error error);
  ImportOptions importOptions() const;
  void reportModel();
  /// Of the step, as the module is now.
  size_t numOperators();
  void reportPlan(const std::vector<plan::OpId> &followed);

  const Options &options;
  Report report;
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler diagnostics;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<PlannedEvaluation> evaluation; ///< null: there is none
  ParameterList parameters;
  PlannedModule planned;
  std::optional<plan::Topology> topology;
  plan::Target target = plan::Target::CPU; ///< of the program
  std::shared_ptr<const plan::Profile> measured;
  /// What the next search starts from besides --start.
  std::optional<plan::Strategy> startFrom;
  /// What the last search met besides its answer: those of its chains, of
  /// dynamic programming, and the best recipes.
  std::vector<plan::Strategy> searched;
  /// Of --topology=topoopt, and as topology file.
  std::optional<network::FoundTopology> foundNetwork;
  std::string topologyText;
  std::vector<std::string> rewritten; ///< the rules that were applied
  double secondsOfChoice = 0;         ///< what choosing them took
  plan::Strategy strategy;
  plan::PipelineSchedule schedule;
  std::string strategyText;
  /// What --start=FILE says, by the model's operator.
  llvm::StringMap<ff::ConfigAttr> start;
  /// The model's own operators, where a strategy of them is written or timed by
  /// FlexFlow's simulator.
  std::optional<plan::Graph> modelGraph;
  std::optional<plan::FlexFlowModel> flexFlow; ///< of these
  plan::Program program;
  double stepSeconds = 0;
  std::vector<double> busySeconds; ///< of a step, by device
  /// What the compilation writes besides text: a folder or an executable, and
  /// the weights beside the latter.
  std::unique_ptr<codegen::Pending> folder, weights;
};

} // namespace ffc

#endif // FFC_TOOLS_FFC_COMPILATION_H
