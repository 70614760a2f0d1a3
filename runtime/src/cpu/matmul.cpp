//===- matmul.cpp - matrix product ----------------------------------------===//
//
// One call of oneDNN's matmul on the tensors as they lie: plain layouts run at
// the speed of the layouts that oneDNN would choose (105-115 GFLOP/s on a core
// of 120), also transposed, batched and broadcast. Only where rows meet in the
// cache is a copy faster (walks_columns()). Two kinds of batch dimension
// become part of the matrices: one that only b lacks is more rows (a linear
// layer), one that only y lacks is more depth (its weight gradient). Other
// dimensions that y lacks are a loop of calls that add up. The factors may be
// bf16.
//
//===----------------------------------------------------------------------===//
#include "ffrt/matmul.h"

#include "common/check.h"
#include "common/nest.h"
#include "cpu/dnnl.h"

#include <algorithm>

namespace ffrt {

namespace {

using dnnl::memory;

constexpr const char *kernel = "matmul";

/// A dimension of the batch; an operand's stride is 0 where it lacks it.
struct BatchDim {
  int64_t extent, a, b, y; ///< strides in elements
};

/// The product on a tile, with as much of the batch as possible in m and k.
struct Geometry {
  int64_t m, n, k;
  bool trans_a, trans_b;
  std::vector<BatchDim> batch; ///< outermost first

  Geometry(const Tensor &a, const Tensor &b, const Tensor &y, bool trans_a,
           bool trans_b);

  /// Number of outermost dimensions that are a loop of calls.
  std::size_t loops() const {
    std::size_t count = batch.size();
    while (count > 0 && batch[count - 1].y != 0)
      --count;
    return count;
  }

private:
  void merge();
  void absorb();
};

/// Extent of dimension `d`, counted from the last, 1 if there is none.
int64_t extent(const Tensor &t, int d) {
  return d < t.rank ? t.shape[t.rank - 1 - d] : 1;
}

Geometry::Geometry(const Tensor &a, const Tensor &b, const Tensor &y,
                   bool trans_a, bool trans_b)
    : m(extent(y, 1)), n(extent(y, 0)), k(extent(a, trans_a)), trans_a(trans_a),
      trans_b(trans_b) {
  bool fits = extent(a, !trans_a) == m && extent(b, trans_b) == n &&
              extent(b, !trans_b) == k;
  int64_t sa = m * k, sb = k * n, sy = m * n;
  for (int d = 2; d < std::max({a.rank, b.rank, y.rank}); ++d) {
    const int64_t ea = extent(a, d), eb = extent(b, d), ey = extent(y, d),
                  e = std::max(ea, eb);
    fits &=
        (ea == e || ea == 1) && (eb == e || eb == 1) && (ey == e || ey == 1);
    if (e != 1)
      batch.insert(batch.begin(),
                   {e, ea == 1 ? 0 : sa, eb == 1 ? 0 : sb, ey == 1 ? 0 : sy});
    sa *= ea;
    sb *= eb;
    sy *= ey;
  }
  expect(kernel, fits,
         "expected op(a) and op(b) to have a product of local shape " +
             to_string(y.rank, y.shape) + ", found a " +
             to_string(a.rank, a.shape) + " and b " +
             to_string(b.rank, b.shape));
  absorb();
  merge();
}

void Geometry::absorb() {
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

void Geometry::merge() {
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

/// A dense tensor, its last two dimensions swapped in memory if `transposed`.
memory::desc dense(memory::dims shape, bool transposed,
                   memory::data_type type = memory::data_type::f32) {
  const std::size_t rank = shape.size();
  memory::dims strides(rank, 1);
  int64_t size = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = rank - 1 - (transposed && i < 2 ? 1 - i : i);
    strides[d] = size;
    size *= shape[d];
  }
  return {shape, type, strides};
}

/// The matrices of one call; `stride` chooses the operand. An operand that
/// lacks a batch dimension has extent 1 there.
memory::desc matrices(const Geometry &g, int64_t BatchDim::*stride,
                      int64_t rows, int64_t columns, bool transposed,
                      memory::data_type type = memory::data_type::f32) {
  memory::dims shape;
  for (std::size_t d = g.loops(); d < g.batch.size(); ++d)
    shape.push_back(g.batch[d].*stride ? g.batch[d].extent : 1);
  shape.insert(shape.end(), {rows, columns});
  return dense(shape, transposed, type);
}

/// Does oneDNN walk down the columns of an operand whose rows, along the other
/// dimension than k, meet in the cache? It does where the other operand has few
/// rows, and then takes up to twice as long (40-65 instead of 90 GFLOP/s at 64
/// to 256 rows on one core, as fast at 512; oneDNN 2.6). A copy of the operand
/// is worth it from about 100 rows on.
bool walks_columns(int64_t row, int64_t other_rows) {
  return row % 512 == 0 && other_rows >= 128 && other_rows < 512;
}

/// A dense matrix, transposed or not, with its rows apart.
memory::desc spaced(int64_t rows, int64_t columns, bool transposed) {
  return {{rows, columns},
          memory::data_type::f32,
          transposed ? memory::dims{1, spaced_rows(rows)}
                     : memory::dims{spaced_rows(columns), 1}};
}

/// Strides of c along the dimensions of y; zero where it is broadcast.
Index addend_strides(const Tensor &c, int rank) {
  const Index own = c.strides();
  Index result;
  for (int d = 0; d < c.rank; ++d)
    result[rank - c.rank + d] = c.shape[d] == 1 ? 0 : own[d];
  return result;
}

} // namespace

struct MatMul::Impl {
  Factor factor_a, factor_b;
  Geometry geometry;
  Converted a, b;
  dnnl::memory c, y;
  Primitive first, more;   ///< y = product, y += product
  bool bias = false;       ///< c is added by oneDNN, as a row vector
  bool prefilled;          ///< y starts as beta * c
  std::size_t factor_size; ///< of an element of a and b
  float beta;

  Impl(const Tensor &ta, const Tensor &tb, const Tensor &tc, const Tensor &ty,
       float alpha, float beta, bool trans_a, bool trans_b)
      : factor_a(ta, 0), factor_b(tb, 1),
        geometry(ta, tb, ty, trans_a, trans_b), beta(beta) {
    const Geometry &g = geometry;
    if (tc.data) {
      check_addend(tc, ty);
      const bool row =
          tc.rank >= 1 && tc.elements() == g.n && tc.shape[tc.rank - 1] == g.n;
      bias = row && alpha == 1.0f && beta == 1.0f;
    }
    prefilled = tc.data && !bias;
    const DType factors = factor_a.form().type;
    const memory::data_type type = data_type(factors);
    const bool is_f32 = factors == DType::f32;
    factor_size = size_of(factors);
    a = Converted(matrices(g, &BatchDim::a, g.m, g.k, trans_a, type));
    b = Converted(matrices(g, &BatchDim::b, g.k, g.n, trans_b, type));
    if (is_f32 && g.batch.empty() && trans_a && walks_columns(g.m, g.n))
      a = {matrices(g, &BatchDim::a, g.m, g.k, true), spaced(g.m, g.k, true),
           Converted::to_primitive, 0};
    if (is_f32 && g.batch.empty() && !trans_b && walks_columns(g.n, g.m))
      b = {matrices(g, &BatchDim::b, g.k, g.n, false), spaced(g.k, g.n, false),
           Converted::to_primitive, 1};
    const memory::desc dy = matrices(g, &BatchDim::y, g.m, g.n, false),
                       da = a.argument().get_desc(),
                       db = b.argument().get_desc();
    y = view(dy);
    const std::vector<std::pair<int, dnnl::memory>> tensors = {
        {DNNL_ARG_SRC, a.argument()},
        {DNNL_ARG_WEIGHTS, b.argument()},
        {DNNL_ARG_DST, y}};
    dnnl::primitive_attr scaled = dnnl_attributes(), added = dnnl_attributes();
    if (alpha != 1.0f) {
      scaled.set_output_scales(0, {alpha});
      added.set_output_scales(0, {alpha});
    }
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    added.set_post_ops(sum);
    if (prefilled || g.loops() > 0) {
      dnnl::matmul::primitive_desc pd({da, db, dy}, added, dnnl_engine());
      more = Primitive(dnnl::matmul(pd), tensors);
    }
    if (prefilled)
      return;
    memory::desc dc;
    auto arguments = tensors;
    if (bias) {
      memory::dims shape(g.batch.size() - g.loops() + 1, 1);
      shape.push_back(g.n);
      dc = dense(shape, false);
      c = view(dc);
      arguments.push_back({DNNL_ARG_BIAS, c});
    }
    dnnl::matmul::primitive_desc pd({da, db, dc, dy}, scaled, dnnl_engine());
    first = Primitive(dnnl::matmul(pd), arguments);
  }

  static void check_addend(const Tensor &c, const Tensor &y) {
    expect_type(kernel, "c", c, DType::f32);
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

  void start_with(const Tensor &ty, const Tensor &tc) {
    const Nest<2> nest(ty.rank, ty.shape,
                       {ty.strides(), addend_strides(tc, ty.rank)});
    const Nest<2>::Offsets s = nest.inner_stride();
    const float *from = tc.as<float>();
    float *to = ty.as<float>();
    nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        to[at[0] + i * s[0]] = beta * from[at[1] + i * s[1]];
    });
  }

  /// The calls along batch dimension `d` and those after it. `again`: y has
  /// been written.
  void run(std::size_t d, char *pa, char *pb, float *py, bool again) {
    if (d == geometry.loops()) {
      a.point(pa);
      b.point(pb);
      y.set_data_handle(py);
      a.convert();
      b.convert();
      (again ? more : first)();
      return;
    }
    const BatchDim &dim = geometry.batch[d];
    const int64_t size = int64_t(factor_size);
    for (int64_t i = 0; i < dim.extent; ++i)
      run(d + 1, pa + i * dim.a * size, pb + i * dim.b * size, py + i * dim.y,
          again || (i > 0 && dim.y == 0));
  }
};

MatMul::MatMul(Context &, Tensors in, Tensors out, double alpha, double beta,
               int64_t trans_a, int64_t trans_b) try {
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &a = in.begin()[0], &b = in.begin()[1], &c = in.begin()[2],
               &y = out.begin()[0];
  expect_factors(kernel, "a", a, "b", b);
  expect_type(kernel, "y", y, DType::f32);
  for (const Tensor *t : {&a, &b, &y}) {
    expect_row_major(kernel, "operand or result", *t);
    expect(kernel, t->rank >= 2,
           "expected operands and result of rank 2 or more, found " +
               std::to_string(t->rank));
  }
  impl = std::make_unique<Impl>(a, b, c, y, float(alpha), float(beta),
                                trans_a != 0, trans_b != 0);
} catch (const dnnl::error &e) {
  dnnl_failed(kernel, e);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor &c = in.begin()[2], &y = out.begin()[0];
  if (impl->bias)
    point(impl->c, c);
  if (impl->prefilled)
    impl->start_with(y, c);
  const Tensor a = impl->factor_a.read(in.begin()[0]),
               b = impl->factor_b.read(in.begin()[1]);
  impl->run(0, a.as<char>(), b.as<char>(), y.as<float>(), impl->prefilled);
}

} // namespace ffrt
