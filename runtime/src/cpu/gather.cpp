//===- gather.cpp - indexing along one dimension --------------------------===//
#include "ffrt/gather.h"

#include "common/check.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cstring>

namespace ffrt {

namespace {

/// A tensor as blocks of positions along the axis, each position being a run
/// of elements that lie side by side.
struct Runs {
  int64_t blocks = 1, positions, length = 1;

  Runs(const Tensor &t, int axis) : positions(t.shape[axis]) {
    const Index strides = t.strides();
    for (int d = 0; d < t.rank; ++d)
      if (d != axis)
        (strides[d] < strides[axis] ? length : blocks) *= t.shape[d];
  }
};

/// `x` is the tensor that is indexed, `y` has an entry per index.
void check_gather(const char *kernel, const Tensor &x, const Tensor &y,
                  int64_t axis, const Ints &indices) {
  expect(kernel, axis >= 0 && axis < x.rank,
         "axis: expected a dimension of the operand, found " +
             std::to_string(axis));
  expect_type(kernel, "operand", x, y.type);
  expect_rank(kernel, "operand", x, y.rank);
  expect_same_order(kernel, "operand", x, y);
  const int a = int(axis);
  Tensor like = x;
  like.shape[a] = y.shape[a];
  expect_same_shape(kernel, "operand outside the axis", like, y);
  expect_length(kernel, "indices", indices, std::size_t(y.global[a]));
  for (int64_t index : indices)
    expect(kernel, index >= 0 && index < x.global[a],
           "indices: expected positions below " + std::to_string(x.global[a]) +
               ", found " + std::to_string(index));
}

void expect_whole(const char *kernel, const Tensor &t, int64_t axis) {
  const int a = int(axis);
  expect(kernel, t.shape[a] == t.global[a],
         "expected an operand that is whole along the axis, found " +
             std::to_string(t.shape[a]) + " of " + std::to_string(t.global[a]));
}

template <class T>
void gather(const T *x, const Runs &from, T *y, const Runs &to,
            const Ints &sources) {
  const int64_t n = to.length;
  parallel_for(
      to.blocks * to.positions, 1 + 16384 / n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t block = i / to.positions;
          const int64_t source = sources[std::size_t(i - block * to.positions)];
          const T *run = x + (block * from.positions + source) * n;
          if (n == 1)
            y[i] = *run;
          else
            std::memcpy(y + i * n, run, std::size_t(n) * sizeof(T));
        }
      });
}

} // namespace

Gather::Gather(Context &, Tensors in, Tensors out, int64_t axis,
               const Ints &indices)
    : axis(int(axis)) {
  expect_count("gather", "operands", in.size(), 1);
  expect_count("gather", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  check_gather("gather", x, y, axis, indices);
  expect_whole("gather", x, axis);
  const int64_t lo = y.lo[this->axis];
  sources.assign(indices.begin() + lo,
                 indices.begin() + lo + y.shape[this->axis]);
}

void Gather::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Runs from(x, axis), to(y, axis);
  switch (size_of(y.type)) {
  case 1:
    return gather(x.as<uint8_t>(), from, y.as<uint8_t>(), to, sources);
  case 4:
    return gather(x.as<uint32_t>(), from, y.as<uint32_t>(), to, sources);
  default:
    return gather(x.as<uint64_t>(), from, y.as<uint64_t>(), to, sources);
  }
}

GatherBackward::GatherBackward(Context &, Tensors in, Tensors out, int64_t axis,
                               const Ints &indices)
    : axis(int(axis)) {
  const char *kernel = "gather backward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  check_gather(kernel, dx, dy, axis, indices);
  expect_whole(kernel, dy, axis);
  expect_type(kernel, "result", dx, DType::f32);
  // Counting sort by position; positions of dy stay in order.
  const int64_t lo = dx.lo[this->axis], extent = dx.shape[this->axis];
  starts.assign(std::size_t(extent) + 1, 0);
  for (int64_t index : indices)
    if (index >= lo && index < lo + extent)
      ++starts[std::size_t(index - lo) + 1];
  for (std::size_t p = 0; p < std::size_t(extent); ++p)
    starts[p + 1] += starts[p];
  sources.resize(std::size_t(starts.back()));
  Ints next = starts;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= lo && indices[i] < lo + extent)
      sources[std::size_t(next[std::size_t(indices[i] - lo)]++)] = int64_t(i);
}

void GatherBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  const Runs from(dy, axis), to(dx, axis);
  const int64_t n = to.length;
  const float *x = dy.as<float>();
  float *y = dx.as<float>();
  parallel_for(
      to.blocks * to.positions, 1 + 16384 / n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t block = i / to.positions;
          const auto p = std::size_t(i - block * to.positions);
          float *sum = y + i * n;
          std::fill_n(sum, n, 0.0f);
          for (int64_t s = starts[p]; s < starts[p + 1]; ++s) {
            const float *run =
                x + (block * from.positions + sources[std::size_t(s)]) * n;
#pragma GCC ivdep
            for (int64_t k = 0; k < n; ++k)
              sum[k] += run[k];
          }
        }
      });
}

} // namespace ffrt
