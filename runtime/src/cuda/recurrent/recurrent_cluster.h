//===- recurrent_cluster.h - weights that stay in clusters ------*- C++ -*-===//
//
// One kernel does all steps of some samples. The blocks of a cluster have the
// recurrent weights in shared memory, each those of its own units, from the
// first step to the last; after a step every block gives the others what they
// need of it. A step then takes a microsecond or two, less than starting the
// two kernels that it would otherwise be (Diamos et al., Persistent RNNs, ICML
// 2016, with weights in registers and the whole GPU in place of a cluster).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_RECURRENT_CLUSTER_H
#define FFRT_CUDA_RECURRENT_CLUSTER_H

#include "common/recurrent/recurrent.h"
#include "common/recurrent/recurrent_cells.h"
#include "cuda/kernels/cluster.h"
#include "cuda/recurrent/recurrent_layer.h"
#include "ffrt/cuda/group.h"

#include <type_traits>

namespace ffrt::recurrent {

/// Threads, neighbours in a warp, that share the sums of a unit. Each adds up
/// every kLanes-th summand; then each has the sums of one sample, or of two
/// threads both have them.
constexpr int kLanes = 8;

/// Of a block, so that each has the registers that it wants.
constexpr int kMostThreads = 512;

/// Where the steps of a layer are done. Block b of a cluster has the units from
/// b * own on, thread kLanes * u + l the part l of its unit u.
struct ClusterLayout {
  int64_t steps, samples, units;
  bool reverse;
  int blocks; ///< of a cluster
  int own;    ///< units of a block; a multiple of cuda::kGroup

  explicit ClusterLayout(const RecurrentSteps &s);

  int threads() const { return own * kLanes; }
  /// With so many samples each. Throws Error where a block does not hold
  /// `floats`.
  cuda::Clusters clusters(int of_cluster, int64_t floats) const;

  FFRT_FUNCTION int64_t at(int64_t i) const {
    return reverse ? steps - 1 - i : i;
  }
};

/// Floats from row to row of a matrix in shared memory: the rows of kLanes
/// neighbours do not meet in a bank.
FFRT_FUNCTION inline int pitch_of(int64_t columns) {
  constexpr int kBanks = 32, kApart = kBanks / kLanes;
  return int((columns - kApart + kBanks - 1) / kBanks) * kBanks + kApart;
}

//===----------------------------------------------------------------------===//
// Who does what
//===----------------------------------------------------------------------===//

/// The unit and the sample of a thread.
template <int kSamples> struct Place {
  static constexpr int kAlike = kLanes / kSamples; ///< threads with one sample
  int rank, lane;
  int u;        ///< its unit in the block
  int s;        ///< its sample in the cluster
  int64_t unit; ///< in the layer
  int64_t first_sample, sample;
  bool exists; ///< there is this unit and sample, and it is this thread's

  __device__ explicit Place(const ClusterLayout &g)
      : rank(cuda::rank_in_cluster()), lane(int(threadIdx.x) % kLanes),
        u(int(threadIdx.x) / kLanes), s(lane / kAlike),
        unit(int64_t(rank) * g.own + u),
        first_sample(int64_t(blockIdx.x) / g.blocks * kSamples),
        sample(first_sample + s),
        exists(lane % kAlike == 0 && unit < g.units && sample < g.samples) {}
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Of a thread: sums of some columns for all samples.
template <int kColumns, int kSamples> struct Sums {
  float at[kColumns][kSamples] = {};

  /// Adds, of `count` rows of a matrix, every kLanes-th from number `lane` on,
  /// times the row's number of every sample.
  __device__ void add(const float *matrix, int pitch, const float *vectors,
                      int64_t count, int lane) {
    FFRT_UNROLL_BY(4)
    for (int64_t k = lane; k < count; k += kLanes) {
      float m[kColumns];
      read(matrix + k * pitch, m);
      float v[kSamples];
      read(vectors + k * kSamples, v);
      FFRT_UNROLL
      for (int c = 0; c < kColumns; ++c)
        FFRT_UNROLL
      for (int s = 0; s < kSamples; ++s)
        at[c][s] += m[c] * v[s];
    }
  }

  /// Adds up over lanes; `result` has the columns of the lane's sample.
  __device__ void combine(int lane, float (&result)[kColumns]) {
    constexpr int kHalf = kLanes / 2;
    int left = kSamples;
    FFRT_UNROLL
    for (int bit = kHalf; bit > 0; bit /= 2) {
      const bool upper = lane & bit;
      const bool halves = left > 1;
      left = halves ? left / 2 : left;
      FFRT_UNROLL
      for (int c = 0; c < kColumns; ++c)
        FFRT_UNROLL
      for (int s = 0; s < kHalf; ++s)
        if (s < left) {
          const float low = at[c][s], high = at[c][halves ? s + left : s];
          at[c][s] = (upper ? high : low) +
                     __shfl_xor_sync(~0u, upper ? low : high, bit);
        }
    }
    FFRT_UNROLL
    for (int c = 0; c < kColumns; ++c)
      result[c] = at[c][0];
  }

private:
  template <int n>
  static __device__ void read(const float *from, float (&to)[n]) {
    constexpr int kGroup = cuda::kGroup;
    FFRT_UNROLL
    for (int i = 0; i + kGroup <= n; i += kGroup) {
      const auto group =
          *reinterpret_cast<const cuda::Group<float> *>(from + i);
      FFRT_UNROLL
      for (int j = 0; j < kGroup; ++j)
        to[i + j] = group[j];
    }
    FFRT_UNROLL
    for (int i = n / kGroup * kGroup; i < n; ++i)
      to[i] = from[i];
  }
};

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// The equations of a cell for one unit and sample. `before` is the cell of an
/// LSTM, or the state, before the step. Going backward, `dh` becomes what goes
/// around the gates, and `dr` is what the states add to the gates.
template <Cell kCell> struct Equations;

template <> struct Equations<Cell::lstm> {
  static constexpr int kGates = 4, kSaved = 5;
  static constexpr bool kIsLstm = true, kHasBias = false;
  static __device__ void forward(const float *x, const float *g, const float *,
                                 float, float *saved, float &cell, float &h) {
    lstm_forward(x, g, saved, &cell, &h, 1, 0);
  }
  static __device__ void backward(const float *saved, float dy, float before,
                                  float &dh, float &dc, float *dx, float *dr) {
    lstm_backward(saved, &dy, &before, &dh, &dc, dx, 1, 0);
    FFRT_UNROLL
    for (int i = 0; i < kGates; ++i)
      dr[i] = dx[i];
    dh = 0.0f;
  }
};

template <> struct Equations<Cell::gru_reset_after> {
  static constexpr int kGates = 3, kSaved = 4;
  static constexpr bool kIsLstm = false, kHasBias = true;
  static __device__ void forward(const float *x, const float *g,
                                 const float *bias, float before, float *saved,
                                 float &, float &h) {
    gru_reset_after_forward(x, g, bias, &before, saved, &h, 1, 0);
  }
  static __device__ void backward(const float *saved, float dy, float before,
                                  float &dh, float &, float *dx, float *dr) {
    gru_reset_after_backward(saved, &dy, &before, &dh, dx, dr, 1, 0);
  }
};

template <class F> struct SimpleEquations {
  static constexpr int kGates = 1, kSaved = 1;
  static constexpr bool kIsLstm = false, kHasBias = false;
  static __device__ void forward(const float *x, const float *g, const float *,
                                 float, float *saved, float &, float &h) {
    saved[0] = h = F::squash(x[0] + g[0]);
  }
  static __device__ void backward(const float *saved, float dy, float,
                                  float &dh, float &, float *dx, float *dr) {
    dx[0] = dr[0] = (dh + dy) * F::slope(saved[0]);
    dh = 0.0f;
  }
};
template <> struct Equations<Cell::rnn_tanh> : SimpleEquations<TanhCell> {};
template <> struct Equations<Cell::rnn_relu> : SimpleEquations<ReluCell> {};

/// Calls f with Equations, and the samples of a cluster as a constant. The last
/// gate of a GRU that resets states first needs those of all units within a
/// step: its steps stay apart, an Error.
template <class F>
auto with_equations(Cell cell, SamplesOfCluster samples, F f) {
  const auto with = [&](auto equations) {
    if (samples == SamplesOfCluster::few)
      return f(equations, std::integral_constant<int, 4>());
    return f(equations, std::integral_constant<int, kLanes>());
  };
  switch (cell) {
  case Cell::lstm:
    return with(Equations<Cell::lstm>());
  case Cell::gru_reset_after:
    return with(Equations<Cell::gru_reset_after>());
  case Cell::rnn_tanh:
    return with(Equations<Cell::rnn_tanh>());
  case Cell::rnn_relu:
    return with(Equations<Cell::rnn_relu>());
  case Cell::gru:
    break;
  }
  throw Error("clusters have no gru");
}

/// `kVectors` numbers of a unit, `units` apart.
template <int kVectors>
__device__ void read_vectors(const float *from, int64_t units,
                             float (&to)[kVectors]) {
  FFRT_UNROLL
  for (int i = 0; i < kVectors; ++i)
    to[i] = from[i * units];
}
template <int kVectors>
__device__ void write_vectors(const float (&from)[kVectors], int64_t units,
                              float *to) {
  FFRT_UNROLL
  for (int i = 0; i < kVectors; ++i)
    to[i * units] = from[i];
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// All steps of a layer by one kernel, which gets the Pointers that operands
/// and results have.
template <class Layer, class Operands, class Pointers>
class Clustered : public Layer {
public:
  using Kernel = void (*)(ClusterLayout, Pointers);

  /// Throws Error where the GPU does not run it.
  Clustered(const ClusterLayout &layout, const cuda::Clusters &clusters,
            Kernel kernel)
      : layout(layout), clusters(clusters), kernel(kernel) {
    cuda::expect_clusters(clusters, kernel);
  }
  void operator()(const Operands &t) override {
    cuda::launch_clusters(clusters, kernel, layout, Pointers(t));
  }

private:
  const ClusterLayout layout;
  const cuda::Clusters clusters;
  const Kernel kernel;
};

} // namespace ffrt::recurrent

#endif // FFRT_CUDA_RECURRENT_CLUSTER_H
