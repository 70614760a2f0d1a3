//===- file_error.h - what can go wrong with files --------------*- C++ -*-===//
#ifndef FFRT_COMMON_FILE_ERROR_H
#define FFRT_COMMON_FILE_ERROR_H

#include "ffrt/error.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace ffrt {

/// Throws Error with what errno says: "cannot write 'x': no space left".
[[noreturn]] inline void file_error(const char *verb, const std::string &path) {
  throw Error(std::string("cannot ") + verb + " '" + path +
              "': " + std::strerror(errno));
}

/// What some file systems, and what is no file of a disk, can not do is no
/// fault.
inline bool is_on_disk(int file) {
  return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
}

} // namespace ffrt

#endif // FFRT_COMMON_FILE_ERROR_H
