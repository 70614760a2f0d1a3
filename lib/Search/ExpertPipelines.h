//===- ExpertPipelines.h - what experts take for large models ---*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_EXPERTPIPELINES_H
#define FFC_LIB_SEARCH_EXPERTPIPELINES_H

#include "ffc/Search/Pipelines.h"

namespace ffc::search {

/// For models that are far too large, untimed: the samples are shared by all
/// devices, or by groups that share layers (Megatron-LM), or these are stages
/// of pipelines. Updates are shared, and parameters sent again or not (FSDP).
/// Those that look fastest, by the estimates of `cuts`, and may fit if most of
/// the forward pass is computed again.
std::vector<Pipeline> expertPipelines(const Planning &planning,
                                      const PipelineCuts &cuts);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_EXPERTPIPELINES_H
