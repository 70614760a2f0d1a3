//===- mapped_range.h - files that are cut off while mapped -----*- C++ -*-===//
#ifndef FFRT_COMMON_MAPPED_RANGE_H
#define FFRT_COMMON_MAPPED_RANGE_H

#include <cstddef>
#include <string>

namespace ffrt {

/// Memory in which a file is mapped. While one exists, reading what the file no
/// longer has ends the process with an error that names the file and the place,
/// and status 1, where it would die of SIGBUS. The same holds for what the disk
/// can not give.
class MappedRange {
public:
  MappedRange(const void *begin, std::size_t bytes, const std::string &path);
  ~MappedRange();
  MappedRange(const MappedRange &) = delete;
  MappedRange &operator=(const MappedRange &) = delete;

private:
  struct Entry;
  friend struct MappedRanges;
  Entry *const entry;
};

} // namespace ffrt

#endif // FFRT_COMMON_MAPPED_RANGE_H
