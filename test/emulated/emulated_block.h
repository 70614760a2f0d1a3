//===- emulated_block.h - the threads of a block as fibers ------*- C++ -*-===//
//
// FFRT_EMULATED_ORDER says who runs first, of the threads of a warp, the warps
// of a block, the blocks of a cluster and of a grid, which all come as they
// like on a GPU: forward, backward, or shuffled anew at every barrier. What
// then computes something else misses a barrier.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_BLOCK_H
#define FFRT_EMULATED_BLOCK_H

#include "emulated_races.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};

namespace ffrt::emulated {

constexpr int kWarp = 32;
/// The largest value that a warp exchanges.
constexpr int kLargest = 16;

/// The thread that runs.
struct Thread {
  dim3 thread, block, block_extent, grid_extent;
  int lane = 0;
  unsigned rank = 0; ///< of its block in the cluster
};
const Thread &current();

/// Runs `body` for every thread of every block. Ends the process where the
/// threads of a block, or those of a warp, do not come to the same barriers.
void run(dim3 grid, dim3 block, const std::function<void()> &body);
/// The same in clusters of so many blocks of so many threads, with bytes of
/// shared memory that a launch adds.
void run_clusters(unsigned clusters, unsigned blocks, unsigned threads,
                  std::size_t shared, const std::function<void()> &body);

/// Comes back when all threads of the cluster, the block or the warp that have
/// not ended are there. What a thread wrote before all others may read then; of
/// the cluster, what it wrote before it arrived.
void sync_cluster();
void arrive_at_cluster();
void sync_block();
void sync_warp();
/// The same of a warp, but as for values that it exchanges: nothing that was
/// written is ordered by it.
void meet_warp();

/// The memory that a launch of clusters adds, of this block; it is not 0 in the
/// beginning. And what lies in that of another block where `own` does.
void *added_memory();
void *added_memory_of(unsigned rank, const void *own);

/// Of cuda/kernels/shared_memory.h, whose addresses are those of the host.
uint32_t load_word(uintptr_t at);
/// Its copies; zeros from null. Those of every other lane are done at once, the
/// rest while it waits for them, so that a missing wait is seen, and a place
/// that somebody still reads. Ends the process where a place is no multiple of
/// `bytes`, or a thread ends before its copies.
void copy_async(uintptr_t to, const void *from, std::size_t bytes);
void wait_for_copies();

/// A place of kLargest bytes of a lane of this warp; of this lane itself where
/// there is no such lane, as in __shfl_sync.
void *slot(int lane);

template <class T> T exchange(T value, int lane) {
  static_assert(sizeof(T) <= kLargest);
  const races::Unseen unseen;
  std::memcpy(slot(current().lane), &value, sizeof value);
  meet_warp();
  T other;
  std::memcpy(&other, slot(lane), sizeof other);
  meet_warp();
  return other;
}

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_BLOCK_H
