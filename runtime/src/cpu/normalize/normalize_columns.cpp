//===- normalize_columns.cpp - statistics per column ----------------------===//
//
// Rows are added up in single precision, a few hundred at a time and relative
// to a shift near their mean, and then merged into doubles. The shift is the
// mean of the rows before, or of the first rows themselves, so that what
// cancels is never much larger than what remains.
//
//===----------------------------------------------------------------------===//
#include "cpu/kernels/widened.h"
#include "cpu/normalize/normalize_work.h"

#include <algorithm>

namespace ffrt::columns {

namespace {

constexpr int64_t kRows = 256; ///< rows added up in single precision

/// Offsets of the rows in x and of their first element's statistic.
Nest<2> rows_of(const NormalizeWork &work, const Tensor &x) {
  return Nest<2>(x.rank, x.shape, {x.strides(), work.statistic});
}

/// Calls f(offsets, rows, statistic) for groups of rows with one statistic.
template <class F>
void for_groups(const Nest<2> &nest, int64_t begin, int64_t end, F &&f) {
  int64_t at[kRows], n = 0, statistic = 0;
  nest.for_rows(begin, end, [&](const Nest<2>::Offsets &row) {
    if (n == kRows || (n > 0 && row[1] != statistic)) {
      f(at, n, statistic);
      n = 0;
    }
    statistic = row[1];
    at[n++] = row[0];
  });
  if (n > 0)
    f(at, n, statistic);
}

struct Pair {
  Real a, b;
};

/// Adds sums over rows of f(offset of the row + i, i) to a[i] and b[i], i < n.
template <class F>
void add_up(const int64_t *at, int64_t rows, int64_t n, Real *__restrict a,
            Real *__restrict b, F f) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const int64_t r0 = at[r], r1 = at[r + 1], r2 = at[r + 2], r3 = at[r + 3];
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const Pair p0 = f(r0 + i, i), p1 = f(r1 + i, i), p2 = f(r2 + i, i),
                 p3 = f(r3 + i, i);
      a[i] += (p0.a + p1.a) + (p2.a + p3.a);
      b[i] += (p0.b + p1.b) + (p2.b + p3.b);
    }
  }
  for (; r < rows; ++r) {
    const int64_t r0 = at[r];
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const Pair p0 = f(r0 + i, i);
      a[i] += p0.a;
      b[i] += p0.b;
    }
  }
}

/// One or two tensors whose rows are added up.
struct Rows {
  const Tensor &first;
  Tensor second; ///< may be absent
  int64_t n;     ///< elements of a row

  /// a[i] and b[i] = sums over rows of make(data of the two tensors, first
  /// column)(offset of element i, i). Rows of bf16 or f16 are widened some at a
  /// time; since all are added up here, and four at a time, that gives equal
  /// bits.
  template <class Make>
  void add_up(const int64_t *at, int64_t rows, Buffers &buffers, Real *a,
              Real *b, Make make) const {
    constexpr int64_t kWidth = kBlock / 4;
    const bool narrow =
        is_low_precision(first.type) || is_low_precision(second.type);
    const int64_t width = narrow ? std::min(n, kWidth) : n,
                  batch =
                      narrow ? std::min(kBlock / width / 4 * 4, kRows) : rows;
    std::fill_n(a, n, 0.0f);
    std::fill_n(b, n, 0.0f);
    const Real *p = narrow ? buffers[0] : first.as<Real>(),
               *q = narrow ? buffers[1] : second.as<Real>();
    int64_t places[kRows];
    for (int64_t c = 0; c < n; c += width)
      for (int64_t r = 0; r < rows; r += batch) {
        const int64_t columns = std::min(width, n - c),
                      some = std::min(batch, rows - r);
        const int64_t *offsets = at;
        if (narrow) {
          offsets = places;
          for (int64_t i = 0; i < some; ++i) {
            places[i] = i * columns;
            widen(first, at[r + i] + c, columns, buffers[0] + places[i]);
            widen(second, at[r + i] + c, columns, buffers[1] + places[i]);
          }
        }
        columns::add_up(offsets, some, columns, a + c, b + c, make(p, q, c));
      }
  }

private:
  static void widen(const Tensor &t, int64_t at, int64_t n, Real *to) {
    if (t.data)
      Elements(t, to).widen(at, n, to);
  }
};

/// Calls f(part, first row, last row, buffers) for the parts, on threads.
template <class F>
void for_parts(const NormalizeWork &work, int64_t rows, F &&f) {
  parallel_for(work.parts, 1, [&](int64_t begin, int64_t end) {
    Buffers buffers;
    for (int64_t part = begin; part < end; ++part)
      f(part, rows * part / work.parts, rows * (part + 1) / work.parts,
        buffers);
  });
}

/// first and second = the sums of what make(data of x, data of the other, first
/// statistic)(offset, statistic after that) gives.
template <class Make>
void sums(NormalizeWork &work, const Tensor &x, const Tensor &other,
          Make make) {
  const Nest<2> nest = rows_of(work, x);
  const int64_t n = nest.inner(), all = work.statistics;
  const Rows source{x, other, n};
  for_parts(work, nest.rows(),
            [&](int64_t part, int64_t begin, int64_t end, Buffers &buffers) {
              double *first = work.partial.data() + 2 * part * all,
                     *second = first + all;
              Real *a = work.lines.data() + part * work.line, *b = a + n;
              std::fill_n(first, 2 * all, 0.0);
              for_groups(nest, begin, end,
                         [&](const int64_t *at, int64_t rows, int64_t s) {
                           source.add_up(at, rows, buffers, a, b,
                                         [=](const Real *p, const Real *q,
                                             int64_t column) {
                                           return make(p, q, s + column);
                                         });
                           for (int64_t i = 0; i < n; ++i) {
                             first[s + i] += a[i];
                             second[s + i] += b[i];
                           }
                         });
            });
  for (int64_t s = 0; s < all; ++s) {
    double first = 0, second = 0;
    for (int part = 0; part < work.parts; ++part) {
      const double *sum = work.partial.data() + 2 * part * all + s;
      first += sum[0];
      second += sum[all];
    }
    work.first[s] = first;
    work.second[s] = second;
  }
}

/// Calls f(first, second, third, result, statistic, n), with the floats of
/// tensors, for blocks of every row, on threads. Second and third may be
/// absent.
template <class F>
void for_all_rows(const NormalizeWork &work, const Tensor &first,
                  const Tensor &second, const Tensor &third,
                  const Tensor &result, F &&f) {
  const Nest<2> nest = rows_of(work, first);
  const int64_t n = nest.inner();
  const bool narrow =
      is_low_precision(first.type) || is_low_precision(second.type) ||
      is_low_precision(third.type) || is_low_precision(result.type);
  const Real *p = first.as<Real>(), *q = second.as<Real>(),
             *m = third.as<Real>();
  Real *r = result.as<Real>();
  parallel_for(nest.rows(), 1 + 16384 / n, [&](int64_t begin, int64_t end) {
    Buffers buffers;
    const Elements a(first, buffers[0]), b(second, buffers[1]),
        c(third, buffers[2]), y(result, buffers[3]);
    nest.for_rows(begin, end, [&](const Nest<2>::Offsets &row) {
      // Rows may be short: nothing is done for them that f32 does not need.
      if (!narrow)
        return f(p + row[0], q ? q + row[0] : nullptr, m ? m + row[0] : nullptr,
                 r + row[0], row[1], n);
      for_blocks(n, [&](int64_t i, int64_t count) {
        const int64_t at = row[0] + i;
        f(a.read(at, count), b ? b.read(at, count) : nullptr,
          c ? c.read(at, count) : nullptr, y.place(at), row[1] + i, count);
        y.write(at, count);
      });
    });
  });
}

/// Adds `count` rows to the moments of n columns, which are all of one count; a
/// and b are the sums of what the rows are above `shift`, and of its squares.
void merge(Moments *to, int64_t n, double count, const Real *shift,
           const Real *a, const Real *b) {
  const double before = to->count, total = before + count;
  const double each = 1 / count, weight = count / total;
  const double spread = before * weight;
  for (int64_t i = 0; i < n; ++i) {
    const double above = a[i] * each;
    const double squares = std::max(b[i] - a[i] * above, 0.0);
    const double delta = shift[i] + above - to[i].mean;
    to[i].count = total;
    to[i].mean += delta * weight;
    to[i].squares += squares + delta * delta * spread;
  }
}

} // namespace

void moments(NormalizeWork &work, const Tensor &x) {
  const Nest<2> nest = rows_of(work, x);
  const int64_t n = nest.inner(), all = work.statistics;
  const Rows source{x, {}, n};
  auto partial = [&](int64_t part) { return work.moments.data() + part * all; };
  for_parts(
      work, nest.rows(),
      [&](int64_t part, int64_t begin, int64_t end, Buffers &buffers) {
        Moments *total = partial(part);
        std::fill_n(total, all, Moments());
        Real *a = work.lines.data() + part * work.line, *b = a + n,
             *shift = b + n;
        for_groups(
            nest, begin, end, [&](const int64_t *at, int64_t rows, int64_t s) {
              if (total[s].count == 0) {
                source.add_up(at, rows, buffers, shift, b,
                              [](const Real *p, const Real *, int64_t) {
                                return [=](int64_t k, int64_t) {
                                  return Pair{p[k], 0.0f};
                                };
                              });
                for (int64_t i = 0; i < n; ++i)
                  shift[i] /= Real(rows);
              } else {
                for (int64_t i = 0; i < n; ++i)
                  shift[i] = Real(total[s + i].mean);
              }
              source.add_up(at, rows, buffers, a, b,
                            [=](const Real *p, const Real *, int64_t column) {
                              const Real *origin = shift + column;
                              return [=](int64_t k, int64_t i) {
                                const Real d = p[k] - origin[i];
                                return Pair{d, d * d};
                              };
                            });
              merge(total + s, n, double(rows), shift, a, b);
            });
      });
  for (int64_t s = 0; s < all; ++s) {
    Moments total = partial(0)[s];
    for (int part = 1; part < work.parts; ++part)
      total.merge(partial(part)[s]);
    work.first[s] = total.mean;
    work.second[s] = total.squares;
  }
}

void sum(NormalizeWork &work, const Tensor &x) {
  sums(work, x, {}, [](const Real *p, const Real *, int64_t) {
    return [=](int64_t k, int64_t) { return Pair{p[k], 0.0f}; };
  });
}

void squares(NormalizeWork &work, const Tensor &x) {
  sums(work, x, {}, [&](const Real *p, const Real *, int64_t s) {
    const Real *mean = work.mean.data() + s;
    return [=](int64_t k, int64_t i) {
      const Real d = p[k] - mean[i];
      return Pair{0.0f, d * d};
    };
  });
}

void apply(NormalizeWork &work, const Tensor &x, const Tensor &addend,
           const Tensor &y) {
  for_all_rows(work, x, addend, {}, y,
               [&](const Real *p, const Real *more, const Real *, Real *q,
                   int64_t s, int64_t n) {
                 const Real *mean = work.mean.data() + s,
                            *a = work.a.data() + s, *b = work.b.data() + s;
                 const fn::Clip clip = work.clip;
                 if (more) {
#pragma GCC ivdep
                   for (int64_t i = 0; i < n; ++i)
                     q[i] = clip((p[i] - mean[i]) * a[i] + b[i] + more[i]);
                 } else {
#pragma GCC ivdep
                   for (int64_t i = 0; i < n; ++i)
                     q[i] = clip((p[i] - mean[i]) * a[i] + b[i]);
                 }
               });
}

/// dy, or 0 where the result was cut.
struct Cut {
  const Real *mean, *a, *b;
  fn::ClipGradient slope;

  Cut(const NormalizeWork &work, int64_t s)
      : mean(work.mean.data() + s), a(work.line_a.data() + s),
        b(work.line_b.data() + s), slope{work.clip.alpha, work.clip.beta} {}
  Real operator()(Real dy, Real x, int64_t i) const {
    return slope(dy, (x - mean[i]) * a[i] + b[i]);
  }
};

void gradient_sums(NormalizeWork &work, const Tensor &dy, const Tensor &x) {
  if (work.cuts)
    sums(work, dy, x, [&](const Real *g, const Real *p, int64_t s) {
      return [=, cut = Cut(work, s)](int64_t k, int64_t i) {
        const Real own = cut(g[k], p[k], i);
        return Pair{own, own * (p[k] - cut.mean[i])};
      };
    });
  else
    sums(work, dy, x, [&](const Real *g, const Real *p, int64_t s) {
      const Real *mean = work.mean.data() + s;
      return [=](int64_t k, int64_t i) {
        return Pair{g[k], g[k] * (p[k] - mean[i])};
      };
    });
  for (int64_t s = 0; s < work.statistics; ++s)
    work.second[s] *= work.inverse[s];
}

void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Tensor &addend, const Tensor &dx) {
  for_all_rows(
      work, dy, x, addend, dx,
      [&](const Real *g, const Real *p, const Real *more, Real *q, int64_t s,
          int64_t n) {
        const Real *mean = work.mean.data() + s, *a = work.a.data() + s,
                   *b = work.b.data() + s, *c = work.c.data() + s;
        const auto store_as = [=](auto slope, auto finish) {
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i)
            q[i] = finish(slope(i) * a[i] + (p[i] - mean[i]) * b[i] + c[i], i);
        };
        const auto store = [=](auto slope) {
          if (more)
            store_as(slope,
                     [=](Real value, int64_t i) { return value + more[i]; });
          else
            store_as(slope, [](Real value, int64_t) { return value; });
        };
        if (work.cuts)
          store([=, cut = Cut(work, s)](int64_t i) {
            return cut(g[i], p[i], i);
          });
        else
          store([=](int64_t i) { return g[i]; });
      });
}

} // namespace ffrt::columns
