//===- ScheduleText.h - schedules of collectives as text --------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_SCHEDULETEXT_H
#define FFC_LIB_CODEGEN_SCHEDULETEXT_H

#include "ffc/IR/Rank.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// What the runtime reads (ffrt::Schedule::read), as string literals of a line
/// each that follow each other.
std::vector<std::string> literalsOf(rank::ScheduleOp op);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_SCHEDULETEXT_H
