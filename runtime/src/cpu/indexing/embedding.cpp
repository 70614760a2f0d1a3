//===- embedding.cpp - rows of tables by indices --------------------------===//
#include "ffrt/embedding.h"

#include "common/indexing/embedding.h"
#include "common/optimizer/update_rules.h"
#include "ffrt/error.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <numeric>
#include <omp.h>
#include <string>
#include <vector>

namespace ffrt {

namespace {

/// From here on a thread is worth its start.
constexpr int64_t kThreadElements = 16384;

/// Where the rows of a part of a table are looked up.
struct Lookup {
  const Tensor &table, &indices;

  int64_t count() const { return indices.elements(); }
  int64_t width() const { return table.shape[1]; }

  /// Calls f(type of the indices).
  template <class F> void dispatch(const char *kernel, F f) const {
    if (indices.type == DType::i32)
      run(kernel, indices.as<int32_t>(), f);
    else
      run(kernel, indices.as<int64_t>(), f);
  }

  /// The row of the part that index `i` names; outside of [0, shape[0]) if the
  /// part does not have it.
  template <class T> int64_t local(const T *ids, int64_t i) const {
    return local_row(ids[i], table.global[0], table.lo[0]);
  }

private:
  template <class T, class F>
  void run(const char *kernel, const T *ids, F f) const {
    const int64_t rows = table.global[0];
    for (int64_t i = 0; i < count(); ++i)
      if (ids[i] < -rows || ids[i] >= rows)
        throw Error(std::string(kernel) + ": expected indices from " +
                    std::to_string(-rows) + " to " + std::to_string(rows - 1) +
                    ", found " + std::to_string(ids[i]));
    f(ids);
  }
};

/// Calls f(local row, position of its index) for the indices in their order, on
/// the thread that has the row, after start(begin, end) for its rows.
template <class T, class Start, class F>
void for_own_rows(const Lookup &lookup, const T *ids, int64_t work, Start start,
                  F f) {
  const int64_t rows = lookup.table.shape[0];
  parallel_for(rows, work < kThreadElements ? rows : 1,
               [&](int64_t begin, int64_t end) {
                 start(begin, end);
                 for (int64_t i = 0; i < lookup.count(); ++i) {
                   const int64_t row = lookup.local(ids, i);
                   if (row >= begin && row < end)
                     f(row, i);
                 }
               });
}

} // namespace

void EmbeddingForward::operator()(Tensors in, Tensors out) {
  const Lookup lookup{in.begin()[0], in.begin()[1]};
  const Real *table = lookup.table.as<Real>();
  Real *y = out.begin()[0].as<Real>();
  const int64_t width = lookup.width(), rows = lookup.table.shape[0];
  lookup.dispatch("embedding forward", [&](const auto *ids) {
    parallel_for(lookup.count(), 1 + kThreadElements / width,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t row = lookup.local(ids, i);
                     if (row >= 0 && row < rows)
                       std::copy_n(table + row * width, width, y + i * width);
                     else
                       std::fill_n(y + i * width, width, 0.0f);
                   }
                 });
  });
}

EmbeddingBackward::EmbeddingBackward(Context &, Tensors in, Tensors out) {
  check_embedding_backward("embedding backward", in, out);
}

void EmbeddingBackward::operator()(Tensors in, Tensors out) {
  const Lookup lookup{out.begin()[0], in.begin()[0]};
  const Real *dy = in.begin()[1].as<Real>();
  Real *table = lookup.table.as<Real>();
  const int64_t width = lookup.width();
  const bool accumulates = lookup.table.accumulates;
  lookup.dispatch("embedding backward", [&](const auto *ids) {
    for_own_rows(
        lookup, ids,
        accumulates ? lookup.count() * width : lookup.table.elements(),
        [=](int64_t begin, int64_t end) {
          if (!accumulates)
            std::fill_n(table + begin * width, (end - begin) * width, 0.0f);
        },
        [=](int64_t row, int64_t i) {
          Real *sum = table + row * width;
          const Real *from = dy + i * width;
#pragma GCC ivdep
          for (int64_t c = 0; c < width; ++c)
            sum[c] += from[c];
        });
  });
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SgdUpdateRows::SgdUpdateRows(Context &cx, Tensors in, Tensors out) : cx(cx) {
  check_row_update("sgd update rows", in, out, 0);
}

void SgdUpdateRows::operator()(Tensors in, Tensors) {
  const char *kernel = "sgd update rows";
  const Lookup lookup{in.begin()[0], in.begin()[1]};
  const Real *dy = in.begin()[2].as<Real>();
  Real *w = lookup.table.as<Real>();
  const rules::Sgd rule;
  const rules::RatesOfRows by{Real(cx.learning_rate) *
                              share_of(kernel, cx, lookup.table)};
  const Real scale = rule.scale(in.begin()[3].as<Real>());
  if (rule.skips(scale))
    return;
  const int64_t width = lookup.width();
  lookup.dispatch(kernel, [&](const auto *ids) {
    for_own_rows(
        lookup, ids, lookup.count() * width, [](int64_t, int64_t) {},
        [=](int64_t row, int64_t i) {
          Real *to = w + row * width;
          const Real *from = dy + i * width;
#pragma GCC ivdep
          for (int64_t c = 0; c < width; ++c)
            rule(by, scale, from[c], to[c]);
        });
  });
}

struct AdagradUpdateRows::Plan {
  std::vector<int64_t> order; ///< positions of indices, by row
  std::vector<Real> sums;     ///< a row for every thread
};

AdagradUpdateRows::AdagradUpdateRows(Context &cx, Tensors in, Tensors out,
                                     double epsilon)
    : cx(cx), epsilon(Real(epsilon)), plan(std::make_shared<Plan>()) {
  check_row_update("adagrad update rows", in, out, 1);
  const Lookup lookup{in.begin()[0], in.begin()[1]};
  plan->order.resize(std::size_t(lookup.count()));
  plan->sums.resize(std::size_t(omp_get_max_threads() * lookup.width()));
}

void AdagradUpdateRows::operator()(Tensors in, Tensors) {
  const char *kernel = "adagrad update rows";
  const Lookup lookup{in.begin()[0], in.begin()[1]};
  const Real *dy = in.begin()[2].as<Real>();
  Real *w = lookup.table.as<Real>(), *s = in.begin()[4].as<Real>();
  const rules::Adagrad rule(epsilon);
  const rules::RatesOfRows by{Real(cx.learning_rate) *
                              share_of(kernel, cx, lookup.table)};
  const Real scale = rule.scale(in.begin()[3].as<Real>());
  if (rule.skips(scale))
    return;
  const int64_t width = lookup.width(), rows = lookup.table.shape[0],
                count = lookup.count();
  std::vector<int64_t> &order = plan->order;
  lookup.dispatch(kernel, [&](const auto *ids) {
    auto row_of = [&](int64_t at) {
      return lookup.local(ids, order[std::size_t(at)]);
    };
    // Gradients of a row are added up in the order of their indices.
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int64_t row = lookup.local(ids, a), other = lookup.local(ids, b);
      return row != other ? row < other : a < b;
    });
    // The thread that has the first index of a row has the row.
    parallel_for(
        count, 1 + kThreadElements / width, [&](int64_t begin, int64_t end) {
          Real *sum = plan->sums.data() + omp_get_thread_num() * width;
          for (int64_t at = begin; at < end;) {
            const int64_t row = row_of(at), first = at++;
            if (row < 0 || row >= rows ||
                (first > 0 && row_of(first - 1) == row))
              continue;
            std::copy_n(dy + order[std::size_t(first)] * width, width, sum);
            for (; at < count && row_of(at) == row; ++at) {
              const Real *from = dy + order[std::size_t(at)] * width;
#pragma GCC ivdep
              for (int64_t c = 0; c < width; ++c)
                sum[c] += from[c];
            }
            Real *to = w + row * width, *squares = s + row * width;
#pragma GCC ivdep
            for (int64_t c = 0; c < width; ++c)
              rule(by, scale, sum[c], to[c], squares[c]);
          }
        });
  });
}

} // namespace ffrt
