//===- FlexNetNames.h - what FlexNet calls operators ------------*- C++ -*-===//
#ifndef FFC_LIB_PLAN_FLEXNETNAMES_H
#define FFC_LIB_PLAN_FLEXNETNAMES_H

#include "ffc/Plan/Graph.h"

#include <string>
#include <vector>

namespace ffc::plan {

/// The numbers in FlexNet's name of an operator: {3, 3, 64} of
/// "Conv2D_3_3_64"; none where the name has none.
std::vector<int64_t> flexNetNumbers(const Graph &graph, const Op &op);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXNETNAMES_H
