//===- resize.cu - interpolation on a grid of another size ----------------===//
//
// A thread for every element of the result, neighbours in memory beside each
// other.
//
//===----------------------------------------------------------------------===//
#include "common/conv/resize.h"
#include "cuda/device/device_table.h"
#include "ffrt/cuda/launch.h"

#include <deque>

namespace ffrt {

namespace {

/// A dimension of the result.
struct Dimension {
  int64_t extent, stride; ///< of the result, of the operand
  bool copies;            ///< the operand's positions are the result's
  /// Else those of ResizeTable.
  const int64_t *starts, *positions;
  const float *weights;
};

/// All of them, from slow to fast in memory.
struct Dimensions {
  int rank;
  Dimension at[kMaxRank];
};

/// The dimensions of one element that are interpolated: entries to before ends.
template <int K> struct Entries {
  int64_t begin[K + 1], end[K + 1], stride[K + 1];
  const int64_t *positions[K + 1];
  const float *weights[K + 1];
};

/// The sum over the last `Left` of K dimensions.
template <int Left, int K>
__device__ float interpolate(const Entries<K> &entries, const float *x) {
  if constexpr (Left == 0) {
    return *x;
  } else {
    constexpr int k = K - Left;
    float sum = 0;
    for (int64_t e = entries.begin[k]; e < entries.end[k]; ++e)
      sum += entries.weights[k][e] *
             interpolate<Left - 1>(entries, x + entries.positions[k][e] *
                                                    entries.stride[k]);
    return sum;
  }
}

template <int K>
__global__ void resize_kernel(Dimensions dimensions, int64_t n, const float *x,
                              float *y) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += step) {
    Entries<K> entries;
    int64_t offset = 0, rest = i;
    int k = K;
    for (int d = dimensions.rank - 1; d >= 0; --d) {
      const Dimension &dimension = dimensions.at[d];
      const int64_t at = rest % dimension.extent;
      rest /= dimension.extent;
      if (dimension.copies) {
        offset += at * dimension.stride;
        continue;
      }
      --k;
      entries.begin[k] = dimension.starts[at];
      entries.end[k] = dimension.starts[at + 1];
      entries.stride[k] = dimension.stride;
      entries.positions[k] = dimension.positions;
      entries.weights[k] = dimension.weights;
    }
    y[i] = interpolate<K>(entries, x + offset);
  }
}

/// Starts the kernel for `interpolated` dimensions, K or more.
template <int K = 0>
void start(int interpolated, const Dimensions &dimensions, const Tensor &x,
           const Tensor &y) {
  if (K < interpolated) {
    if constexpr (K < kMaxRank)
      start<K + 1>(interpolated, dimensions, x, y);
    return;
  }
  cuda::launch(cuda::blocks_for(y.elements()), cuda::kThreads, resize_kernel<K>,
               dimensions, y.elements(), x.as<float>(), y.as<float>());
}

/// A ResizeTable in device memory.
struct Table {
  bool copies;
  cuda::DeviceTable<int64_t> starts, positions;
  cuda::DeviceTable<float> weights;

  explicit Table(const ResizeTable &table)
      : copies(table.copies), starts(table.starts), positions(table.positions),
        weights(table.weights) {}
};

} // namespace

struct ResizePlan {
  std::deque<Table> tables;
};

std::shared_ptr<const ResizePlan> plan_resize(std::vector<ResizeTable> tables) {
  auto plan = std::make_shared<ResizePlan>();
  for (const ResizeTable &table : tables)
    plan->tables.emplace_back(table);
  return plan;
}

static void run(const ResizePlan &plan, const Tensor &x, const Tensor &y) {
  if (y.elements() == 0)
    return;
  const bool last = y.rank >= 3 && y.order == Order::channels_last;
  const Index strides = x.strides();
  Dimensions dimensions{y.rank, {}};
  int interpolated = 0;
  for (int i = 0; i < y.rank; ++i) {
    const int d = !last || i == 0 ? i : i + 1 < y.rank ? i + 1 : 1;
    const Table &table = plan.tables[std::size_t(d)];
    dimensions.at[i] = {y.shape[d],
                        strides[d],
                        table.copies,
                        table.starts.data(),
                        table.positions.data(),
                        table.weights.data()};
    interpolated += table.copies ? 0 : 1;
  }
  start(interpolated, dimensions, x, y);
}

void Resize::operator()(Tensors in, Tensors out) {
  run(*plan, in.begin()[0], out.begin()[0]);
}

void ResizeBackward::operator()(Tensors in, Tensors out) {
  run(*plan, in.begin()[0], out.begin()[0]);
}

} // namespace ffrt
