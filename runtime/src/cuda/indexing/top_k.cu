//===- top_k.cu - largest elements along one dimension --------------------===//
//
// Few of them are found one after the other, by the threads of a block. Where
// many are asked for, every element counts those that come before it.
//
//===----------------------------------------------------------------------===//
#include "ffrt/top_k.h"

#include "common/copy/move.h"
#include "common/indexing/top_k.h"
#include "common/kernels/lines.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

struct TopK::Plan {};

namespace {

/// So many are found one after the other.
constexpr int64_t kFew = 64;

struct Operands {
  Lines from, to;
  const float *x;
  float *y;       ///< or null
  int64_t *index; ///< or null
  bool largest;

  __device__ float value(int64_t line, int64_t i) const {
    return x[from.start(line) + i * from.stride];
  }
  /// Element i of a line is the one at `place` of the result.
  __device__ void put(int64_t line, int64_t place, int64_t i) const {
    const int64_t at = to.start(line) + place * to.stride;
    if (y)
      y[at] = value(line, i);
    if (index)
      index[at] = i;
  }
};

/// An element of a line; there is none without a number.
struct Element {
  float value;
  int64_t number;
};

/// Of two elements the one that comes first.
struct Earlier {
  bool largest;
  __device__ Element operator()(Element a, Element b) const {
    if (a.number < 0 || b.number < 0)
      return a.number < 0 ? b : a;
    return comes_before(a.value, a.number, b.value, b.number, largest) ? a : b;
  }
};

/// The first of those of all threads of a block, which all get.
__device__ Element first_of_block(Element mine, Earlier earlier) {
  __shared__ float values[32];
  __shared__ int64_t numbers[32];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32,
            count = int(blockDim.x) / 32;
  for (int mask = 16; mask > 0; mask /= 2)
    mine = earlier(mine, {__shfl_xor_sync(~0u, mine.value, mask),
                          __shfl_xor_sync(~0u, mine.number, mask)});
  // The last use may still be under way.
  __syncthreads();
  if (lane == 0) {
    values[warp] = mine.value;
    numbers[warp] = mine.number;
  }
  __syncthreads();
  mine = {values[0], numbers[0]};
  for (int w = 1; w < count; ++w)
    mine = earlier(mine, {values[w], numbers[w]});
  return mine;
}

__global__ void top_few_kernel(Operands t) {
  const Earlier earlier{t.largest};
  for (int64_t line = blockIdx.x; line < t.from.count; line += gridDim.x) {
    Element last{0, -1};
    for (int64_t place = 0; place < t.to.extent; ++place) {
      Element first{0, -1};
      for (int64_t i = threadIdx.x; i < t.from.extent; i += blockDim.x) {
        const Element here{t.value(line, i), i};
        if (last.number < 0 ||
            comes_before(last.value, last.number, here.value, i, t.largest))
          first = earlier(first, here);
      }
      last = first_of_block(first, earlier);
      if (threadIdx.x == 0)
        t.put(line, place, last.number);
    }
  }
}

void top_many(const Operands &t) {
  cuda::for_elements(
      t.from.count * t.from.extent, FFRT_LAMBDA(int64_t e) {
        const int64_t line = e / t.from.extent, i = e % t.from.extent;
        const float here = t.value(line, i);
        int64_t place = 0;
        for (int64_t j = 0; j < t.from.extent; ++j)
          place += comes_before(t.value(line, j), j, here, i, t.largest);
        if (place < t.to.extent)
          t.put(line, place, i);
      });
}

/// Indices may name one element twice: a thread adds up a line.
void spread(const Lines &from, const Lines &to, const float *dy,
            const int64_t *index, float *dx) {
  cuda::for_elements(
      to.count, FFRT_LAMBDA(int64_t line) {
        float *row = dx + to.start(line);
        for (int64_t i = 0; i < from.extent; ++i) {
          const int64_t at = from.start(line) + i * from.stride,
                        place = index[at];
          if (place >= 0 && place < to.extent)
            row[place * to.stride] += dy[at];
        }
      });
}

} // namespace

TopK::TopK(Context &, Tensors in, Tensors out, int64_t axis, int64_t largest)
    : axis(int(axis)), largest(largest != 0) {
  check_top_k(in, out, axis);
}

void TopK::operator()(Tensors in, Tensors out) {
  const Tensor &x = *in.begin(), &y = out.begin()[0], &index = out.begin()[1];
  const Operands t{Lines(x, axis),      Lines(y.data ? y : index, axis),
                   x.as<float>(),       y.as<float>(),
                   index.as<int64_t>(), largest};
  if (t.to.extent > kFew)
    return top_many(t);
  cuda::launch(cuda::blocks_for(t.from.count, 1),
               t.from.extent <= 64 ? 32 : cuda::kThreads, top_few_kernel, t);
}

void TopKBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &index = in.begin()[1], &dx = *out.begin();
  fill_elements(DType::f32, dx.data, dx.elements(), 0);
  spread(Lines(dy, axis), Lines(dx, axis), dy.as<float>(), index.as<int64_t>(),
         dx.as<float>());
}

} // namespace ffrt
