//===- names.h - file names of values ---------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_NAMES_H
#define FFRT_COMMON_NAMES_H

#include <string>

namespace ffrt {

/// File name of the value `name`: letters, digits, '_', '-' and '.' stay,
/// everything else and a leading '.' become '_'. Used for dumps and inputs.
std::string file_name(const std::string &name);

/// Path of the output `name` below the dump folder, without ".npy": up to the
/// first '/' the folder, then file_name of the rest.
std::string dump_path(const std::string &name);

} // namespace ffrt

#endif // FFRT_COMMON_NAMES_H
