//===- FlexNetNames.h - what FlexNet calls operators ------------*- C++ -*-===//
#ifndef FFC_LIB_PLAN_FLEXNETNAMES_H
#define FFC_LIB_PLAN_FLEXNETNAMES_H

#include "ffc/Plan/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// The numbers in FlexNet's name of an operator: {3, 3, 64} of
/// "Conv2D_3_3_64"; none where the name has none.
std::vector<int64_t> flexNetNumbers(const Graph &graph, const Op &op);

/// `degrees` by dimension, innermost first, for a tensor of `rank`: the same,
/// or, where only samples are split, as many parts of these. Graphs may have
/// the positions of all samples as rows. Nothing where other dimensions are
/// split.
std::optional<std::vector<int64_t>>
degreesOfRank(const std::vector<int64_t> &degrees, size_t rank);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXNETNAMES_H
