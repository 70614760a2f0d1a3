//===- matmul.cpp - matrix product ----------------------------------------===//
//
// One call of oneDNN's matmul on the tensors as they lie: plain layouts run at
// the speed of the layouts that oneDNN would choose (105-115 GFLOP/s on a core
// of 120), also transposed, batched and broadcast. Only where rows meet in the
// cache is a copy faster (walks_columns()). Dimensions of the batch that y
// lacks are a loop of calls that add up; the addend and the bounds then come
// after them. The operands may be bf16, and then so may y.
//
//===----------------------------------------------------------------------===//
#include "ffrt/matmul.h"

#include "common/kernels/clamp.h"
#include "common/kernels/nest.h"
#include "common/matmul/matmul_geometry.h"
#include "cpu/kernels/dnnl.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

namespace {

using dnnl::memory;

constexpr const char *kernel = "matmul";
/// Elements that are worth a second thread.
constexpr int64_t kFinishGrain = 16384;

using Geometry = MatMulGeometry;

/// Matrices one after the other, transposed in memory if `transposed`, where a
/// row begins `pitch` elements after the one before.
memory::desc matrices(memory::dims shape, bool transposed, int64_t pitch,
                      memory::data_type type = memory::data_type::f32) {
  const std::size_t rank = shape.size();
  memory::dims strides(rank, 1);
  int64_t size = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t d = rank - 1 - (transposed && i < 2 ? 1 - i : i);
    strides[d] = size;
    size *= i == 0 ? pitch : shape[d];
  }
  return {shape, type, strides};
}

/// The matrices of one call; `stride` chooses the operand. An operand that
/// lacks a batch dimension has extent 1 there.
memory::desc matrices(const Geometry &g, int64_t BatchDim::*stride,
                      int64_t rows, int64_t columns, bool transposed,
                      int64_t pitch, memory::data_type type) {
  memory::dims shape;
  for (std::size_t d = g.loops(); d < g.batch.size(); ++d)
    shape.push_back(g.batch[d].*stride ? g.batch[d].extent : 1);
  shape.insert(shape.end(), {rows, columns});
  return matrices(shape, transposed, pitch, type);
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

} // namespace

struct MatMul::Impl {
  Operand operand_a, operand_b, operand_c;
  Result result;
  Geometry geometry;
  Converted a, b;
  dnnl::memory c, y, addend;
  Primitive first, more;    ///< y = product, y += product
  bool bias = false;        ///< c is added by oneDNN, as a row vector
  bool prefilled;           ///< y starts as beta * c
  bool accumulates;         ///< y starts as it is
  std::size_t operand_size; ///< of an element of a and b
  float beta;
  fn::Clip clip;
  bool finishes; ///< addend and bounds come after all calls, not in one

  Impl(const Tensor &ta, const Tensor &tb, const Tensor &tc,
       const Tensor &taddend, const Tensor &ty, float alpha, float beta,
       const Reals &clamp, bool trans_a, bool trans_b)
      : operand_a(ta, 0), operand_b(tb, 1), operand_c(tc, 2, true),
        result(ty, operand_a.form().type),
        geometry(ta, tb, ty, trans_a, trans_b), accumulates(ty.accumulates),
        beta(beta), clip(clip_of(kernel, clamp)),
        finishes((!clamp.empty() || taddend.data) && geometry.loops() > 0) {
    const Geometry &g = geometry;
    check_addends(g, {ta, tb, tc, taddend}, ty, alpha, beta);
    bias = tc.data && is_row(tc, g.n) && alpha == 1.0f && beta == 1.0f;
    prefilled = tc.data && !bias;
    const DType operand_type = operand_a.form().type;
    const memory::data_type type = data_type(operand_type);
    const bool is_f32 = operand_type == DType::f32;
    operand_size = size_of(operand_type);
    const memory::desc plain_a = matrices(g, &BatchDim::a, g.m, g.k, trans_a,
                                          g.pitch_a, type),
                       plain_b = matrices(g, &BatchDim::b, g.k, g.n, trans_b,
                                          g.pitch_b, type);
    a = Converted(plain_a);
    b = Converted(plain_b);
    if (is_f32 && g.batch.empty() && trans_a && walks_columns(g.pitch_a, g.n))
      a = {plain_a, spaced(g.m, g.k, true), Converted::to_primitive, 0};
    if (is_f32 && g.batch.empty() && !trans_b && walks_columns(g.pitch_b, g.m))
      b = {plain_b, spaced(g.k, g.n, false), Converted::to_primitive, 1};
    const memory::desc dy = matrices(g, &BatchDim::y, g.m, g.n, false,
                                     g.pitch_y, data_type(result.form().type)),
                       da = a.argument().get_desc(),
                       db = b.argument().get_desc();
    y = view(dy);
    auto tensors = [&](bool adds) {
      std::vector<std::pair<int, dnnl::memory>> result = {
          {DNNL_ARG_SRC, a.argument()},
          {DNNL_ARG_WEIGHTS, b.argument()},
          {DNNL_ARG_DST, y}};
      if (addend)
        result.push_back(
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(adds) | DNNL_ARG_SRC_1, addend});
      return result;
    };
    if (taddend.data && !finishes)
      addend = view(dy);
    auto attributes = [&](bool adds) {
      dnnl::primitive_attr result = dnnl_attributes();
      if (alpha != 1.0f)
        result.set_output_scales(0, {alpha});
      dnnl::post_ops after;
      if (adds)
        after.append_sum(1.0f);
      if (addend)
        after.append_binary(dnnl::algorithm::binary_add, dy);
      if (!clamp.empty() && !finishes)
        append_clip(after, clip);
      result.set_post_ops(after);
      return result;
    };
    if (prefilled || accumulates || g.loops() > 0) {
      dnnl::matmul::primitive_desc pd({da, db, dy}, attributes(true),
                                      dnnl_engine());
      more = Primitive(dnnl::matmul(pd), tensors(true));
    }
    if (prefilled || accumulates)
      return;
    memory::desc dc;
    auto arguments = tensors(false);
    if (bias) {
      memory::dims shape(g.batch.size() - g.loops() + 1, 1);
      shape.push_back(g.n);
      dc = matrices(shape, false, g.n);
      c = view(dc);
      arguments.push_back({DNNL_ARG_BIAS, c});
    }
    dnnl::matmul::primitive_desc pd({da, db, dc, dy}, attributes(false),
                                    dnnl_engine());
    first = Primitive(dnnl::matmul(pd), arguments);
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

  /// y = clip(y + addend)
  void finish(const Tensor &ty, const Tensor &taddend) const {
    float *to = ty.as<float>();
    const float *more = taddend.as<float>();
    parallel_for(ty.elements(), kFinishGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = clip(more ? to[i] + more[i] : to[i]);
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
    const int64_t size = int64_t(operand_size);
    for (int64_t i = 0; i < dim.extent; ++i)
      run(d + 1, pa + i * dim.a * size, pb + i * dim.b * size, py + i * dim.y,
          again || (i > 0 && dim.y == 0));
  }
};

MatMul::MatMul(Context &, Tensors in, Tensors out, double alpha, double beta,
               const Reals &clamp, int64_t trans_a, int64_t trans_b) try {
  check_matmul(in, out);
  impl = std::make_unique<Impl>(in.begin()[0], in.begin()[1], in.begin()[2],
                                in.begin()[3], out.begin()[0], float(alpha),
                                float(beta), clamp, trans_a != 0, trans_b != 0);
} catch (const dnnl::error &e) {
  dnnl_failed(kernel, e);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor &addend = in.begin()[3];
  const Tensor c = impl->operand_c.read(in.begin()[2]),
               y = impl->result.target(out.begin()[0]);
  if (impl->bias)
    point(impl->c, c);
  if (impl->addend)
    point(impl->addend, addend);
  if (impl->prefilled)
    impl->start_with(y, c);
  const Tensor a = impl->operand_a.read(in.begin()[0]),
               b = impl->operand_b.read(in.begin()[1]);
  impl->run(0, a.as<char>(), b.as<char>(), y.as<float>(),
            impl->prefilled || impl->accumulates);
  if (impl->finishes)
    impl->finish(y, addend);
  impl->result.round(out.begin()[0]);
}

} // namespace ffrt
