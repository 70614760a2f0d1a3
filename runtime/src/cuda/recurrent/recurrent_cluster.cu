//===- recurrent_cluster.cu - where the steps of a layer are done ---------===//
#include "cuda/recurrent/recurrent_cluster.h"

#include <string>

namespace ffrt::recurrent {

ClusterLayout::ClusterLayout(const RecurrentSteps &s)
    : steps(s.steps), samples(s.samples), units(s.units), reverse(s.reverse),
      blocks(cuda::kClusterBlocks) {
  // A block with fewer units has little to do but to wait.
  constexpr int64_t kLeastUnits = 8;
  while (blocks > 1 && units < blocks * kLeastUnits)
    blocks /= 2;
  const int64_t each = (units + blocks - 1) / blocks;
  own = int(cuda::groups_of(each)) * cuda::kGroup;
}

cuda::Clusters ClusterLayout::clusters(int of_cluster, int64_t floats) const {
  const std::size_t bytes =
      std::size_t(cuda::groups_of(floats)) * cuda::kGroup * sizeof(float);
  if (threads() > kMostThreads || bytes > cuda::kMostShared)
    throw Error("a cluster does not hold " + std::to_string(units) + " units");
  return {unsigned((samples + of_cluster - 1) / of_cluster), unsigned(blocks),
          unsigned(threads()), bytes};
}

} // namespace ffrt::recurrent
