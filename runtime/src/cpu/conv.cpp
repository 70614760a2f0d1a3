//===- conv.cpp - two-dimensional convolution -----------------------------===//
#include "ffrt/conv.h"

#include "common/check.h"
#include "cpu/conv_geometry.h"
#include "cpu/dnnl.h"
#include "ffrt/copy.h"

#include <cstring>

namespace ffrt {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

Rows rows_of(const Tensor &t, int axis) {
  return {t.lo[axis + 2], t.lo[axis + 2] + t.shape[axis + 2]};
}

/// A part of an activation that oneDNN can work on: the tensor itself, or a
/// copy when the part is smaller than the tensor.
class Part {
public:
  Part(const Tensor &whole, Rows rows, Rows columns) {
    part = whole;
    at[2] = rows.begin - whole.lo[2];
    at[3] = columns.begin - whole.lo[3];
    part.shape[2] = rows.size();
    part.shape[3] = columns.size();
    same = part.shape[2] == whole.shape[2] && part.shape[3] == whole.shape[3];
    if (!same) {
      scratch.resize(std::size_t(part.elements()));
      part.data = scratch.data();
    }
    data = view(desc());
  }
  bool is_whole() const { return same; }
  memory::desc desc() const {
    return {{part.shape[0], part.shape[1], part.shape[2], part.shape[3]},
            memory::data_type::f32,
            part.order == Order::channels_last ? Tag::nhwc : Tag::nchw};
  }
  void read(const Tensor &whole) {
    if (!same)
      copy(part, {}, whole, at, part.shape);
    point(data, same ? whole : part);
  }
  void prepare(const Tensor &whole) { point(data, same ? whole : part); }
  /// After the part was computed: the rest of the tensor is zero.
  void write(const Tensor &whole) {
    if (same)
      return;
    fill(whole, 0.0f);
    copy(whole, at, part, {}, part.shape);
  }
  dnnl::memory data;

private:
  Tensor part;
  Index at;
  bool same;
  std::vector<float> scratch;
};

/// What the three kernels have in common: checks and local geometry.
struct Geometry {
  int64_t groups;
  memory::dims strides, dilations, pads_begin, pads_end;
  AxisPlan plan[2];
  bool nothing; ///< no window meets the tile's input

  Geometry(const char *kernel, const Tensor &x, const Tensor &w,
           const Tensor &y, bool backward, const Ints &dilation, int64_t group,
           const Ints &pads, const Ints &stride) {
    expect_length(kernel, "dilations", dilation, 2);
    expect_length(kernel, "pads", pads, 4);
    expect_length(kernel, "strides", stride, 2);
    expect_type(kernel, "x", x, DType::f32);
    expect_type(kernel, "w", w, DType::f32);
    expect_type(kernel, "y", y, DType::f32);
    expect_rank(kernel, "x", x, 4);
    expect_rank(kernel, "w", w, 4);
    expect_rank(kernel, "y", y, 4);
    expect_row_major(kernel, "w", w);
    nothing = x.elements() == 0 || y.elements() == 0 || w.elements() == 0;
    groups = 1;
    if (!nothing) {
      groups = x.shape[1] / w.shape[1];
      expect(kernel,
             groups >= 1 && groups <= group &&
                 groups * w.shape[1] == x.shape[1],
             "x: expected a multiple of " + std::to_string(w.shape[1]) +
                 " channels and at most " + std::to_string(group) +
                 " groups, found " + std::to_string(x.shape[1]) + " channels");
      expect(kernel, w.shape[0] == y.shape[1] && w.shape[0] % groups == 0,
             "y: expected " + std::to_string(w.shape[0]) +
                 " channels, a multiple of " + std::to_string(groups) +
                 " groups, found " + std::to_string(y.shape[1]));
    }
    for (int i = 0; i < 2; ++i) {
      ConvAxis axis{w.shape[i + 2], stride[i], dilation[i], pads[i]};
      plan[i] = (backward ? plan_backward : plan_forward)(axis, rows_of(x, i),
                                                          rows_of(y, i));
      nothing |= plan[i].in.empty() || plan[i].out.empty();
      strides.push_back(stride[i]);
      dilations.push_back(dilation[i] - 1);
      pads_begin.push_back(plan[i].pad_begin);
      pads_end.push_back(plan[i].pad_end);
    }
  }

  /// The layout of the weights' tensor, or with Tag::any a free one.
  memory::desc weights(const Tensor &w, bool any) const {
    memory::dims dims = {w.shape[0], w.shape[1], w.shape[2], w.shape[3]};
    if (groups > 1) {
      dims[0] /= groups;
      dims.insert(dims.begin(), groups);
    }
    Tag plain = groups > 1 ? Tag::goihw : Tag::oihw;
    return {dims, memory::data_type::f32, any ? Tag::any : plain};
  }
};

/// y = b, for tiles that lie in the padding.
void fill_bias(const Tensor &y, const Tensor &b) {
  fill(y, 0.0f);
  if (!b.data)
    return;
  const Index s = y.strides();
  for (int64_t n = 0; n < y.shape[0]; ++n)
    for (int64_t c = 0; c < y.shape[1]; ++c)
      for (int64_t h = 0; h < y.shape[2]; ++h)
        for (int64_t w = 0; w < y.shape[3]; ++w)
          y.as<float>()[n * s[0] + c * s[1] + h * s[2] + w * s[3]] =
              b.as<float>()[c];
}

dnnl::convolution_forward::primitive_desc
forward_desc(const Geometry &g, const memory::desc &x, const memory::desc &w,
             const memory::desc &b, const memory::desc &y) {
  return {{dnnl::prop_kind::forward_training,
           dnnl::algorithm::convolution_direct, x, w, b, y, g.strides,
           g.dilations, g.pads_begin, g.pads_end},
          dnnl_engine()};
}

} // namespace

struct Conv2dForward::Impl {
  Geometry g;
  Part x, y;
  dnnl::memory bias;
  Converted weights;
  Primitive conv;

  Impl(Tensors in, Tensors out, const Ints &dilations, int64_t group,
       const Ints &pads, const Ints &strides)
      : g("conv2d forward", in.begin()[0], in.begin()[1], out.begin()[0], false,
          dilations, group, pads, strides),
        x(in.begin()[0], g.plan[0].in, g.plan[1].in),
        y(out.begin()[0], g.plan[0].out, g.plan[1].out) {
    const Tensor &w = in.begin()[1], &b = in.begin()[2];
    if (b.data) {
      expect_type("conv2d forward", "b", b, DType::f32);
      expect_rank("conv2d forward", "b", b, 1);
    }
    if (g.nothing)
      return;
    memory::desc bias_desc;
    if (b.data) {
      bias_desc = {{b.shape[0]}, memory::data_type::f32, Tag::a};
      bias = view(bias_desc);
    }
    auto pd =
        forward_desc(g, x.desc(), g.weights(w, true), bias_desc, y.desc());
    weights = Converted(g.weights(w, false), pd.weights_desc(),
                        Converted::to_primitive);
    std::vector<std::pair<int, dnnl::memory>> arguments = {
        {DNNL_ARG_SRC, x.data},
        {DNNL_ARG_WEIGHTS, weights.argument()},
        {DNNL_ARG_DST, y.data}};
    if (b.data)
      arguments.push_back({DNNL_ARG_BIAS, bias});
    conv = Primitive(dnnl::convolution_forward(pd), arguments);
  }
};

Conv2dForward::Conv2dForward(Context &, Tensors in, Tensors out,
                             const Ints &dilations, int64_t group,
                             const Ints &pads, const Ints &strides) try {
  expect_count("conv2d forward", "operands", in.size(), 3);
  expect_count("conv2d forward", "results", out.size(), 1);
  impl = std::make_unique<Impl>(in, out, dilations, group, pads, strides);
} catch (const dnnl::error &e) {
  dnnl_failed("conv2d forward", e);
}

Conv2dForward::~Conv2dForward() = default;

void Conv2dForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &w = in.begin()[1], &b = in.begin()[2],
               &y = out.begin()[0];
  if (!impl->conv)
    return fill_bias(y, b);
  impl->x.read(x);
  impl->y.prepare(y);
  if (b.data)
    point(impl->bias, b);
  impl->weights.point(w);
  impl->weights.convert();
  impl->conv();
}

struct Conv2dBackwardData::Impl {
  Geometry g;
  Part dy, dx;
  Converted weights;
  Primitive conv;

  Impl(Tensors in, Tensors out, const Ints &dilations, int64_t group,
       const Ints &pads, const Ints &strides)
      : g("conv2d backward data", out.begin()[0], in.begin()[1], in.begin()[0],
          true, dilations, group, pads, strides),
        dy(in.begin()[0], g.plan[0].out, g.plan[1].out),
        dx(out.begin()[0], g.plan[0].in, g.plan[1].in) {
    if (g.nothing)
      return;
    const Tensor &w = in.begin()[1];
    auto hint = forward_desc(g, dx.desc(), g.weights(w, true), {}, dy.desc());
    dnnl::convolution_backward_data::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, dx.desc(), g.weights(w, true),
         dy.desc(), g.strides, g.dilations, g.pads_begin, g.pads_end},
        dnnl_engine(), hint);
    weights = Converted(g.weights(w, false), pd.weights_desc(),
                        Converted::to_primitive);
    conv = Primitive(dnnl::convolution_backward_data(pd),
                     {{DNNL_ARG_DIFF_DST, dy.data},
                      {DNNL_ARG_WEIGHTS, weights.argument()},
                      {DNNL_ARG_DIFF_SRC, dx.data}});
  }
};

Conv2dBackwardData::Conv2dBackwardData(Context &, Tensors in, Tensors out,
                                       const Ints &dilations, int64_t group,
                                       const Ints &pads,
                                       const Ints &strides) try {
  expect_count("conv2d backward data", "operands", in.size(), 2);
  expect_count("conv2d backward data", "results", out.size(), 1);
  impl = std::make_unique<Impl>(in, out, dilations, group, pads, strides);
} catch (const dnnl::error &e) {
  dnnl_failed("conv2d backward data", e);
}

Conv2dBackwardData::~Conv2dBackwardData() = default;

void Conv2dBackwardData::operator()(Tensors in, Tensors out) {
  const Tensor &dx = out.begin()[0];
  if (!impl->conv)
    return fill(dx, 0.0f);
  impl->dy.read(in.begin()[0]);
  impl->dx.prepare(dx);
  impl->weights.point(in.begin()[1]);
  impl->weights.convert();
  impl->conv();
  impl->dx.write(dx);
}

struct Conv2dBackwardWeights::Impl {
  Geometry g;
  Part x, dy;
  Converted weights;
  Primitive conv;

  Impl(Tensors in, Tensors out, const Ints &dilations, int64_t group,
       const Ints &pads, const Ints &strides)
      : g("conv2d backward weights", in.begin()[0], out.begin()[0],
          in.begin()[1], false, dilations, group, pads, strides),
        x(in.begin()[0], g.plan[0].in, g.plan[1].in),
        dy(in.begin()[1], g.plan[0].out, g.plan[1].out) {
    if (g.nothing)
      return;
    const Tensor &dw = out.begin()[0];
    auto hint = forward_desc(g, x.desc(), g.weights(dw, true), {}, dy.desc());
    dnnl::convolution_backward_weights::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, x.desc(), g.weights(dw, true),
         dy.desc(), g.strides, g.dilations, g.pads_begin, g.pads_end},
        dnnl_engine(), hint);
    weights = Converted(g.weights(dw, false), pd.diff_weights_desc(),
                        Converted::from_primitive);
    conv = Primitive(dnnl::convolution_backward_weights(pd),
                     {{DNNL_ARG_SRC, x.data},
                      {DNNL_ARG_DIFF_DST, dy.data},
                      {DNNL_ARG_DIFF_WEIGHTS, weights.argument()}});
  }
};

Conv2dBackwardWeights::Conv2dBackwardWeights(Context &, Tensors in, Tensors out,
                                             const Ints &dilations,
                                             int64_t group, const Ints &pads,
                                             const Ints &strides) try {
  expect_count("conv2d backward weights", "operands", in.size(), 2);
  expect_count("conv2d backward weights", "results", out.size(), 1);
  impl = std::make_unique<Impl>(in, out, dilations, group, pads, strides);
} catch (const dnnl::error &e) {
  dnnl_failed("conv2d backward weights", e);
}

Conv2dBackwardWeights::~Conv2dBackwardWeights() = default;

void Conv2dBackwardWeights::operator()(Tensors in, Tensors out) {
  const Tensor &dw = out.begin()[0];
  if (!impl->conv)
    return fill(dw, 0.0f);
  impl->x.read(in.begin()[0]);
  impl->dy.read(in.begin()[1]);
  impl->weights.point(dw);
  impl->conv();
  impl->weights.convert();
}

} // namespace ffrt
