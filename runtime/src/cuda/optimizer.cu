//===- optimizer.cu - parameter updates -----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/optimizer.h"
#include "cuda/sum.h"
#include "cuda/update_queue.h"

#include <cmath>

namespace ffrt {

using cuda::Scalars;

namespace {

//===----------------------------------------------------------------------===//
// Rules of updates (cuda/update_queue.h)
//===----------------------------------------------------------------------===//

/// What most rules need of a step.
struct Rates {
  float rate, decay;
  /// With weight decay.
  __device__ float slope(float gradient, float w) const {
    return gradient + decay * w;
  }
};

template <int Slots> struct Rule {
  static constexpr int kSlots = Slots;
  using Step = Rates;
  __device__ Rates step(const Scalars &now) const {
    return {now.learning_rate, now.weight_decay};
  }
  __device__ static float factor(const float *scale) {
    return scale ? *scale : 1.0f;
  }
};

struct Sgd : Rule<0> {
  bool operator==(const Sgd &) const { return true; }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[1]) const {
    state[0] -= by.rate * by.slope(gradient, state[0]);
  }
};

struct Momentum : Rule<1> {
  float mu;
  bool ahead; ///< by Nesterov
  Momentum(float mu, bool ahead) : mu(mu), ahead(ahead) {}
  Momentum() = default;
  bool operator==(const Momentum &o) const {
    return mu == o.mu && ahead == o.ahead;
  }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[2]) const {
    auto &[w, v] = state;
    const float slope = by.slope(gradient, w), speed = mu * v + slope;
    v = speed;
    w -= by.rate * (ahead ? slope + mu * speed : speed);
  }
};

struct Adagrad : Rule<1> {
  float epsilon;
  explicit Adagrad(float epsilon) : epsilon(epsilon) {}
  Adagrad() = default;
  bool operator==(const Adagrad &o) const { return epsilon == o.epsilon; }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[2]) const {
    auto &[w, s] = state;
    const float slope = by.slope(gradient, w);
    s += slope * slope;
    w -= by.rate * slope / (sqrtf(s) + epsilon);
  }
};

template <bool Moves> struct Rmsprop : Rule<Moves ? 2 : 1> {
  float keep, epsilon, mu;
  Rmsprop(float keep, float epsilon, float mu)
      : keep(keep), epsilon(epsilon), mu(mu) {}
  Rmsprop() = default;
  bool operator==(const Rmsprop &o) const {
    return keep == o.keep && epsilon == o.epsilon && mu == o.mu;
  }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[Moves ? 3 : 2]) const {
    float &w = state[0], &s = state[1];
    const float slope = by.slope(gradient, w);
    s = keep * s + (1.0f - keep) * slope * slope;
    float direction = slope / (sqrtf(s) + epsilon);
    if constexpr (Moves)
      direction = state[2] = mu * state[2] + direction;
    w -= by.rate * direction;
  }
};

/// The direction of an element; changes its moments.
struct Moments {
  float beta1, beta2, epsilon;
  double log1, log2; ///< of the betas

  Moments() = default;
  explicit Moments(const MomentNumbers &numbers)
      : beta1(float(numbers.beta1)), beta2(float(numbers.beta2)),
        epsilon(float(numbers.epsilon)), log1(std::log(numbers.beta1)),
        log2(std::log(numbers.beta2)) {}
  bool operator==(const Moments &o) const {
    return log1 == o.log1 && log2 == o.log2 && epsilon == o.epsilon;
  }

  struct Step : Rates {
    float first, second; ///< 1 / (1 - beta^t)
  };
  __device__ Step step(const Scalars &now) const {
    const double t = double(now.step + 1);
    return {{now.learning_rate, now.weight_decay},
            float(-1 / expm1(log1 * t)),
            float(-1 / expm1(log2 * t))};
  }
  __device__ float operator()(const Step &by, float slope, float &m,
                              float &v) const {
    m = beta1 * m + (1.0f - beta1) * slope;
    v = beta2 * v + (1.0f - beta2) * slope * slope;
    return by.first * m / (sqrtf(by.second * v) + epsilon);
  }
};

/// `Apart`: weight decay is no part of the gradient.
template <bool Apart> struct Adam : Rule<2> {
  Moments moments;
  Adam() = default;
  explicit Adam(const MomentNumbers &numbers) : moments(numbers) {}
  bool operator==(const Adam &o) const { return moments == o.moments; }

  using Step = Moments::Step;
  __device__ Step step(const Scalars &now) const { return moments.step(now); }
  __device__ void operator()(const Step &by, float gradient,
                             float (&state)[3]) const {
    auto &[w, m, v] = state;
    if (Apart)
      w -= by.rate * (moments(by, gradient, m, v) + by.decay * w);
    else
      w -= by.rate * moments(by, by.slope(gradient, w), m, v);
  }
};

/// The second half of LAMB: the gradient is the direction, which the ratio of
/// the norms is a factor of.
struct Lamb : Rule<0> {
  bool operator==(const Lamb &) const { return true; }
  __device__ static float factor(const float *norms) {
    return norms[0] > 0.0f && norms[1] > 0.0f ? sqrtf(norms[0] / norms[1])
                                              : 1.0f;
  }
  __device__ void operator()(const Rates &by, float direction,
                             float (&state)[1]) const {
    state[0] -= by.rate * direction;
  }
};

/// Operands w, g, scale and slots.
template <class R> void update(const R &rule, const Context &cx, Tensors in) {
  const auto data = [&](int i) { return in.begin()[i].as<float>(); };
  cuda::Update<R::kSlots> parameter(data(0), data(1), data(2),
                                    in.begin()[0].elements());
  for (int s = 0; s < R::kSlots; ++s)
    parameter.state[1 + s] = data(3 + s);
  cuda::update(rule, cuda::device().scalars(cx), parameter);
}

} // namespace

void SgdUpdate::operator()(Tensors in, Tensors) {
  if (in.size() == 3)
    update(Sgd(), cx, in);
  else
    update(Momentum(momentum, nesterov), cx, in);
}

void AdamUpdate::operator()(Tensors in, Tensors) {
  update(Adam<false>(numbers), cx, in);
}

void AdamwUpdate::operator()(Tensors in, Tensors) {
  update(Adam<true>(numbers), cx, in);
}

void AdagradUpdate::operator()(Tensors in, Tensors) {
  update(Adagrad(epsilon), cx, in);
}

void RmspropUpdate::operator()(Tensors in, Tensors) {
  if (in.size() == 4)
    update(Rmsprop<false>(alpha, epsilon, momentum), cx, in);
  else
    update(Rmsprop<true>(alpha, epsilon, momentum), cx, in);
}

void LambUpdate::operator()(Tensors in, Tensors) { update(Lamb(), cx, in); }

//===----------------------------------------------------------------------===//
// The first half of LAMB
//===----------------------------------------------------------------------===//

namespace {

struct Direction {
  Moments moments;
  const Scalars *now;
  const float *w, *g, *scale;
  float *m, *v, *r;
  int64_t n;
};

/// partial[block] and partial[gridDim.x + block]: a block's parts of the sums
/// of the squares of w and r.
__global__ void lamb_direction_kernel(Direction of, double *partial) {
  __shared__ Moments::Step step;
  if (threadIdx.x == 0)
    step = of.moments.step(*of.now);
  __syncthreads();
  const float factor = of.scale ? *of.scale : 1.0f;
  double of_w = 0, of_r = 0;
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < of.n;
       i += stride) {
    const float w = of.w[i],
                r = of.moments(step, factor * of.g[i], of.m[i], of.v[i]) +
                    step.decay * w;
    of.r[i] = r;
    of_w += double(w) * double(w);
    of_r += double(r) * double(r);
  }
  of_w = cuda::reduce_block(of_w, 0.0, cuda::Sum());
  of_r = cuda::reduce_block(of_r, 0.0, cuda::Sum());
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = of_w;
    partial[gridDim.x + blockIdx.x] = of_r;
  }
}

} // namespace

void LambDirection::operator()(Tensors in, Tensors out) {
  const auto data = [&](int i) { return in.begin()[i].as<float>(); };
  const Direction of{Moments(numbers),
                     cuda::device().scalars(cx),
                     data(0),
                     data(1),
                     data(2),
                     data(3),
                     data(4),
                     out.begin()[2].as<float>(),
                     in.begin()[0].elements()};
  const unsigned blocks = cuda::blocks_for(of.n);
  double *sums = cuda::device().scratch<double>();
  cuda::launch(blocks, cuda::kThreads, lamb_direction_kernel, of, sums);
  cuda::sum_up(sums, int(blocks), 2, out.begin()[3].as<float>());
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

namespace {

/// Sums of squares of arrays that follow each other.
struct SquareTable {
  struct Array {
    const float *x;
    float *sum;
    int64_t n;
    bool grouped;
  };
  static constexpr int kMost =
      int((cuda::kParameterBytes - 64) / (sizeof(Array) + 4));

  cuda::Chunks<kMost> chunks;
  Array of[kMost];
};

/// partial[chunk] = its sum.
__global__ void square_chunks_kernel(const __grid_constant__ SquareTable table,
                                     double *partial) {
  for (int chunk = int(blockIdx.x); chunk < table.chunks.total();
       chunk += int(gridDim.x)) {
    const int which = table.chunks.array_of(chunk);
    const SquareTable::Array &array = table.of[which];
    double sum = 0;
    table.chunks.for_spans(
        chunk, which, array.n, array.grouped, [&](const cuda::Span &span) {
          const cuda::Group<float> x = cuda::read(array.x, span);
          FFRT_UNROLL
          for (int i = 0; i < cuda::kGroup; ++i)
            sum += double(x[i]) * double(x[i]);
        });
    sum = cuda::reduce_block(sum, 0.0, cuda::Sum());
    if (threadIdx.x == 0)
      partial[chunk] = sum;
  }
}

/// A block for every array.
__global__ void add_chunks_kernel(const __grid_constant__ SquareTable table,
                                  const double *partial) {
  const int which = int(blockIdx.x);
  double sum = 0;
  for (int chunk = table.chunks.begin(which) + int(threadIdx.x);
       chunk < table.chunks.end(which); chunk += int(blockDim.x))
    sum += partial[chunk];
  sum = cuda::reduce_block(sum, 0.0, cuda::Sum());
  if (threadIdx.x == 0)
    *table.of[which].sum = float(sum);
}

class SquareQueue final : public cuda::Deferred {
public:
  void add(const float *x, int64_t n, float *sum) {
    const cuda::Footprint::Task task{{{x, n}}, {{sum, 1}}};
    // Partial sums of all are in scratch memory at once.
    const int64_t own = table.chunks.chunks_of(n),
                  chunks = table.chunks.total() + own;
    cuda::device().reserve(std::size_t(own) * sizeof(double));
    if (!cuda::device().has_deferred(*this) || table.chunks.full() ||
        chunks > int64_t(cuda::Device::kLeastScratch / sizeof(double)) ||
        !footprint.allows(task))
      cuda::device().defer(*this);
    table.of[table.chunks.arrays()] = {x, sum, n, cuda::begins_group(x)};
    table.chunks.add(n);
    footprint.add(task);
  }

  void start() override {
    const int chunks = table.chunks.total(), arrays = table.chunks.arrays();
    double *partial = cuda::device().scratch<double>();
    cuda::launch(cuda::blocks_for(chunks, 1), cuda::kThreads,
                 square_chunks_kernel, table, partial);
    cuda::launch(arrays, cuda::kThreads, add_chunks_kernel, table, partial);
    table.chunks.clear();
    footprint.clear();
  }

private:
  static_assert(sizeof(SquareTable) + sizeof(double *) <=
                cuda::kParameterBytes);
  SquareTable table;
  cuda::Footprint footprint;
};

} // namespace

void SquareSum::operator()(Tensors in, Tensors out) {
  static SquareQueue queue;
  queue.add(in.begin()->as<float>(), in.begin()->elements(),
            out.begin()->as<float>());
}

namespace {

/// Sums that are clipped by, as many as a launch takes.
struct Sums {
  static constexpr int kMost = cuda::kThreads;
  const float *at[kMost];
  int count = 0;
};

/// scale = what was added up before, in `so_far`, and these, one for each
/// thread.
__global__ void clip_scale_kernel(const __grid_constant__ Sums sums,
                                  double *so_far, bool first, double max_norm,
                                  float *scale) {
  const int i = int(threadIdx.x);
  double sum = i < sums.count ? double(*sums.at[i]) : 0.0;
  sum = cuda::reduce_block(sum, 0.0, cuda::Sum());
  if (i == 0) {
    sum += first ? 0.0 : *so_far;
    *so_far = sum;
    *scale = float(fmin(1.0, max_norm / (sqrt(sum) + 1e-6)));
  }
}

} // namespace

void ClipScale::operator()(Tensors in, Tensors out) {
  double *so_far = cuda::device().scratch<double>();
  for (std::size_t next = 0; next == 0 || next < in.size();) {
    Sums sums;
    const bool first = next == 0;
    for (; next < in.size() && sums.count < Sums::kMost; ++next)
      sums.at[sums.count++] = in.begin()[next].as<float>();
    cuda::launch(1, cuda::kThreads, clip_scale_kernel, sums, so_far, first,
                 max_norm, out.begin()->as<float>());
    if (in.size() == 0)
      break;
  }
}

} // namespace ffrt
