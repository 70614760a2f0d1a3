//===- StagePlan.h - a chain of operators cut into stages -------*- C++ -*-===//
//
// A plan for a StageModel: which operators a stage has, on how many devices,
// and for every operator its tensor parallel degree, its algorithm and whether
// it is computed again for the backward pass. The data parallel degree is what
// is left of the stage's devices. docs/stages.md has the file.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STAGEPLAN_H
#define FFC_PLAN_STAGEPLAN_H

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

struct OperatorSplit {
  int tensor = 1;
  int algorithm = 0;
  bool isAgain = false; ///< computed again

  bool operator==(const OperatorSplit &o) const {
    return tensor == o.tensor && algorithm == o.algorithm &&
           isAgain == o.isAgain;
  }
};

struct PlannedStage {
  int first = 0; ///< number of its first operator in the model
  int devices = 1;
  std::vector<OperatorSplit> ops;

  int end() const { return first + static_cast<int>(ops.size()); }
};

struct StagePlan {
  /// More are refused: the search keeps tables of devices x devices x places,
  /// and the order of passes has all micro-batches on all stages.
  static constexpr int kMostLayers = 4096, kMostDevices = 256,
                       kMostSamples = 65536; ///< of an iteration

  std::string model; ///< StageModel::name
  int layers = 0;
  int devicesPerNode = 1;
  int batch = 1; ///< samples of an iteration
  /// Samples that go through the stages together.
  int microBatch = 1;
  std::vector<PlannedStage> stages;

  int numDevices() const;
  int numMicroBatches() const { return batch / microBatch; }

  /// Reads a file. On failure returns nothing and sets `error` ("FILE:LINE:
  /// ...").
  static std::optional<StagePlan> parse(const std::string &text,
                                        const std::string &fileName,
                                        std::string &error);
  static std::optional<StagePlan> load(const std::string &path,
                                       std::string &error);
  /// The text that reads back as this plan.
  std::string print() const;
};

} // namespace ffc::plan

#endif // FFC_PLAN_STAGEPLAN_H
