//===- Options.h - the command line of ffc ----------------------*- C++ -*-===//
//
// Compiling, `ffc profile` and `ffc explain` take a model and share a table of
// flags.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TOOLS_FFC_OPTIONS_H
#define FFC_TOOLS_FFC_OPTIONS_H

#include "Flags.h"

#include "ffc/IR/Optimizers.h"
#include "ffc/Import/Import.h"
#include "ffc/Network/LayerTasks.h"
#include "ffc/Plan/PipelineSchedule.h"
#include "ffc/Search/Search.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ffc {

/// Of the operands of products; F64: of everything.
enum class Precision {
  F32,
  F64,
  TF32, ///< f32 in memory, rounded to TF32 where a GPU multiplies
  BF16,
  FP16,
};
/// "f32", "fp16"
const char *wordOf(Precision precision);

/// What the gradient of the loss is multiplied by.
struct LossScale {
  double first;   ///< in the first step; 0: nothing, in any step
  bool isDynamic; ///< halved and doubled as gradients allow

  static constexpr LossScale none() { return {0, false}; }
  static constexpr LossScale dynamic() { return {65536, true}; }
};

/// What ffc writes, in the order in which it comes to them.
enum class Emit { FF, Train, Plan, Rank, Source, Binary };

/// Those that share the flags.
enum : CommandSet {
  kCompile = 1,
  kProfile = 2,
  kExplain = 4,
  kParameters = 8,
  kExport = 16
};

/// --schedule: "auto", "none", "gpipe", "1f1b", "1f1b:AHEAD", "zb-h1", "zb-h2"
/// or "zb:AHEAD".
struct ScheduleOption {
  std::string text = "auto";
  int ahead = 1; ///< of 1F1B and zero bubble
  bool defersWeights = false;

  bool isAuto() const { return text == "auto"; }
  bool isNone() const { return text == "none"; }
  /// Where it is a pipeline's.
  plan::PipelineSchedule of(int microBatches) const {
    return {microBatches,
            text == "gpipe" ? microBatches : std::min(ahead, microBatches),
            defersWeights};
  }
};

/// FlexNet's flags (TopoOpt), as they were given.
struct FlexNetFlags {
  std::string topology; ///< "fattree", "fc", "topoopt"
  std::optional<int64_t> servers, gpusPerServer, degree;
  /// In Gbit/s, and in microseconds.
  std::optional<int64_t> interfaceBandwidth, gpuBandwidth, memoryBandwidth,
      latency;
  std::string measures; ///< path
  bool writesMeasures = false;

  /// Is the network part of what is searched for?
  bool searchesNetwork() const { return topology == "topoopt"; }
  /// FlexNet's, of servers that are joined directly; in a fat tree there is
  /// one.
  int64_t degreeOrDefault() const {
    return degree.value_or(searchesNetwork() ? 4 : 1);
  }
};

struct Options : CommandOptions {
  bool version = false, listOperators = false, quiet = false;
  bool verbose = false; ///< progress where there is no terminal too

  std::string model;   ///< path of the ONNX model
  std::string devices; ///< path of the topology; empty only up to Emit::Train
  std::string profile; ///< path of measured times, or empty
  /// Of how many strategies `ffc profile` measures the kernels.
  int64_t profiledStrategies = 24;
  std::string strategy = "search";        ///< or "data-parallel", or a path
  std::optional<unsigned> randomStrategy; ///< seed; then `strategy` is unused
  /// It has micro-batches, or something is done again.
  enum class Random { Any, Pipeline, Recompute } random = Random::Any;
  ScheduleOption schedule; ///< of its micro-batches
  /// By which times strategies are compared.
  enum class Simulator {
    FFC,
    FlexFlow, ///< of FlexFlow's scripts/simulator.cc
  } simulator = Simulator::FFC;
  std::string output;  ///< empty: standard output
  std::string weights; ///< a checkpoint, of `ffc export`
  Emit emit = Emit::Binary;
  std::string target;   ///< "cpu", "cuda", or empty: the devices' kind
  std::string cudaArch; ///< "sm_90", or empty: of the devices' kinds
  std::string runtime;  ///< path of one that sources share; empty: their own
  std::string printStrategy;         ///< path, "-": standard output; empty: not
  std::string exportStrategy;        ///< the same, in a form of FlexFlow
  std::string exportFormat = "text"; ///< or "printed"
  /// What the simulator says, each a path as printStrategy.
  std::string report, trace, taskGraph;
  std::string chakra; ///< what the paths of traces of MLCommons start with
  std::string printTopology;  ///< path of the network found, as printStrategy
  std::string serverTasks;    ///< path of a task graph of FlexNet
  std::string exportMeasures; ///< path of measurements for FlexNet
  FlexNetFlags flexNet;
  /// A topology that flags of FlexNet describe; `devices` is its name.
  std::string topologyText;
  std::vector<std::string> meanings; ///< what flags of FlexNet became
  /// What servers do inside of themselves in it.
  network::ServerInside serverInside;
  /// All that communicates at once shares links in them.
  bool sharedLinks = false;

  /// Is the strategy in a file?
  bool isFile() const {
    return !randomStrategy && strategy != "search" &&
           strategy != "data-parallel";
  }
  /// Path of the file with the strategy, or one to start from; or empty.
  const std::string &strategyFile() const {
    return isFile() ? strategy : start;
  }
  bool searches() const { return strategy == "search" && !randomStrategy; }
  bool isByFlexFlow() const { return simulator == Simulator::FlexFlow; }
  bool wantsTasks() const {
    return sharedLinks || !(report + trace + taskGraph + chakra + serverTasks +
                            exportMeasures + profile)
                               .empty();
  }

  std::optional<int64_t> batchSize;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::string> fixed; ///< inputs, and their numbers
  /// Steps of a recurrent layer per operator. None: as devices ask for.
  std::optional<int64_t> timeBlock;

  bool training = true;
  /// The forward pass with what is trained stands beside the step.
  bool evaluation = true;
  std::string loss = "cross-entropy";
  std::optional<int64_t> classAxis; ///< of cross-entropy
  double labelSmoothing = 0;        ///< the same
  ff::Optimizer optimizer;
  std::optional<double> momentum; ///< of SGD
  bool nesterov = false;
  /// What the norm of all gradients is clipped to; 0: not.
  double clipNorm = 0;
  bool exportsAverages = false; ///< running means of parameters
  double ema = 0; ///< decay of running means of parameters; 0: there are none
  int microBatches = 1;               ///< over a batch each in a step
  std::optional<double> learningRate; ///< absent: the optimizer's
  double weightDecay = 0;
  double clipValue = 0; ///< of elements of gradients; 0: not clipped
  /// Update tables in the rows that were looked up; absent: if that is the same
  /// as updating all of them.
  std::optional<bool> sparseTables;
  std::vector<TrainRule> trainRules; ///< --train and --freeze, in their order
  bool ties = true;                  ///< of weights of equal contents
  std::string init = "glorot-uniform";
  std::optional<double> dropout; ///< 0: off
  /// Statistics of the batch in batch normalisation; absent: as exported.
  std::optional<bool> batchStatistics;
  /// Groups of samples with statistics of their own; absent: as many as there
  /// are devices.
  std::optional<int64_t> batchNormGroups = 1;
  Precision precision = Precision::F32;
  std::optional<LossScale> lossScale; ///< absent: as the precision needs it
  /// Element-wise operators with what they follow. Absent: unless FlexNet's
  /// measurements are read or written: those are of layers with their
  /// activations.
  std::optional<bool> fuse;
  /// Rules that the forward graph is rewritten by. None: what the strategy's
  /// file says, or what a search chooses.
  std::optional<std::vector<std::string>> rewrites;

  /// By whose algorithms collectives run.
  plan::CollectiveRules collectives;
  search::Options search;
  bool searchesSchedules = true, searchesRecomputation = true;
  std::optional<int64_t> memoryLimit; ///< bytes of every device
  std::vector<std::string> pins;      ///< lines of strategy files
  std::string start;                  ///< path of a strategy file, or empty
};

const std::vector<FlagGroupOf<Options>> &modelFlags();

/// The flags of FlexNet, which only the compilation takes (FlexNetFlags.cpp).
FlagGroupOf<Options> flexNetFlags();
/// Turns FlexNet's flags into those they stand for, and notes what they became.
llvm::Error resolveFlexNetFlags(Options &options);

/// Expects `count` arguments, of which the last is the model, and checks what
/// belongs together.
llvm::Error checkModelCommand(Options &options, size_t count = 1,
                              const llvm::Twine &what = "one model");

} // namespace ffc

#endif // FFC_TOOLS_FFC_OPTIONS_H
