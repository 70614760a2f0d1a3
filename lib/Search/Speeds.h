//===- Speeds.h - devices that are not equally fast -------------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_SPEEDS_H
#define FFC_LIB_SEARCH_SPEEDS_H

#include "ffc/Plan/Cost.h"

#include <vector>

namespace ffc::search {

/// By device: how many steps it makes alone while the fastest one makes one, as
/// simulated. Empty if all are equally fast within a hundredth.
std::vector<double> deviceSpeeds(const plan::Graph &graph,
                                 const plan::Topology &topology,
                                 const plan::CostModel &cost);

/// `config` with blocks in proportion to the speeds of the devices that make
/// them, to the power of `exponent`: 0 makes all equal, and more than 1 gives
/// slow devices less than what they make in equal time.
plan::Configuration sharedBySpeed(plan::Configuration config,
                                  const std::vector<double> &speeds,
                                  double exponent = 1);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_SPEEDS_H
