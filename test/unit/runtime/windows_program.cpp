//===- windows_program.cpp - what NCCL wants of windows, on 2 ranks -------===//
//
// With an argument other than "fits" it does what NCCL does not allow, which
// the emulated one says: "offsets", "sizes", "twice", "unaligned", "elsewhere".
//
//===----------------------------------------------------------------------===//
#include "common/device/target.h"
#include "cuda/comm/nccl_windows.h"
#include "ffrt/cuda/device.h"

#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>

namespace {

constexpr std::size_t kBytes = 16384;

int run(const std::string &what, int rank) {
  ncclUniqueId id{};
  ncclComm_t comm = nullptr;
  ncclGetUniqueId(&id);
  ncclCommInitRank(&comm, 2, id, rank);
  const cudaStream_t stream = ffrt::cuda::device().stream();
  if (what == "unaligned" || what == "elsewhere") {
    void *data = std::aligned_alloc(4096, kBytes);
    if (what == "unaligned")
      ncclMemAlloc(&data, kBytes);
    ncclWindow_t window = nullptr;
    ncclCommWindowRegister(
        comm, static_cast<char *>(data) + (what == "unaligned" ? 64 : 0),
        kBytes / 2, &window, NCCL_WIN_COLL_SYMMETRIC);
    return 1;
  }
  const std::size_t size =
      what == "sizes" ? kBytes + 64 * std::size_t(rank) : kBytes;
  ffrt::cuda::NcclWindows windows;
  std::shared_ptr<void> state = windows.allocate(kBytes);
  std::shared_ptr<void> arena = windows.allocate(size);
  windows.open(comm);
  if (what == "twice")
    windows.open(comm);
  float *const values = static_cast<float *>(arena.get());
  float *const mine = values + (what == "offsets" ? 16 * rank : 64);
  const float value = float(1 + rank);
  float outside = 1, found[2] = {-1, -1};
  ffrt::write_target(mine, &value, sizeof value);
  ncclAllReduce(mine, mine, 1, ncclFloat32, ncclSum, comm, stream);
  ncclAllReduce(&outside, &outside, 1, ncclFloat32, ncclSum, comm, stream);
  ffrt::read_target(found, mine, sizeof found);
  const bool sums = found[0] == 3 && found[1] == 0 && outside == 2;
  windows.close();
  ncclCommDestroy(comm);
  std::puts(sums ? "fits" : "expected sums, found others");
  return sums ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = run(argc > 1 ? argv[1] : "fits", rank);
  MPI_Finalize();
  return status;
}
