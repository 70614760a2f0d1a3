//===- head.h - what a run says before its first step -----------*- C++ -*-===//
#ifndef FFRT_COMMON_HEAD_H
#define FFRT_COMMON_HEAD_H

#include "common/program/rank_map.h"
#include "ffrt/program.h"

#include <string>
#include <vector>

namespace ffrt {

/// Floating-point operations of a step, of all ranks.
double flops_of_step(const ProgramInfo &info);

/// The model and what of it is trained, the strategy, what a step is and its
/// predicted time, ranks and hosts, planned bytes: at most eight lines, with a
/// newline at the end but for the last one. What the plan does not say is left
/// out.
std::string head_text(const ProgramInfo &info,
                      const std::vector<RankPlace> &places);

} // namespace ffrt

#endif // FFRT_COMMON_HEAD_H
