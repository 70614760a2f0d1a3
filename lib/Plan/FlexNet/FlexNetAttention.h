//===- FlexNetAttention.h - multi-head attention as one layer ---*- C++ -*-===//
#ifndef FFC_PLAN_FLEXNET_FLEXNETATTENTION_H
#define FFC_PLAN_FLEXNET_FLEXNETATTENTION_H

#include "ffc/Plan/Graph.h"

#include <string>
#include <vector>

namespace ffc::plan {

/// FlexNet measures multi-head attention as a whole: the layers of query, key
/// and value, attention, and the layer behind it. By operator: that last layer
/// of the attention that it is a part of; -1: it is of none.
std::vector<OpId> attentionLayers(const Graph &graph);

/// FlexNet's name of the attention that ends with `last`: its width and number
/// of heads, "MultiHeadAttention_76812".
std::string attentionName(const Graph &graph, const std::vector<OpId> &layers,
                          OpId last);

} // namespace ffc::plan

#endif // FFC_PLAN_FLEXNET_FLEXNETATTENTION_H
