//===- machine.h - what a profile was measured on ---------------*- C++ -*-===//
#ifndef FFRT_CPU_MACHINE_H
#define FFRT_CPU_MACHINE_H

#include <string>
#include <utility>
#include <vector>

namespace ffrt {

/// "AMD EPYC, 2 cores".
std::string machine_name();

/// Names and versions of what kernels and communication are made of.
std::vector<std::pair<std::string, std::string>> library_versions();

} // namespace ffrt

#endif // FFRT_CPU_MACHINE_H
