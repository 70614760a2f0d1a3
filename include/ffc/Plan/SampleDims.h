//===- SampleDims.h - where the samples are ---------------------*- C++ -*-===//
//
// Operators name their dimensions by position, and call the first one that of
// the samples. In graphs that put time first (recurrent layers of most
// exporters) or turn tensors around it is another one. The graph knows: samples
// come in with the inputs and go on through what operators read and write.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_SAMPLEDIMS_H
#define FFC_PLAN_SAMPLEDIMS_H

#include "ffc/Plan/Graph.h"

namespace ffc::plan {

/// For every operator the iteration dimension that numbers the samples, or -1
/// if there is none or it is unknown; -1 for gradients and updates, which
/// follow their owners. Where samples were merged with something else, it is
/// the dimension that they are part of.
///
/// Samples are dimension 0 of the first input, and of those inputs that agree
/// with it there; unless it leads to an operator that knows better, one whose
/// sample dimension is not the first of its result (a recurrent layer).
std::vector<int> sampleDims(const Graph &graph);

/// Makes these dimensions, where they are nothing but samples, and no other
/// ones of the same operators, sample dimensions. Operators without one keep
/// their guess, except those that read nothing but state, which have no
/// samples.
void markSampleDims(Graph &graph);

} // namespace ffc::plan

#endif // FFC_PLAN_SAMPLEDIMS_H
