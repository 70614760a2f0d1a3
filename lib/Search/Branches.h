//===- Branches.h - parts of a model that do not need each other -*- C++
//-*-===//
#ifndef FFC_LIB_SEARCH_BRANCHES_H
#define FFC_LIB_SEARCH_BRANCHES_H

#include "ffc/Plan/Graph.h"

#include <vector>

namespace ffc::search {

/// What is made of different inputs until it meets: the towers of a recommender
/// or of two encoders. They can be computed at the same time on different
/// devices, and little has to move between them.
struct Branches {
  /// By operator, of forward ones: the number of its branch; -1: what several
  /// branches meet in, and what follows that.
  std::vector<int> of;
  /// By branch: operations of its forward pass.
  std::vector<double> operations;

  explicit Branches(const plan::Graph &graph);

  /// Do at least two take a twentieth of all operations of branches?
  bool areWorthwhile() const;
  struct Block {
    plan::DeviceId first = 0;
    int64_t size = 1;
  };
  /// By branch, neighbouring devices of so many: a power of two of them, more
  /// where there is more to do, the largest ones first. More branches than
  /// devices have one each, the largest first to those that have least
  /// (Graham, 1969).
  std::vector<Block> blocks(int64_t devices) const;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_BRANCHES_H
