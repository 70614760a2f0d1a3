//===- RandomGraphs.h - random regular graphs and expanders -----*- C++ -*-===//
//
// Private to the library. Both are the same on every machine, and throw
// Malformed (Text.h) where no such graph is.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_RANDOMGRAPHS_H
#define FFC_LIB_PLAN_RANDOMGRAPHS_H

#include "TopologyPattern.h"

namespace ffc::plan {

/// A connected graph in which every point has `degree` links, by `seed`
/// (Jellyfish, Singla et al., NSDI 2012).
PointLinks randomRegular(const Pattern &pattern, int count,
                         const std::string &points);

/// One with short ways: of several random graphs the one whose points are the
/// fewest hops from each other on average, improved by exchanging the ends of
/// two links as long as that number falls. Never worse than the graph of
/// randomRegular of the same seed; the work is bounded, so that from some
/// thousand points on it is that graph.
PointLinks expander(const Pattern &pattern, int count,
                    const std::string &points);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_RANDOMGRAPHS_H
