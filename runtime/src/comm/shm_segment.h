//===- shm_segment.h - memory that the ranks of a node share ----*- C++ -*-===//
#ifndef FFRT_COMM_SHM_SEGMENT_H
#define FFRT_COMM_SHM_SEGMENT_H

#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <string>

namespace ffrt {

/// A file in memory without a name: nothing stays behind, however the ranks
/// end. Rank 0 of the node makes it, the others open it through /proc. It is
/// as long as one likes; pages take memory when they are first touched.
class Segment {
public:
  /// Collective over `node`. What went wrong on this rank is in `problem`.
  explicit Segment(MPI_Comm node);
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  /// Maps [offset, offset + bytes), multiples of kPage, zeros at first; the
  /// mapping lives as long as the process. Throws Error.
  std::byte *map(int64_t offset, int64_t bytes);

  static constexpr int64_t kPage = 4096;
  std::string problem; ///< empty: usable

private:
  int file = -1;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_SEGMENT_H
