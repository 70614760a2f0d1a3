//===- local_launch.h - ranks that share this machine -----------*- C++ -*-===//
//
// What a program that was built without MPI tells the ranks that it starts, in
// their environment.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_LOCAL_LAUNCH_H
#define FFRT_COMM_LOCAL_LAUNCH_H

namespace ffrt {

constexpr const char *kLocalRank = "FFRT_LOCAL_RANK";
constexpr const char *kLocalRanks = "FFRT_LOCAL_RANKS";
/// The number under which a rank has the file of their shared memory.
constexpr const char *kLocalFile = "FFRT_LOCAL_FILE";

} // namespace ffrt

#endif // FFRT_COMM_LOCAL_LAUNCH_H
