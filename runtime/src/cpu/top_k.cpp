//===- top_k.cpp - largest elements along one dimension -------------------===//
#include "ffrt/top_k.h"

#include "common/check.h"
#include "ffrt/error.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <numeric>

namespace ffrt {

namespace {

/// The lines of a tensor along an axis. Tensors that are shorter along it have
/// the same lines, further apart or closer.
struct Lines {
  int64_t count, extent, stride;

  Lines(const Tensor &t, int axis)
      : count(t.elements() / std::max<int64_t>(t.shape[axis], 1)),
        extent(t.shape[axis]), stride(t.strides()[axis]) {}
  int64_t start(int64_t line) const {
    return line / stride * stride * extent + line % stride;
  }
};

void check_whole(const char *kernel, const char *name, const Tensor &t,
                 int64_t axis) {
  expect_row_major(kernel, name, t);
  expect(kernel, axis >= 0 && axis < t.rank,
         "expected axis within rank " + std::to_string(t.rank) + ", found " +
             std::to_string(axis));
  const int d = int(axis);
  expect(kernel, t.shape[d] == t.global[d],
         std::string(name) + ": expected all positions along the axis (" +
             std::to_string(t.global[d]) + "), found " +
             std::to_string(t.shape[d]));
}

/// `part` is as `whole`, but may be shorter along the axis.
void check_part(const char *kernel, const char *name, const Tensor &part,
                const Tensor &whole, DType type, int64_t axis) {
  if (!part.data)
    return;
  expect_type(kernel, name, part, type);
  check_whole(kernel, name, part, axis);
  const int d = int(axis);
  expect(kernel, part.shape[d] <= whole.shape[d],
         std::string(name) + ": expected at most " +
             std::to_string(whole.shape[d]) + " positions, found " +
             std::to_string(part.shape[d]));
  Tensor like = whole;
  like.shape[d] = part.shape[d];
  expect_same_shape(kernel, name, part, like);
}

} // namespace

TopK::TopK(Context &cx, Tensors in, Tensors out, int64_t axis, int64_t largest)
    : axis(int(axis)), largest(largest != 0) {
  const char *kernel = "top k";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &x = *in.begin();
  expect_type(kernel, "x", x, DType::f32);
  check_whole(kernel, "x", x, axis);
  check_part(kernel, "y", out.begin()[0], x, DType::f32, axis);
  check_part(kernel, "index", out.begin()[1], x, DType::i64, axis);
  const Lines lines(x, this->axis);
  parts = std::clamp<int64_t>(x.elements() / 4096, 1, cx.threads);
  order.resize(std::size_t(parts * lines.extent));
}

void TopK::operator()(Tensors in, Tensors out) {
  const Tensor &x = *in.begin(), &y = out.begin()[0], &index = out.begin()[1];
  const Lines from(x, axis), to(y.data ? y : index, axis);
  const float *source = x.as<float>();
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t *first = order.data() + part * from.extent;
      for (int64_t line = from.count * part / parts;
           line < from.count * (part + 1) / parts; ++line) {
        const float *values = source + from.start(line);
        auto larger = [&](float a, float b) {
          return a > b || (a != a && b == b);
        };
        std::iota(first, first + from.extent, 0);
        std::partial_sort(first, first + to.extent, first + from.extent,
                          [&](int64_t i, int64_t j) {
                            const float a = values[i * from.stride],
                                        b = values[j * from.stride];
                            if (larger(a, b) || larger(b, a))
                              return largest ? larger(a, b) : larger(b, a);
                            return i < j;
                          });
        for (int64_t i = 0; i < to.extent; ++i) {
          const int64_t at = to.start(line) + i * to.stride;
          if (y.data)
            y.as<float>()[at] = values[first[i] * from.stride];
          if (index.data)
            index.as<int64_t>()[at] = first[i];
        }
      }
    }
  });
}

TopKBackward::TopKBackward(Context &, Tensors in, Tensors out, int64_t axis)
    : axis(int(axis)) {
  const char *kernel = "top k backward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &dx = *out.begin();
  expect_type(kernel, "dx", dx, DType::f32);
  check_whole(kernel, "dx", dx, axis);
  check_part(kernel, "dy", in.begin()[0], dx, DType::f32, axis);
  check_part(kernel, "index", in.begin()[1], dx, DType::i64, axis);
}

void TopKBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &index = in.begin()[1], &dx = *out.begin();
  const Lines from(dy, axis), to(dx, axis);
  parallel_for(to.count, 1 + 16384 / std::max<int64_t>(to.extent, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t line = begin; line < end; ++line) {
                   float *row = dx.as<float>() + to.start(line);
                   for (int64_t i = 0; i < to.extent; ++i)
                     row[i * to.stride] = 0.0f;
                   for (int64_t i = 0; i < from.extent; ++i) {
                     const int64_t at = from.start(line) + i * from.stride,
                                   place = index.as<int64_t>()[at];
                     if (place >= 0 && place < to.extent)
                       row[place * to.stride] += dy.as<float>()[at];
                   }
                 }
               });
}

} // namespace ffrt
