//===- recurrent_cluster_forward.cu - all steps of a layer in clusters ----===//
#include "cuda/recurrent/recurrent_cluster.h"

namespace ffrt {

using namespace recurrent;

namespace {

/// Null where there is none.
struct Pointers {
  const float *x, *r, *bias, *h0, *c0;
  float *y, *h, *c, *saved;

  explicit Pointers(const ForwardOperands &t)
      : x(t.x.as<float>()), r(t.r.as<float>()), bias(t.bias.as<float>()),
        h0(t.h0.as<float>()), c0(t.c0.as<float>()), y(t.y.as<float>()),
        h(t.h.as<float>()), c(t.c.as<float>()), saved(t.saved.as<float>()) {}
};

/// Shared memory: the block's rows of r, transposed, the gates of a unit side
/// by side; and states before and after a step, the samples side by side.
struct Memory {
  int pitch;
  float *weights, *states;
  int64_t size; ///< of the states at one time, in floats

  FFRT_FUNCTION Memory(const ClusterLayout &g, int gates, int samples,
                       float *begin)
      : pitch(pitch_of(int64_t(gates) * g.own)), weights(begin),
        states(begin + g.units * pitch), size(g.units * samples) {}
  int64_t floats() const { return states - weights + 2 * size; }
};

template <class Cell, int kSamples>
__device__ void fill(const ClusterLayout &g, const Pointers &p,
                     const Memory &memory, const Place<kSamples> &place) {
  constexpr int kGates = Cell::kGates;
  const int64_t first = int64_t(place.rank) * g.own, units = g.units;
  for (int64_t i = threadIdx.x; i < kGates * g.own * units; i += blockDim.x) {
    const int64_t column = i / units, k = i - column * units;
    const int64_t unit = first + column / kGates, gate = column % kGates;
    memory.weights[k * memory.pitch + column] =
        unit < units ? p.r[(gate * units + unit) * units + k] : 0.0f;
  }
  for (int64_t i = threadIdx.x; i < 2 * memory.size; i += blockDim.x) {
    const int64_t k = i / kSamples, n = place.first_sample + i % kSamples;
    memory.states[i] =
        p.h0 && k < units && n < g.samples ? p.h0[n * units + k] : 0.0f;
  }
}

template <class Cell, int kSamples>
__global__ void __launch_bounds__(kMostThreads)
    forward_kernel(ClusterLayout g, Pointers p) {
  constexpr int kGates = Cell::kGates, kSaved = Cell::kSaved;
  const Place<kSamples> place(g);
  const Memory memory(g, kGates, kSamples, cuda::added_floats());
  fill<Cell>(g, p, memory, place);
  // All have begun, and what others write comes later than what was filled.
  cuda::arrive_at_cluster();
  cuda::wait_for_cluster();

  const int64_t units = g.units, at = place.sample * units + place.unit;
  float bias[kGates] = {}, x[kGates] = {}, cell = 0.0f, h = 0.0f;
  const auto read_x = [&](int64_t i) {
    read_vectors(p.x + (g.at(i) * g.samples + place.sample) * kGates * units +
                     place.unit,
                 units, x);
  };
  if (place.exists) {
    if (Cell::kHasBias && p.bias)
      read_vectors(p.bias + place.unit, units, bias);
    if (p.h0)
      h = p.h0[at];
    if (p.c0)
      cell = p.c0[at];
    read_x(0);
  }
  for (int64_t i = 0; i < g.steps; ++i) {
    const float *before = memory.states + i % 2 * memory.size;
    float *after = memory.states + (i + 1) % 2 * memory.size;
    Sums<kGates, kSamples> sums;
    sums.add(memory.weights + place.u * kGates, memory.pitch, before, units,
             place.lane);
    float gates[kGates], saved[kSaved];
    sums.combine(place.lane, gates);
    if (place.exists) {
      const float last = h;
      Cell::forward(x, gates, bias, last, saved, cell, h);
      for (int b = 0; b < g.blocks; ++b)
        cuda::in_block(after, b)[place.unit * kSamples + place.s] = h;
    }
    cuda::arrive_at_cluster();
    if (place.exists) {
      const int64_t step = g.at(i) * g.samples;
      if (p.y)
        p.y[step * units + at] = h;
      if (p.saved)
        write_vectors(saved, units,
                      p.saved + (step + place.sample) * kSaved * units +
                          place.unit);
      if (i + 1 < g.steps)
        read_x(i + 1);
    }
    cuda::wait_for_cluster();
  }
  if (place.exists && p.h)
    p.h[at] = h;
  if (place.exists && p.c)
    p.c[at] = cell;
}

} // namespace

std::unique_ptr<ForwardLayer> forward_in_clusters(const RecurrentSteps &steps,
                                                  SamplesOfCluster samples) {
  using Layer = Clustered<ForwardLayer, ForwardOperands, Pointers>;
  const ClusterLayout layout(steps);
  return with_equations(steps.cell, samples, [&](auto equations, auto count) {
    using Equations = decltype(equations);
    const Memory memory(layout, Equations::kGates, count, nullptr);
    return std::make_unique<Layer>(layout,
                                   layout.clusters(count, memory.floats()),
                                   forward_kernel<Equations, count>);
  });
}

} // namespace ffrt
