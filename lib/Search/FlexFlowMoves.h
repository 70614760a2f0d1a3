//===- FlexFlowMoves.h - proposals for FlexFlow's simulator -----*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_FLEXFLOWMOVES_H
#define FFC_LIB_SEARCH_FLEXFLOWMOVES_H

#include "ffc/Plan/FlexFlowTimer.h"
#include "ffc/Search/Space.h"

namespace ffc::search {

/// `split` as one of `layer`: as many parts of samples, each where those
/// samples are in `split`, and the rest of a linear layer's parts by channels.
plan::FlexFlowSplit placedAlike(const plan::FlexFlowModel &model, int layer,
                                const plan::FlexFlowSplit &split, int samples);

/// Draws changes of a strategy. The new devices of a layer form a regular
/// pattern: each binary digit of a part's number turns one digit of the
/// device's number, or none. So blocks of neighbours, every k-th device,
/// several parts on one, and grids of these are equally likely.
class FlexFlowMoves {
public:
  using Changes = std::vector<plan::FlexFlowTimer::Change>;

  explicit FlexFlowMoves(const plan::FlexFlowModel &model);

  /// Replaces `changes` by a proposal, of at least one layer.
  void draw(const plan::FlexFlowStrategy &current, Random &random,
            Changes &changes) const;

private:
  int anyLayer(Random &random) const;
  /// Those of a parameter, or some that follow each other.
  std::vector<int> someLayers(Random &random) const;
  /// The devices of 2^degree parts.
  std::vector<plan::DeviceId> pattern(int degree, Random &random) const;

  plan::FlexFlowSplit placed(int layer, Random &random) const;
  void placeTogether(const std::vector<int> &layers, Random &random,
                     Changes &changes) const;
  void placeAlike(int layer, const plan::FlexFlowStrategy &current,
                  Random &random, Changes &changes) const;
  void swapDevices(const std::vector<int> &layers,
                   const plan::FlexFlowStrategy &current, Random &random,
                   Changes &changes) const;
  void movePart(int layer, const plan::FlexFlowStrategy &current,
                Random &random, Changes &changes) const;

  const plan::FlexFlowModel &model;
  int digits; ///< binary ones of a device's number
  /// By layer: those that it reads, that read it, and that have its parameter.
  std::vector<std::vector<int>> related;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_FLEXFLOWMOVES_H
