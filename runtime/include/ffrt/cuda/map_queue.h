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

template <class Operands, class... Y> struct MapTable {
  struct Map {
    MapData<Operands, Y...> data;
    int64_t n;
    bool grouped;
  };
  static constexpr int kMost =
      int((kParameterBytes - 64) / (sizeof(Map) + sizeof(int)));

  Chunks<kMost> chunks;
  Map of[kMost];
};

template <class F, class Operands, class... Y>
__global__ void
maps_kernel(const __grid_constant__ MapTable<Operands, Y...> table) {
  using Data = MapData<Operands, Y...>;
  constexpr std::make_index_sequence<Data::N> operands;
  const F f;
  for (int chunk = int(blockIdx.x); chunk < table.chunks.total();
       chunk += int(gridDim.x)) {
    const int which = table.chunks.array_of(chunk);
    const auto &map = table.of[which];
    table.chunks.for_spans(
        chunk, which, map.n, map.grouped, [&](const Span &span) {
          float x[Data::N][kGroup], y[Data::M][kGroup];
          read_operands(map.data, span, x, operands);
          map_elements(f, x, y, operands);
          write_results(map.data, span, y, std::index_sequence_for<Y...>());
        });
  }
}

template <class... X, class... Y, std::size_t... I, std::size_t... J>
Footprint::Task footprint_of(const MapData<From<X...>, Y...> &data, int64_t n,
                             std::index_sequence<I...>,
                             std::index_sequence<J...>) {
  return {{{static_cast<const X *>(data.x[I]), n}...},
          {{static_cast<const Y *>(data.y[J]), n}...}};
}

template <class F, class Operands, class... Y>
class MapQueue final : public Deferred {
public:
  void add(const MapData<Operands, Y...> &data, int64_t n) {
    const Footprint::Task task =
        footprint_of(data, n, std::make_index_sequence<Data::N>(),
                     std::index_sequence_for<Y...>());
    if (!device().has_deferred(*this) || table.chunks.full() ||
        !footprint.allows(task))
      device().defer(*this);
    table.of[table.chunks.arrays()] = {data, n, data.has_groups()};
    table.chunks.add(n);
    footprint.add(task);
  }

  void start() override {
    launch(blocks_for(table.chunks.total(), 1), kThreads,
           maps_kernel<F, Operands, Y...>, table);
    table.chunks.clear();
    footprint.clear();
  }

private:
  using Data = MapData<Operands, Y...>;
  static_assert(sizeof(MapTable<Operands, Y...>) <= kParameterBytes);
  MapTable<Operands, Y...> table;
  Footprint footprint;
};

/// {y...} = F()(x...) for n elements, at most kSmallMap, now or together with
/// what follows.
template <class F, class Operands, class... Y>
void map_later(const MapData<Operands, Y...> &data, int64_t n) {
  static MapQueue<F, Operands, Y...> queue;
  queue.add(data, n);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_MAP_QUEUE_H
