//===- norms.cu - sums of squares of parameters and gradients -------------===//
//
// Of many arrays at once: every chunk has a sum, then a block adds up those of
// an array, in an order that depends on its size alone.
//
//===----------------------------------------------------------------------===//
#include "common/optimizer/update_rules.h"
#include "cuda/kernels/reduce_block.h"
#include "cuda/optimizer/step_numbers.h"
#include "ffrt/bfloat16.h"
#include "ffrt/cuda/chunks.h"
#include "ffrt/cuda/footprint.h"
#include "ffrt/optimizer.h"

#include <cmath>

namespace ffrt {

using cuda::Chunks;
using cuda::Footprint;
using cuda::Group;
using cuda::Scalars;
using cuda::Span;
using rules::Scale;

namespace {

/// What is done to the elements of arrays, and squares of which are added up.
/// Task has the arrays' data with n, grouped and the results `sums`; its
/// operator() takes the numbers of the step and a span, and adds to one double
/// for every result.
template <class Task> struct Tasks {
  static constexpr int kMost =
      int((cuda::kParameterBytes - 128) / (sizeof(Task) + sizeof(int)));

  typename Task::Numbers numbers;
  Chunks<kMost> chunks;
  Task of[kMost];
};

/// partial[result][chunk] = its sum.
template <class Task>
__global__ void chunks_kernel(const __grid_constant__ Tasks<Task> tasks,
                              double *partial) {
  __shared__ typename Task::Step step;
  if (threadIdx.x == 0)
    step = tasks.numbers.step();
  __syncthreads();
  const int total = tasks.chunks.total();
  for (int chunk = int(blockIdx.x); chunk < total; chunk += int(gridDim.x)) {
    const int which = tasks.chunks.array_of(chunk);
    const Task &task = tasks.of[which];
    double sums[Task::kSums] = {};
    tasks.chunks.for_spans(
        chunk, which, task.n, task.grouped,
        [&](const Span &span) { task(tasks.numbers, step, span, sums); });
    FFRT_UNROLL
    for (int k = 0; k < Task::kSums; ++k) {
      const double sum = cuda::reduce_block(sums[k], 0.0, cuda::Sum());
      if (threadIdx.x == 0)
        partial[k * total + chunk] = sum;
    }
  }
}

/// A block for every array.
template <class Task>
__global__ void add_chunks_kernel(const __grid_constant__ Tasks<Task> tasks,
                                  const double *partial) {
  const int which = int(blockIdx.x);
  for (int k = 0; k < Task::kSums; ++k) {
    double sum = 0;
    for (int chunk = tasks.chunks.begin(which) + int(threadIdx.x);
         chunk < tasks.chunks.end(which); chunk += int(blockDim.x))
      sum += partial[k * tasks.chunks.total() + chunk];
    sum = cuda::reduce_block(sum, 0.0, cuda::Sum());
    if (threadIdx.x == 0)
      tasks.of[which].sums[k] = float(sum);
  }
}

template <class Task> class NormQueue final : public cuda::Deferred {
public:
  void add(const typename Task::Numbers &numbers, const Task &task) {
    const Footprint::Task memory = task.memory();
    // Partial sums of all are in scratch memory at once.
    const int64_t own = tasks.chunks.chunks_of(task.n);
    cuda::device().reserve(bytes(own));
    if (!cuda::device().has_deferred(*this) || !(tasks.numbers == numbers) ||
        tasks.chunks.full() ||
        bytes(tasks.chunks.total() + own) > cuda::Device::kLeastScratch ||
        !footprint.allows(memory)) {
      cuda::device().defer(*this);
      tasks.numbers = numbers;
    }
    tasks.of[tasks.chunks.arrays()] = task;
    tasks.chunks.add(task.n);
    footprint.add(memory);
  }

  void start() override {
    double *partial = cuda::device().scratch<double>();
    cuda::launch(cuda::blocks_for(tasks.chunks.total(), 1), cuda::kThreads,
                 chunks_kernel<Task>, tasks, partial);
    cuda::launch(tasks.chunks.arrays(), cuda::kThreads, add_chunks_kernel<Task>,
                 tasks, partial);
    tasks.chunks.clear();
    footprint.clear();
  }

private:
  static std::size_t bytes(int64_t chunks) {
    return std::size_t(chunks) * Task::kSums * sizeof(double);
  }
  static_assert(sizeof(Tasks<Task>) + sizeof(double *) <=
                cuda::kParameterBytes);
  Tasks<Task> tasks;
  Footprint footprint;
};

template <class Task>
void add_norms(const typename Task::Numbers &numbers, const Task &task) {
  static NormQueue<Task> queue;
  queue.add(numbers, task);
}

//===----------------------------------------------------------------------===//
// The first half of LAMB
//===----------------------------------------------------------------------===//

/// With moments of type T.
template <class T> struct Direction {
  static constexpr int kSums = 2;
  using Rule = rules::LambDirection;
  using Step = Rule::Step;
  struct Numbers {
    Rule rule;
    const Scalars *now;
    const float *skipped; ///< steps; null: none
    bool operator==(const Numbers &o) const {
      return rule == o.rule && skipped == o.skipped;
    }
    __device__ Step step() const {
      return rule.step(cuda::numbers_of(*now, skipped));
    }
  };

  const float *w, *g, *scale;
  T *m, *v;
  float *r, *sums;
  rules::OwnRates rates;
  int64_t n;
  bool grouped;

  Footprint::Task memory() const {
    return {{{w, n}, {g, n}, {scale, 1}},
            {{m, n}, {v, n}, {r, n}, {sums, kSums}}};
  }
  __device__ void operator()(const Numbers &numbers, const Step &step,
                             const Span &span, double (&of)[kSums]) const {
    const float factor = Rule::scale(scale);
    const bool skips = Rule::skips(factor);
    Step own = step;
    own.of(rates);
    const Group<float> ws = cuda::read(w, span), gs = cuda::read(g, span);
    Group<T> ms = cuda::read(m, span), vs = cuda::read(v, span);
    Group<float> rs;
    FFRT_UNROLL
    for (int i = 0; i < cuda::kGroup; ++i) {
      float first(ms[i]), second(vs[i]);
      rs[i] =
          skips ? 0.0f : numbers.rule(own, factor, gs[i], ws[i], first, second);
      ms[i] = T(first);
      vs[i] = T(second);
      if (i < span.count) {
        of[0] += double(ws[i]) * double(ws[i]);
        of[1] += double(rs[i]) * double(rs[i]);
      }
    }
    cuda::write(m, span, ms);
    cuda::write(v, span, vs);
    cuda::write(r, span, rs);
  }
};

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

struct Square {
  static constexpr int kSums = 1;
  struct Step {};
  struct Numbers {
    bool operator==(const Numbers &) const { return true; }
    __device__ Step step() const { return {}; }
  };

  const float *x;
  float *sums;
  int64_t n;
  bool grouped;

  Footprint::Task memory() const { return {{{x, n}}, {{sums, kSums}}}; }
  __device__ void operator()(const Numbers &, const Step &, const Span &span,
                             double (&of)[kSums]) const {
    const Group<float> xs = cuda::read(x, span);
    FFRT_UNROLL
    for (int i = 0; i < cuda::kGroup; ++i)
      of[0] += double(xs[i]) * double(xs[i]);
  }
};

} // namespace

namespace {

template <class T>
void direct(const rules::LambDirection &rule, const Context &cx, Tensors in,
            Tensors out) {
  const auto data = [&](int i) { return in.begin()[i].as<float>(); };
  Direction<T> of{data(0),
                  data(1),
                  data(2),
                  in.begin()[3].as<T>(),
                  in.begin()[4].as<T>(),
                  out.begin()[2].as<float>(),
                  out.begin()[3].as<float>(),
                  rules::OwnRates(cx.rates_of(data(0))),
                  in.begin()[0].elements(),
                  true};
  for (const float *each :
       std::initializer_list<const float *>{of.w, of.g, of.r})
    of.grouped &= cuda::begins_group(each);
  of.grouped &= cuda::begins_group(of.m) && cuda::begins_group(of.v);
  add_norms<Direction<T>>(
      {rule, cuda::device().scalars(cx), Scale(in.begin()[2]).skipped}, of);
}

} // namespace

void LambDirection::operator()(Tensors in, Tensors out) {
  const rules::LambDirection rule(numbers);
  if (in.begin()[3].type == DType::bf16)
    direct<BFloat16>(rule, cx, in, out);
  else
    direct<float>(rule, cx, in, out);
}

void SquareSum::operator()(Tensors in, Tensors out) {
  const float *x = in.begin()->as<float>();
  add_norms<Square>({}, {x, out.begin()->as<float>(), in.begin()->elements(),
                         cuda::begins_group(x)});
}

namespace {

/// Sums of squares of gradients, as many as a launch takes.
struct Sums {
  static constexpr int kMost = cuda::kThreads;
  const float *at[kMost];
  int count = 0;
};

/// so_far = what was added up before, there, and these, one for each thread;
/// then decide(all) with the last of them.
template <class Decide>
__global__ void sums_kernel(const __grid_constant__ Sums sums, double *so_far,
                            bool first, bool last, Decide decide) {
  const int i = int(threadIdx.x);
  double sum = i < sums.count ? double(*sums.at[i]) : 0.0;
  sum = cuda::reduce_block(sum, 0.0, cuda::Sum());
  if (i > 0)
    return;
  sum += first ? 0.0 : *so_far;
  *so_far = sum;
  if (last)
    decide(sum);
}

/// decide(the sum of the sums), on the device.
template <class Decide>
void with_total(const Tensor *next, const Tensor *end, Decide decide) {
  double *so_far = cuda::device().scratch<double>();
  bool first = true;
  do {
    Sums sums;
    for (; next != end && sums.count < Sums::kMost; ++next)
      sums.at[sums.count++] = next->as<float>();
    cuda::launch(1, cuda::kThreads, sums_kernel<Decide>, sums, so_far, first,
                 next == end, decide);
    first = false;
  } while (next != end);
}

} // namespace

void ClipScale::operator()(Tensors in, Tensors out) {
  float *scale = out.begin()->as<float>();
  const double most = max_norm;
  with_total(
      in.begin(), in.end(),
      FFRT_LAMBDA(double sum) { *scale = float(clip_by(sqrt(sum), most)); });
}

void LossScale::operator()(Tensors in, Tensors out) {
  const ScaleOfLoss state(in, out, interval, least, max_norm, most);
  with_total(
      in.begin() + 3, in.end(), FFRT_LAMBDA(double sum) { state.decide(sum); });
}

} // namespace ffrt
