//===- gather.cu - indexing along one dimension ---------------------------===//
#include "ffrt/gather.h"

#include "common/gather.h"
#include "common/move.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

namespace {

/// Where element i of runs lies.
struct Place {
  int64_t block, position, at;
  __device__ Place(const Runs &runs, int64_t i) {
    const int64_t run = i / runs.length;
    at = i - run * runs.length;
    block = run / runs.positions;
    position = run - block * runs.positions;
  }
};

int64_t elements(const Runs &runs) {
  return runs.blocks * runs.positions * runs.length;
}

template <class T>
void gather(const T *x, const Runs &from, T *y, const Runs &to,
            const int64_t *sources) {
  cuda::for_elements(
      elements(to), FFRT_LAMBDA(int64_t i) {
        const Place p(to, i);
        y[i] = x[(p.block * from.positions + sources[p.position]) * to.length +
                 p.at];
      });
}

void add_up(const float *x, const Runs &from, float *y, const Runs &to,
            const int64_t *starts, const int64_t *sources) {
  cuda::for_elements(
      elements(to), FFRT_LAMBDA(int64_t i) {
        const Place p(to, i);
        float sum = 0;
        for (int64_t s = starts[p.position]; s < starts[p.position + 1]; ++s)
          sum += x[(p.block * from.positions + sources[s]) * to.length + p.at];
        y[i] = sum;
      });
}

} // namespace

void Gather::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_word(y.type, [&](auto word) {
    using T = decltype(word);
    gather(x.as<T>(), Runs(x, axis), y.as<T>(), Runs(y, axis),
           static_cast<const int64_t *>(sources.get()));
  });
}

void GatherBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  add_up(dy.as<float>(), Runs(dy, axis), dx.as<float>(), Runs(dx, axis),
         static_cast<const int64_t *>(starts.get()),
         static_cast<const int64_t *>(sources.get()));
}

} // namespace ffrt
