//===- instances.h - templates compiled with the runtime --------*- C++ -*-===//
//
// A program is compiled while its user waits. These are of its tables and of
// what kernels are told; the runtime has them (instances.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_INSTANCES_H
#define FFRT_INSTANCES_H

#include "ffrt/program.h"
#include "ffrt/tables.h"

#include <cstdint>
#include <vector>

#define FFRT_INSTANCES(TEMPLATE)                                               \
  TEMPLATE std::vector<double>;                                                \
  TEMPLATE std::vector<int>;                                                   \
  TEMPLATE std::vector<int64_t>;                                               \
  TEMPLATE std::vector<uint64_t>;                                              \
  TEMPLATE std::vector<const char *>;                                          \
  TEMPLATE std::vector<std::vector<int>>;                                      \
  TEMPLATE std::vector<ffrt::InputInfo>;                                       \
  TEMPLATE std::vector<ffrt::OutputInfo>;                                      \
  TEMPLATE std::vector<ffrt::Place>;                                           \
  TEMPLATE std::vector<ffrt::RankClass>;                                       \
  TEMPLATE std::vector<ffrt::RankInfo>;                                        \
  TEMPLATE std::vector<ffrt::StateInfo>;                                       \
  TEMPLATE std::vector<ffrt::Tensor>;

FFRT_INSTANCES(extern template class)

#endif // FFRT_INSTANCES_H
