//===- matmul_geometry.cpp - a product of tiles as matrices ---------------===//
#include "common/matmul/matmul_geometry.h"

#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

static constexpr const char *kernel = "matmul";

/// Extent of dimension `d`, counted from the last, 1 if there is none.
static int64_t extent(const Tensor &t, int d) {
  return d < t.rank ? t.shape[t.rank - 1 - d] : 1;
}

/// Distance of neighbours along it, 0 where it has but one element.
static int64_t stride(const Tensor &t, int d) {
  return extent(t, d) == 1 ? 0 : t.strides()[t.rank - 1 - d];
}

MatMulGeometry::MatMulGeometry(const Tensor &a, const Tensor &b,
                               const Tensor &y, bool trans_a, bool trans_b)
    : m(extent(y, 1)), n(extent(y, 0)), k(extent(a, trans_a)),
      pitch_a(a.pitch()), pitch_b(b.pitch()), pitch_y(y.pitch()),
      trans_a(trans_a), trans_b(trans_b) {
  bool fits = extent(a, !trans_a) == m && extent(b, trans_b) == n &&
              extent(b, !trans_b) == k;
  for (int d = 2; d < std::max({a.rank, b.rank, y.rank}); ++d) {
    const int64_t ea = extent(a, d), eb = extent(b, d), ey = extent(y, d),
                  e = std::max(ea, eb);
    fits &=
        (ea == e || ea == 1) && (eb == e || eb == 1) && (ey == e || ey == 1);
    if (e != 1)
      batch.insert(batch.begin(),
                   {e, stride(a, d), stride(b, d), stride(y, d)});
  }
  expect(kernel, fits,
         "expected op(a) and op(b) to have a product of local shape " +
             to_string(y.rank, y.shape) + ", found a " +
             to_string(a.rank, a.shape) + " and b " +
             to_string(b.rank, b.shape));
  absorb();
  merge();
}

std::size_t MatMulGeometry::loops() const {
  std::size_t count = batch.size();
  while (count > 0 && batch[count - 1].y != 0)
    --count;
  return count;
}

void MatMulGeometry::absorb() {
  for (; !batch.empty(); batch.pop_back()) {
    const BatchDim &last = batch.back();
    if (!trans_a && last.a && last.y && !last.b)
      m *= last.extent;
    else if (trans_a && !trans_b && last.a && last.b && !last.y)
      k *= last.extent;
    else
      return;
  }
}

void MatMulGeometry::merge() {
  for (std::size_t d = batch.size(); d-- > 1;) {
    BatchDim &outer = batch[d - 1], &inner = batch[d];
    if (outer.a == inner.a * inner.extent &&
        outer.b == inner.b * inner.extent &&
        outer.y == inner.y * inner.extent) {
      inner.extent *= outer.extent;
      batch.erase(batch.begin() + long(d) - 1);
    }
  }
}

/// Throws Error unless `c` broadcasts to the tile of y.
static void check_broadcast(const Tensor &c, const Tensor &y) {
  expect(kernel, c.rank <= y.rank,
         "c: expected rank at most " + std::to_string(y.rank) + ", found " +
             std::to_string(c.rank));
  for (int d = 0; d < c.rank; ++d)
    expect(kernel,
           c.shape[d] == 1 || c.shape[d] == y.shape[y.rank - c.rank + d],
           "c: expected a local shape that broadcasts to " +
               to_string(y.rank, y.shape) + ", found " +
               to_string(c.rank, c.shape));
}

/// Throws Error unless the addend lies as y does.
static void check_whole(const Tensor &addend, const Tensor &y) {
  expect_type(kernel, "addend", addend, kReal);
  expect_row_major(kernel, "addend", addend);
  expect(
      kernel,
      addend.rank == y.rank &&
          std::equal(addend.shape.v, addend.shape.v + addend.rank, y.shape.v),
      "addend: expected local shape " + to_string(y.rank, y.shape) +
          ", found " + to_string(addend.rank, addend.shape));
}

Index addend_strides(const Tensor &c, int rank) {
  const Index own = c.strides();
  Index result;
  for (int d = 0; d < c.rank; ++d)
    result[rank - c.rank + d] = c.shape[d] == 1 ? 0 : own[d];
  return result;
}

bool is_row(const Tensor &c, int64_t n) {
  return c.rank >= 1 && c.elements() == n && c.shape[c.rank - 1] == n;
}

/// A result that is rounded is written once. Throws Error.
static void check_narrow(const MatMulGeometry &g, const Tensor &c,
                         const Tensor &addend, const Tensor &y, bool scales) {
  const std::string found = std::string(", found ") + name_of(y.type);
  expect(kernel, !addend.data, "y: expected type f32 with an addend" + found);
  expect(kernel, !y.accumulates,
         "y: expected type f32 where it accumulates" + found);
  expect(kernel, g.loops() == 0,
         "y: expected type f32 where products are added up" + found);
  expect(kernel, !c.data || (c.type == y.type && is_row(c, g.n) && !scales),
         "y: expected type f32 unless c is a row of its type and alpha and "
         "beta are 1" +
             found);
}

void check_addends(const MatMulGeometry &geometry, Tensors in, const Tensor &y,
                   Real alpha, Real beta) {
  const Tensor &c = in.begin()[2], &addend = in.begin()[3];
  if (c.data) {
    expect_real_or(kernel, "c", c, in.begin()[0].type);
    check_broadcast(c, y);
  }
  if (addend.data)
    check_whole(addend, y);
  expect(kernel,
         !y.is_pitched() ||
             (!addend.data && (!c.data || is_row(c, geometry.n))),
         "y: expected rows side by side where more than a row is added, found "
         "them pitched");
  expect(kernel, !y.accumulates || (!c.data && !addend.data),
         "y: expected no c and no addend where it accumulates, found one");
  if (y.type != kReal)
    check_narrow(geometry, c, addend, y, alpha != 1.0f || beta != 1.0f);
}

void check_matmul(Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 4);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &a = in.begin()[0], &b = in.begin()[1], &y = out.begin()[0];
  expect_same_float(kernel, "a", a, "b", b);
  expect_real_or(kernel, "y", y, a.type);
  for (const Tensor *t : {&a, &b, &y}) {
    expect_rows(kernel, "operand or result", *t);
    expect(kernel, t->rank >= 2,
           "expected operands and result of rank 2 or more, found " +
               std::to_string(t->rank));
  }
}

} // namespace ffrt
