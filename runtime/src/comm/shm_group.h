//===- shm_group.h - collectives in shared memory ---------------*- C++ -*-===//
//
// Buffers go through the segment in chunks that stay in the caches. There are
// three slots for chunks, so that members may put one chunk in, reduce another
// and take a third one out between two barriers. Members are summed in
// ascending order, each element by one of them, so that results depend neither
// on timing nor on who asks.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMM_SHM_GROUP_H
#define FFRT_COMM_SHM_GROUP_H

#include "comm/shm_node.h"
#include "ffrt/comm.h"

namespace ffrt {

class SharedGroup {
public:
  /// `members` are indices in the node, `me` an index into members. `offset` is
  /// that of bytes_for(members) reserved bytes of the segment.
  SharedGroup(Node &node, std::vector<int> members, int me, int64_t offset);
  static int64_t bytes_for(std::size_t members);

  /// As in Comm. They give the world rank of a member that has ended, or -1.
  /// `algorithm` library: in one shot if the data is small enough.
  int all_reduce(const Tensor &data, ReduceOp op,
                 CollectiveAlgorithm algorithm);
  int all_gather(const Tensor &part, const Tensor &whole);
  int reduce_scatter(const Tensor &whole, const Tensor &part, ReduceOp op);
  int broadcast(int root, const Tensor &data);
  int barrier();

private:
  struct Barrier;
  /// Calls phase(i) for i in [0, phases) with barriers between; afterwards
  /// `chunks` more slots have been used.
  template <class F> int run(int64_t phases, int64_t chunks, F &&phase);
  /// Where member `i` puts its part of chunk `chunk` of this call.
  char *slot(int64_t chunk, int i) const;
  /// The member's values of a chunk: `own` for this rank. Allocates nothing.
  const char *const *sources_of(int64_t chunk, const char *own, int64_t offset);
  int count() const { return int(members.size()); }

  Node &node;
  std::vector<int> members;
  int me;
  int64_t chunk_bytes; ///< most bytes of a member's part of a slot
  Barrier *shared_barrier;
  char *slots;
  uint32_t generation = 0;
  int64_t used = 0; ///< chunks so far
  std::vector<const char *> sources;
};

} // namespace ffrt

#endif // FFRT_COMM_SHM_GROUP_H
