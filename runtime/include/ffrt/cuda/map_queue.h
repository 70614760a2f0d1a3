//===- map_queue.h - small maps that start together -------------*- C++ -*-===//
//
// Maps of few elements by one function that follow each other, all of whose
// operands lie like the results, are one launch (ffrt/cuda/map_kernel.h): the
// running statistics of normalisations, copies of short arrays.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_MAP_QUEUE_H
#define FFRT_CUDA_MAP_QUEUE_H

#include "ffrt/cuda/chunks.h"
#include "ffrt/cuda/footprint.h"
#include "ffrt/cuda/map_element.h"

namespace ffrt::cuda {

/// Elements of a map that waits for others: more take longer than their start.
constexpr int64_t kSmallMap = 16 * kChunk;

template <int N, class... Y> struct MapTable {
  struct Map {
    MapData<N, Y...> data;
    int64_t n;
    bool grouped;
  };
  static constexpr int kMost =
      int((kParameterBytes - 64) / (sizeof(Map) + sizeof(int)));

  Chunks<kMost> chunks;
  Map of[kMost];
};

template <class F, int N, class... Y>
__global__ void maps_kernel(const __grid_constant__ MapTable<N, Y...> table) {
  constexpr int M = sizeof...(Y);
  const F f;
  for (int chunk = int(blockIdx.x); chunk < table.chunks.total();
       chunk += int(gridDim.x)) {
    const int which = table.chunks.array_of(chunk);
    const auto &map = table.of[which];
    table.chunks.for_spans(
        chunk, which, map.n, map.grouped, [&](const Span &span) {
          Group<float> x[N];
          float y[M][kGroup];
          FFRT_UNROLL
          for (int k = 0; k < N; ++k)
            x[k] = read(map.data.x[k], span);
          FFRT_UNROLL
          for (int i = 0; i < kGroup; ++i) {
            float operands[N], results[M];
            FFRT_UNROLL
            for (int k = 0; k < N; ++k)
              operands[k] = x[k][i];
            map_element(f, operands, results, std::make_index_sequence<N>());
            FFRT_UNROLL
            for (int k = 0; k < M; ++k)
              y[k][i] = results[k];
          }
          write_results(map.data, span, y, std::index_sequence_for<Y...>());
        });
  }
}

template <class F, int N, class... Y> class MapQueue final : public Deferred {
public:
  void add(const MapData<N, Y...> &data, int64_t n) {
    Footprint::Task task;
    for (const float *x : data.x)
      task.reads.push_back({x, n});
    const int64_t sizes[] = {sizeof(Y)...};
    for (std::size_t k = 0; k < sizeof...(Y); ++k)
      task.writes.push_back({static_cast<float *>(data.y[k]),
                             (n * sizes[k] + 3) / int64_t(sizeof(float))});
    if (!device().has_deferred(*this) || table.chunks.full() ||
        !footprint.allows(task))
      device().defer(*this);
    table.of[table.chunks.arrays()] = {data, n, data.has_groups()};
    table.chunks.add(n);
    footprint.add(task);
  }

  void start() override {
    launch(blocks_for(table.chunks.total(), 1), kThreads,
           maps_kernel<F, N, Y...>, table);
    table.chunks.clear();
    footprint.clear();
  }

private:
  static_assert(sizeof(MapTable<N, Y...>) <= kParameterBytes);
  MapTable<N, Y...> table;
  Footprint footprint;
};

/// {y...} = F()(x...) for n elements, at most kSmallMap, now or together with
/// what follows.
template <class F, int N, class... Y>
void map_later(const MapData<N, Y...> &data, int64_t n) {
  static MapQueue<F, N, Y...> queue;
  queue.add(data, n);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MAP_QUEUE_H
