//===- resize.cpp - interpolation on a grid of another size ---------------===//
#include "common/conv/resize.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <utility>

namespace ffrt {

namespace {

/// Up to four lines of the operand and their weights.
struct Lines {
  static constexpr int most = 4;
  const Real *at[most] = {};
  Real weight[most] = {};
  int count = 0;
};

/// y = sum of weighted lines, added to y unless `first`.
void add_lines(Real *y, const Lines &lines, int64_t n, bool first) {
  const Real *a = lines.at[0], *b = lines.at[1], *c = lines.at[2],
             *d = lines.at[3];
  const Real *w = lines.weight;
  const Real wa = w[0], wb = w[1], wc = w[2], wd = w[3];
  auto each = [&](auto sum) {
    if (first)
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        y[i] = sum(i);
    else
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        y[i] += sum(i);
  };
  switch (lines.count) {
  case 1:
    return each([=](int64_t i) { return wa * a[i]; });
  case 2:
    return each([=](int64_t i) { return wa * a[i] + wb * b[i]; });
  case 3:
    return each([=](int64_t i) { return wa * a[i] + wb * b[i] + wc * c[i]; });
  default:
    return each([=](int64_t i) {
      return (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i]);
    });
  }
}

/// Interpolates along all dimensions but that of the lines, which is copied.
class LineSum {
public:
  LineSum(const std::vector<ResizeTable> &tables, const Index &strides,
          const int *dims, int count)
      : tables(tables), strides(strides), dims(dims), count(count) {}

  /// y = the line at `position` (per dimension in `dims`).
  void run(Real *y, const Real *x, const int64_t *position, int64_t n) {
    to = y;
    length = n;
    at = position;
    lines.count = 0;
    first = true;
    visit(0, x, 1.0f);
    if (lines.count > 0)
      flush();
    else if (first)
      std::fill_n(y, n, 0.0f);
  }

private:
  void visit(int k, const Real *x, Real weight) {
    if (k == count) {
      lines.at[lines.count] = x;
      lines.weight[lines.count] = weight;
      if (++lines.count == Lines::most)
        flush();
      return;
    }
    const int d = dims[k];
    const ResizeTable &table = tables[std::size_t(d)];
    const auto i = std::size_t(at[k]);
    for (auto e = std::size_t(table.starts[i]);
         e < std::size_t(table.starts[i + 1]); ++e)
      visit(k + 1, x + table.positions[e] * strides[d],
            weight * table.weights[e]);
  }
  void flush() {
    add_lines(to, lines, length, first);
    lines.count = 0;
    first = false;
  }

  const std::vector<ResizeTable> &tables;
  const Index &strides;
  const int *dims;
  int count;
  Real *to = nullptr;
  int64_t length = 0;
  const int64_t *at = nullptr;
  Lines lines;
  bool first = true;
};

/// Calls f(y, position) for all lines of y, with the positions along `dims`.
template <class F>
void for_lines(const Tensor &y, const int *dims, int count, int64_t work,
               F &&f) {
  const Index strides = y.strides();
  int64_t lines = 1;
  for (int k = 0; k < count; ++k)
    lines *= y.shape[dims[k]];
  parallel_for(lines, 1 + 16384 / std::max<int64_t>(1, work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t line = begin; line < end; ++line) {
                   int64_t position[kMaxRank], rest = line, offset = 0;
                   for (int k = count - 1; k >= 0; --k) {
                     const int64_t extent = y.shape[dims[k]];
                     position[k] = rest % extent;
                     rest /= extent;
                     offset += position[k] * strides[dims[k]];
                   }
                   f(y.as<Real>() + offset, position);
                 }
               });
}

void interpolate(const std::vector<ResizeTable> &tables, const Tensor &x,
                 const Tensor &y) {
  // The dimension of the lines, in which elements are neighbours, and the
  // others from slow to fast.
  const bool last = y.rank < 3 || y.order == Order::row_major;
  const int line = last ? y.rank - 1 : 1;
  int dims[kMaxRank], count = 0;
  int64_t work = y.shape[line];
  for (int d = 0; d < y.rank; ++d) {
    const ResizeTable &table = tables[std::size_t(d)];
    work *= 1 + int64_t(table.positions.size() / (table.starts.size() - 1));
    if (d != line)
      dims[count++] = d;
  }
  const Index strides = x.strides();
  const Real *from = x.as<Real>();
  const ResizeTable &along = tables[std::size_t(line)];
  const int64_t n = y.shape[line];
  if (along.copies)
    return for_lines(
        y, dims, count, work, [&](Real *to, const int64_t *position) {
          LineSum(tables, strides, dims, count).run(to, from, position, n);
        });
  // One element after the other, as if it were a line of its own.
  dims[count] = line;
  for_lines(y, dims, count, work, [&](Real *to, const int64_t *position) {
    LineSum sum(tables, strides, dims, count + 1);
    int64_t at[kMaxRank];
    std::copy_n(position, count, at);
    for (int64_t i = 0; i < n; ++i) {
      at[count] = i;
      sum.run(to + i, from, at, 1);
    }
  });
}

} // namespace

struct ResizePlan {
  std::vector<ResizeTable> tables;
};

std::shared_ptr<const ResizePlan> plan_resize(std::vector<ResizeTable> tables) {
  return std::make_shared<ResizePlan>(ResizePlan{std::move(tables)});
}

void Resize::operator()(Tensors in, Tensors out) {
  interpolate(plan->tables, in.begin()[0], out.begin()[0]);
}

void ResizeBackward::operator()(Tensors in, Tensors out) {
  interpolate(plan->tables, in.begin()[0], out.begin()[0]);
}

} // namespace ffrt
