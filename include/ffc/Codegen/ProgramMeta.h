//===- ProgramMeta.h - what `rank` does not say about a program -*- C++ -*-===//
//
// Facts for people and for the emitted ProgramInfo: names, hashes, predictions,
// and per operator what the section of its layer says. Everything has a
// default, so that a `rank` module alone can be printed.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_PROGRAMMETA_H
#define FFC_CODEGEN_PROGRAMMETA_H

#include "ffc/Plan/LinkProbes.h"
#include "ffc/Plan/Rules.h"

#include <map>
#include <string>
#include <vector>

namespace ffc::codegen {

/// The part of a step to which an operator belongs.
enum class Direction { Forward, Backward, Update };

/// An operator of the training graph, found by the name in the locations of the
/// `rank` module. Empty texts are not printed.
struct OpMeta {
  /// The forward operator in whose section it stands; empty: its own.
  std::string layer;
  Direction direction = Direction::Forward;
  std::string type;     ///< "conv2d"
  std::string shapes;   ///< "8x64x27x27, 192x64x5x5 -> 8x192x27x27"
  std::string strategy; ///< "{n = 2, h = 2} on 0 1 2 3"
  double flops = 0;     ///< of all its points
};

/// As ffrt::InputInfo.
struct InputMeta {
  std::string name;
  plan::TensorType type;
  bool target = false;
  int64_t classes = 0;
};

/// As ffrt::OutputInfo.
struct OutputMeta {
  std::string name;
  plan::TensorType type;
};

/// As ffrt::RankInfo, where `rank` does not say it.
struct RankMeta {
  double busySeconds = 0;
  int node = 0;
};

struct ProgramMeta {
  std::string model = "model";
  std::string modelHash, topologyHash, strategyHash;
  std::string weightsHash; ///< as sealWeights(); empty: there are no values
  std::string version;     ///< of ffc
  bool training = true;
  std::string trained;              ///< what is, in words
  std::vector<std::string> updated; ///< parameters
  int64_t batch = 1;
  double learningRate = 0.01, weightDecay = 0;
  double clipValue = 0; ///< of gradients; 0: none
  int microBatches = 1; ///< over a batch each in a step
  bool tf32 = false;
  bool switchesAdd = false; ///< sums of NCCL's, in any order
  bool inF64 = false;       ///< all numbers are f64
  double predictedStepSeconds = 0;
  std::string strategy; ///< in one line
  double peakFlops = 0; ///< per second, of all devices
  /// The strategy in ffc's format, an element a line.
  std::vector<std::string> strategyLines;
  /// Hashes (ffc/IR/Hash.h) of files that say the same.
  std::vector<uint64_t> strategyFiles;
  std::vector<RankMeta> ranks; ///< empty: nothing is known
  std::vector<plan::LinkProbe> linkProbes;
  std::vector<InputMeta> inputs;
  std::vector<OutputMeta> outputs;
  std::map<std::string, OpMeta> ops;
};

} // namespace ffc::codegen

#endif // FFC_CODEGEN_PROGRAMMETA_H
