//===- KernelTime.h - about what an operator takes --------------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_KERNELTIME_H
#define FFC_LIB_SEARCH_KERNELTIME_H

#include "ffc/Plan/Cost.h"

namespace ffc::search {

/// Floating-point operations of the whole of an operator.
double operationsOf(const plan::Op &op);

/// About what the kernels of an operator take on a device that compute one of
/// so many blocks of the samples. All of them read the parameters.
plan::Picoseconds kernelTime(const plan::Graph &graph, plan::OpId op,
                             int64_t blocks, const plan::CostModel &cost,
                             plan::DeviceId device = 0);

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_KERNELTIME_H
