//===- gather.cu - indexing along one dimension ---------------------------===//
#include "ffrt/gather.h"

#include "common/copy/move.h"
#include "common/indexing/gather.h"
#include "cuda/kernels/walk.h"

namespace ffrt {

namespace {

/// Block, position and place in the run of every element.
using Places = cuda::Coordinates<3>;

Places places_of(const Runs &runs) {
  return Places({runs.blocks, runs.positions, runs.length});
}

int64_t elements(const Runs &runs) {
  return runs.blocks * runs.positions * runs.length;
}

template <class T>
void gather(const T *x, const Runs &from, T *y, const Runs &to,
            const int64_t *sources) {
  const Places places = places_of(to);
  cuda::for_elements(
      elements(to), FFRT_LAMBDA(int64_t i) {
        const auto [block, position, at] = places(i).at;
        y[i] = x[(block * from.positions + sources[position]) * to.length + at];
      });
}

void add_up(const float *x, const Runs &from, float *y, const Runs &to,
            const int64_t *starts, const int64_t *sources) {
  const Places places = places_of(to);
  cuda::for_elements(
      elements(to), FFRT_LAMBDA(int64_t i) {
        const auto [block, position, at] = places(i).at;
        float sum = 0;
        for (int64_t s = starts[position]; s < starts[position + 1]; ++s)
          sum += x[(block * from.positions + sources[s]) * to.length + at];
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
