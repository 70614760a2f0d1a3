//===- shm_segment.h - memory that the ranks of a node share ----*- C++ -*-===//
#ifndef FFRT_COMM_SHM_SEGMENT_H
#define FFRT_COMM_SHM_SEGMENT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace ffrt {

/// A file in memory without a name: nothing stays behind, however the ranks
/// end. It is as long as one likes; pages take memory when they are first
/// touched.
struct SharedFile {
  int file = -1;
  std::string problem; ///< why there is none; empty: there is one
};

/// A new one, which programs that this one starts do not get.
SharedFile make_shared_file();
/// Its last page, which segments do not use.
constexpr int64_t kSharedFileEnd = (int64_t(1) << 42) - 4096;

class Segment {
public:
  /// Of the file that all ranks of the node have. Closes it in the end.
  explicit Segment(SharedFile shared)
      : problem(std::move(shared.problem)), file(shared.file) {}
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  /// Maps [offset, offset + bytes), multiples of kPage, zeros at first; the
  /// mapping lives as long as the process. Throws Error.
  std::byte *map(int64_t offset, int64_t bytes);

  static constexpr int64_t kPage = 4096;
  const std::string problem; ///< empty: usable

private:
  int file;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_SEGMENT_H
