//===- recurrent_cluster_backward.cu - gradients of a layer in clusters ---===//
//
// The gradient of a state through the gates is a sum over all gates. A block
// has the weights of its own units' gates only: it adds up these for every
// state, and gives each sum to the block that has the state.
//
//===----------------------------------------------------------------------===//
#include "cuda/recurrent/recurrent_cluster.h"

namespace ffrt {

using namespace recurrent;

namespace {

constexpr int kColumns = cuda::kGroup;

/// Null where there is none.
struct Pointers {
  const float *r, *saved, *dy, *dh, *dc, *y, *h0, *c0;
  float *dx, *dh0, *dc0, *dr;

  explicit Pointers(const BackwardOperands &t)
      : r(t.r.as<float>()), saved(t.saved.as<float>()), dy(t.dy.as<float>()),
        dh(t.dh.as<float>()), dc(t.dc.as<float>()), y(t.y.as<float>()),
        h0(t.h0.as<float>()), c0(t.c0.as<float>()), dx(t.dx.as<float>()),
        dh0(t.dh0.as<float>()), dc0(t.dc0.as<float>()), dr(t.dr.as<float>()) {}
};

/// Shared memory: the block's rows of r, the gates of a unit below each other;
/// the gradients of these gates, the samples side by side; and, of this step
/// and of the last one, the sums for the block's states by the block that they
/// come from and the sample.
struct Memory {
  int64_t rows;
  int pitch;
  float *weights, *gates, *sums;
  int64_t size; ///< of the sums of a step, in floats

  FFRT_FUNCTION Memory(const ClusterLayout &g, int gates_of_unit, int samples,
                       float *begin)
      : rows(int64_t(gates_of_unit) * g.own), pitch(pitch_of(g.units)),
        weights(begin), gates(begin + rows * pitch),
        sums(gates + rows * samples),
        size(int64_t(g.blocks) * samples * g.own) {}
  int64_t floats() const { return sums - weights + 2 * size; }
};

template <class Cell, int kSamples>
__device__ void fill(const ClusterLayout &g, const Pointers &p,
                     const Memory &memory, const Place<kSamples> &place) {
  const int64_t first = int64_t(place.rank) * g.own, units = g.units;
  for (int64_t i = threadIdx.x; i < memory.rows * memory.pitch;
       i += blockDim.x) {
    const int64_t row = i / memory.pitch, column = i - row * memory.pitch;
    const int64_t unit = first + row / Cell::kGates, gate = row % Cell::kGates;
    memory.weights[i] = unit < units && column < units
                            ? p.r[(gate * units + unit) * units + column]
                            : 0.0f;
  }
  // Units and samples that there are not.
  for (int64_t i = threadIdx.x; i < memory.rows * kSamples; i += blockDim.x)
    memory.gates[i] = 0.0f;
}

/// What a step reads of a unit and sample.
template <class Cell> struct Inputs {
  float saved[Cell::kSaved] = {}, dy = 0.0f, before = 0.0f;

  /// Of step number `i`; `at` is the state's place in those of a step.
  __device__ void read(const ClusterLayout &g, const Pointers &p, int64_t i,
                       int64_t sample, int64_t unit) {
    const int64_t units = g.units, at = sample * units + unit;
    const auto saved_at = [&](int64_t i) {
      return p.saved + (g.at(i) * g.samples + sample) * Cell::kSaved * units +
             unit;
    };
    read_vectors(saved_at(i), units, saved);
    if (p.dy)
      dy = p.dy[g.at(i) * g.samples * units + at];
    const float *first = Cell::kIsLstm ? p.c0 : p.h0;
    if (i == 0)
      before = first ? first[at] : 0.0f;
    else if (Cell::kIsLstm)
      before = saved_at(i - 1)[(Cell::kSaved - 1) * units];
    else if (p.y)
      before = p.y[g.at(i - 1) * g.samples * units + at];
  }
};

template <class Cell, int kSamples>
__global__ void __launch_bounds__(kMostThreads)
    backward_kernel(ClusterLayout g, Pointers p) {
  constexpr int kGates = Cell::kGates;
  const Place<kSamples> place(g);
  const Memory memory(g, kGates, kSamples, cuda::added_floats());
  fill<Cell>(g, p, memory, place);
  cuda::arrive_at_cluster();
  cuda::wait_for_cluster();

  const int64_t units = g.units, at = place.sample * units + place.unit;
  float dh = 0.0f, dc = 0.0f;
  Inputs<Cell> inputs;
  if (place.exists) {
    if (p.dh)
      dh = p.dh[at];
    if (p.dc)
      dc = p.dc[at];
    inputs.read(g, p, g.steps - 1, place.sample, place.unit);
  }
  // What all blocks have added up for this thread's state.
  const auto add_sums = [&](const float *sums) {
    for (int b = 0; b < g.blocks; ++b)
      dh += sums[(int64_t(b) * kSamples + place.s) * g.own + place.u];
  };
  for (int64_t i = g.steps; i-- > 0;) {
    const float *last = memory.sums + (i + 1) % 2 * memory.size;
    float *next = memory.sums + i % 2 * memory.size;
    if (place.exists) {
      if (i + 1 < g.steps)
        add_sums(last);
      float dx[kGates], dr[kGates];
      Cell::backward(inputs.saved, inputs.dy, inputs.before, dh, dc, dx, dr);
      FFRT_UNROLL
      for (int gate = 0; gate < kGates; ++gate)
        memory.gates[(place.u * kGates + gate) * kSamples + place.s] = dr[gate];
      const int64_t sequence =
          (g.at(i) * g.samples + place.sample) * kGates * units + place.unit;
      if (p.dx)
        write_vectors(dx, units, p.dx + sequence);
      if (p.dr)
        write_vectors(dr, units, p.dr + sequence);
      if (i > 0)
        inputs.read(g, p, i - 1, place.sample, place.unit);
    }
    if (i == 0 && !p.dh0)
      break;
    __syncthreads();
    // Threads of a warp stay together.
    for (int64_t pass = 0; pass * g.own * kColumns < units; ++pass) {
      const int64_t first = (pass * g.own + place.u) * kColumns;
      const bool any = first < units;
      Sums<kColumns, kSamples> sums;
      sums.add(memory.weights + first, memory.pitch, memory.gates,
               any ? memory.rows : 0, place.lane);
      cuda::Group<float> found;
      sums.combine(place.lane, found.at);
      if (any && place.lane % place.kAlike == 0) {
        const int owner = int(first / g.own);
        float *to = cuda::in_block(next, owner) +
                    (int64_t(place.rank) * kSamples + place.s) * g.own + first -
                    int64_t(owner) * g.own;
        *reinterpret_cast<cuda::Group<float> *>(to) = found;
      }
    }
    cuda::arrive_at_cluster();
    cuda::wait_for_cluster();
  }
  if (!place.exists)
    return;
  if (p.dh0) {
    add_sums(memory.sums);
    p.dh0[at] = dh;
  }
  if (p.dc0)
    p.dc0[at] = dc;
}

} // namespace

std::unique_ptr<BackwardLayer> backward_in_clusters(const RecurrentSteps &steps,
                                                    SamplesOfCluster samples) {
  using Layer = Clustered<BackwardLayer, BackwardOperands, Pointers>;
  const ClusterLayout layout(steps);
  return with_equations(steps.cell, samples, [&](auto equations, auto count) {
    using Equations = decltype(equations);
    const Memory memory(layout, Equations::kGates, count, nullptr);
    return std::make_unique<Layer>(layout,
                                   layout.clusters(count, memory.floats()),
                                   backward_kernel<Equations, count>);
  });
}

} // namespace ffrt
