//===- StageModel.h - a model as a chain of measured operators --*- C++ -*-===//
//
// The models of a StageProfile: operators in their order, each a row of the
// tables, with what planning has to know beside the rows. They cannot be
// compiled; they are there to be cut into stages (StagePlan.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_STAGEMODEL_H
#define FFC_PLAN_STAGEMODEL_H

#include "ffc/Plan/StageProfile.h"

namespace ffc::plan {

/// How a tensor lies on the devices of a stage: copies, and how often each of
/// three dimensions is split. `isAny`: as it comes.
struct StageLayout {
  int copies = 1;
  int splits[3] = {1, 1, 1};
  bool isAny = false;

  bool operator==(const StageLayout &o) const;
};

/// What operators share that read and write alike (docs/stages.md has the
/// table).
enum class LayoutRule {
  Embedding,
  AlongSequence, ///< normalisations and dropouts
  SplitColumns,  ///< the first product of a pair
  SplitRows,     ///< the second one
  Scores,
  Heads,
  Context,
  Elementwise,
  FinalNorm,
  Loss,
  Samples, ///< all of a convolutional network
};

struct StageOperator {
  int row = 0; ///< of the tables
  std::string name;
  LayoutRule rule = LayoutRule::Samples;
  /// How much of StageRow::activations is kept.
  double kept = 1;
  /// What it keeps is shared with others; a run of recomputed operators does
  /// not end at it.
  bool isShared = false;
  /// What enters it stays when everything around it is computed again.
  bool startsBlock = false;
  /// Begins a layer, or a part of one before which as little is to be moved:
  /// where degrees of parallelism may change.
  bool startsPart = false;
};

struct StageModel {
  std::string name;   ///< "gpt_1_3B"
  std::string tables; ///< whose tables it has, "t5_11B" for "t5_22B"
  int layers = 0;
  std::vector<StageOperator> ops;
  /// Beside a parameter and its gradient: copies in full precision, and states
  /// of the optimizer, in sizes of the parameter.
  double masterCopies = 0, optimizerStates = 0;
  /// Do the tables price a change of layout?
  bool hasLayouts = true;

  /// Has every row of the tables once.
  bool hasFixedLayers() const;
  int size() const { return static_cast<int>(ops.size()); }

  /// Which tables a model has and how many layers, if that is known: "gpt-1.3B"
  /// or "gpt_1_3B". On failure returns nothing and sets `error`.
  static std::optional<StageModel> named(const std::string &word,
                                         std::string &error);
  /// Adds the operators. `layers` 0: as many as are known. On failure returns
  /// false and sets `error`.
  bool build(const StageProfile &profile, int layers, std::string &error);
};

/// Of an operator's input or output on `tensor` x `data` devices.
StageLayout layoutOf(LayoutRule rule, int tensor, int data, int algorithm,
                     bool isInput);

} // namespace ffc::plan

#endif // FFC_PLAN_STAGEMODEL_H
