//===- SampleDims.h - where the samples of a batch are ----------*- C++ -*-===//
#ifndef FFC_PLAN_SAMPLEDIMS_H
#define FFC_PLAN_SAMPLEDIMS_H

#include "ffc/Plan/Graph.h"

#include <vector>

namespace ffc::plan {

/// For every operator without an owner, the iteration dimension that the
/// samples of the step's inputs lie along; -1 if there is none. They are
/// followed from tensor to tensor, since after a transposition the dimension
/// that a rule calls a sample may be a position in a sequence. Where samples
/// were merged with something else, it is the dimension that they are part of.
std::vector<int> sampleDims(const Graph &graph);

} // namespace ffc::plan

#endif // FFC_PLAN_SAMPLEDIMS_H
