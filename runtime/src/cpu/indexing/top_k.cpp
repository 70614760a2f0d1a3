//===- top_k.cpp - largest elements along one dimension -------------------===//
#include "ffrt/top_k.h"

#include "common/indexing/top_k.h"
#include "common/kernels/lines.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ffrt {

struct TopK::Plan {
  int64_t parts;
  std::vector<int64_t> order; ///< of one line, for every part
};

TopK::TopK(Context &cx, Tensors in, Tensors out, int64_t axis, int64_t largest)
    : axis(int(axis)), largest(largest != 0), plan(std::make_shared<Plan>()) {
  check_top_k(in, out, axis);
  const Tensor &x = *in.begin();
  plan->parts = std::clamp<int64_t>(x.elements() / 4096, 1, cx.threads);
  plan->order.resize(std::size_t(plan->parts * x.shape[this->axis]));
}

void TopK::operator()(Tensors in, Tensors out) {
  const Tensor &x = *in.begin(), &y = out.begin()[0], &index = out.begin()[1];
  const Lines from(x, axis), to(y.data ? y : index, axis);
  const Real *source = x.as<Real>();
  const int64_t parts = plan->parts;
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int64_t *first = plan->order.data() + part * from.extent;
      for (int64_t line = from.count * part / parts;
           line < from.count * (part + 1) / parts; ++line) {
        const Real *values = source + from.start(line);
        std::iota(first, first + from.extent, 0);
        std::partial_sort(first, first + to.extent, first + from.extent,
                          [&](int64_t i, int64_t j) {
                            return comes_before(values[i * from.stride], i,
                                                values[j * from.stride], j,
                                                largest);
                          });
        for (int64_t i = 0; i < to.extent; ++i) {
          const int64_t at = to.start(line) + i * to.stride;
          if (y.data)
            y.as<Real>()[at] = values[first[i] * from.stride];
          if (index.data)
            index.as<int64_t>()[at] = first[i];
        }
      }
    }
  });
}

void TopKBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &index = in.begin()[1], &dx = *out.begin();
  const Lines from(dy, axis), to(dx, axis);
  parallel_for(to.count, 1 + 16384 / std::max<int64_t>(to.extent, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t line = begin; line < end; ++line) {
                   Real *row = dx.as<Real>() + to.start(line);
                   for (int64_t i = 0; i < to.extent; ++i)
                     row[i * to.stride] = 0.0f;
                   for (int64_t i = 0; i < from.extent; ++i) {
                     const int64_t at = from.start(line) + i * from.stride,
                                   place = index.as<int64_t>()[at];
                     if (place >= 0 && place < to.extent)
                       row[place * to.stride] += dy.as<Real>()[at];
                   }
                 }
               });
}

} // namespace ffrt
