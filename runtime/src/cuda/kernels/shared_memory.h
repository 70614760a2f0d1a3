//===- shared_memory.h - its addresses, and copies to it --------*- C++ -*-===//
//
// Copies need no registers and go on while the thread that began them computes
// (PTX: cp.async). Tests compile what emulated_block.h has in the place of the
// instructions.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_SHARED_MEMORY_H
#define FFRT_CUDA_SHARED_MEMORY_H

#include <cuda_runtime.h>

#include <cstdint>

namespace ffrt::cuda {

/// A place in shared memory, as instructions have it.
#ifdef __CUDACC__
using SharedAddress = uint32_t;
__device__ inline SharedAddress shared_address(const void *at) {
  return SharedAddress(__cvta_generic_to_shared(at));
}
#else
using SharedAddress = uintptr_t;
inline SharedAddress shared_address(const void *at) {
  return reinterpret_cast<SharedAddress>(at);
}
#endif

__device__ inline uint32_t load_word(SharedAddress at) {
#ifdef __CUDACC__
  uint32_t word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
#else
  return emulated::load_word(at);
#endif
}

constexpr int kAsyncBytes = 16;

/// Begins to copy kAsyncBytes from the device's memory to shared memory, both
/// at multiples of so many; zeros, and `from` is not read, unless `there`.
__device__ inline void copy_async(SharedAddress to, const void *from,
                                  bool there) {
#ifdef __CUDACC__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(__cvta_generic_to_global(from)), "r"(there ? kAsyncBytes : 0)
               : "memory");
#else
  emulated::copy_async(to, there ? from : nullptr, kAsyncBytes);
#endif
}

/// Waits for all that this thread began. The others see it behind a barrier.
__device__ inline void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  emulated::wait_for_copies();
#endif
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_SHARED_MEMORY_H
