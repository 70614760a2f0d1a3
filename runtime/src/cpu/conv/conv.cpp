//===- conv.cpp - convolution on oneDNN -----------------------------------===//
#include "ffrt/conv.h"

#include "common/elementwise/cast.h"
#include "common/kernels/clamp.h"
#include "cpu/conv/conv_depthwise.h"
#include "cpu/conv/conv_dnnl.h"
#include "cpu/kernels/dnnl.h"
#include "ffrt/copy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

namespace ffrt {

namespace {

using dnnl::memory;

/// Slots of what is converted (see Converted).
enum { kWeights, kGradient, kImage };

/// y = clip(b), for tiles that lie in the padding.
template <class T>
void fill_bias(const Tensor &y, const Tensor &b, const fn::Clip &clip) {
  fill(y, clip(0.0f));
  if (!b.data)
    return;
  const Index s = y.strides();
  Index pixel = y.shape;
  pixel[1] = 1;
  const float *bias = b.as<float>();
  T *to = y.as<T>();
  const int64_t pixels = y.shape[1] ? y.elements() / y.shape[1] : 0;
  for (int64_t p = 0; p < pixels; ++p) {
    int64_t rest = p, offset = 0;
    for (int d = y.rank - 1; d >= 0; --d) {
      offset += rest % pixel[d] * s[d];
      rest /= pixel[d];
    }
    for (int64_t c = 0; c < y.shape[1]; ++c)
      to[offset + c * s[1]] = T(clip(bias[c]));
  }
}

dnnl::convolution_forward::primitive_desc
forward_desc(const ConvProblem &p, const memory::desc &x, const memory::desc &w,
             const memory::desc &b, const memory::desc &y,
             const dnnl::primitive_attr &attributes = dnnl_attributes()) {
  return {{dnnl::prop_kind::forward_training,
           dnnl::algorithm::convolution_direct, x, w, b, y, p.strides,
           dilations_of(p), p.pads_begin, p.pads_end},
          attributes,
          dnnl_engine()};
}

/// The forward primitive that one of the gradients belongs to: all tensors are
/// of the type of the operands.
dnnl::convolution_forward::primitive_desc
hint_for(const ConvProblem &p, memory::desc x, memory::desc w, memory::desc y,
         const memory::desc &operand) {
  for (memory::desc *desc : {&x, &w, &y})
    desc->data.data_type = operand.data.data_type;
  return forward_desc(p, x, w, {}, y);
}

/// Attributes by which a primitive clips what it computes.
dnnl::primitive_attr clipping(const fn::Clip &clip) {
  dnnl::post_ops after;
  append_clip(after, clip);
  dnnl::primitive_attr attributes = dnnl_attributes();
  attributes.set_post_ops(after);
  return attributes;
}

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

struct ConvForward::Impl {
  std::array<Operand, 2> operands;
  Result result;
  ConvProblem problem;
  fn::Clip clip;
  Part x, y;
  dnnl::memory bias;
  Converted weights;
  Primitive conv;

  Impl(const Tensor &tx, const Tensor &w, const Tensor &b, const Tensor &ty,
       const Reals &clamp, const ConvAttributes &attributes)
      : problem("conv forward", tx, w, ty, false, attributes),
        clip(clip_of("conv forward", clamp)), x(tx, problem.in),
        y(ty, problem.out) {
    if (problem.nothing)
      return;
    memory::desc bias_desc;
    if (b.data) {
      bias_desc = {{b.shape[0]}, memory::data_type::f32, memory::format_tag::a};
      bias = view(bias_desc);
    }
    auto pd = forward_desc(problem, x.desc(), weights_of(problem, w, true),
                           bias_desc, y.desc(),
                           clamp.empty() ? dnnl_attributes() : clipping(clip));
    weights = Converted(weights_of(problem, w, false), pd.weights_desc(),
                        Converted::to_primitive, kWeights);
    std::vector<std::pair<int, dnnl::memory>> arguments = {
        {DNNL_ARG_SRC, x.argument()},
        {DNNL_ARG_WEIGHTS, weights.argument()},
        {DNNL_ARG_DST, y.argument()}};
    if (b.data)
      arguments.push_back({DNNL_ARG_BIAS, bias});
    conv = Primitive(dnnl::convolution_forward(pd), arguments);
  }
};

ConvForward::ConvForward(Context &, Tensors in, Tensors out, const Reals &clamp,
                         const Ints &dilations, int64_t group, const Ints &pads,
                         const Ints &strides) try {
  const char *kernel = "conv forward";
  check_conv(kernel, {"x", "w", "b"}, in, "y", out);
  const Tensor &x = in.begin()[0];
  const Tensor &w = in.begin()[1], &y = out.begin()[0];
  const Operand image(x, 0), weights(w, 1);
  const Result result(y, image.form().type);
  impl = std::make_unique<Impl>(
      with_row(image.form()), with_row(weights.form()), in.begin()[2],
      with_row(result.form()), clamp,
      ConvAttributes(kernel, x, dilations, group, pads, strides));
  impl->operands = {image, weights};
  impl->result = result;
} catch (const dnnl::error &e) {
  dnnl_failed("conv forward", e);
}

ConvForward::~ConvForward() = default;

void ConvForward::operator()(Tensors in, Tensors out) {
  const Tensor &b = in.begin()[2];
  const Tensor &y = out.begin()[0];
  if (!impl->conv)
    return with_float(y.type, [&](auto *type) {
      fill_bias<std::remove_pointer_t<decltype(type)>>(y, b, impl->clip);
    });
  const Tensor x = with_row(impl->operands[0].read(in.begin()[0])),
               w = with_row(impl->operands[1].read(in.begin()[1]));
  impl->x.read(x);
  impl->y.prepare(with_row(impl->result.target(y)));
  if (b.data)
    point(impl->bias, b);
  impl->weights.point(w.data);
  impl->weights.convert();
  impl->conv();
  impl->result.round(y);
}

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

struct ConvBackwardData::Impl {
  std::array<Operand, 2> operands;
  Result result;
  ConvProblem problem;
  Part dy, dx;
  Converted weights;
  Primitive conv;
  std::optional<Depthwise> depthwise;

  Impl(const Tensor &tdy, const Tensor &w, const Tensor &tdx,
       const ConvAttributes &attributes)
      : problem("conv backward data", tdx, w, tdy, true, attributes),
        dy(tdy, problem.out), dx(tdx, problem.in) {
    if (problem.nothing)
      return;
    const memory::desc any = weights_of(problem, w, true);
    memory::desc image = dx.desc(), gradient = dy.desc();
    if (wants_blocks(problem, w, tdy))
      image.data.format_kind = gradient.data.format_kind = dnnl_format_kind_any;
    auto hint = hint_for(problem, image, any, gradient, gradient);
    dnnl::convolution_backward_data::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, image, any, gradient,
         problem.strides, dilations_of(problem), problem.pads_begin,
         problem.pads_end},
        dnnl_attributes(), dnnl_engine(), hint);
    if (Depthwise::fits(problem, tdx, w, tdy, pd.impl_info_str())) {
      depthwise.emplace(Depthwise::data, tdx, w, tdy, attributes);
      return;
    }
    dy.convert(pd.diff_dst_desc(), Converted::to_primitive, kGradient);
    dx.convert(pd.diff_src_desc(), Converted::from_primitive, kImage);
    weights = Converted(weights_of(problem, w, false), pd.weights_desc(),
                        Converted::to_primitive, kWeights);
    conv = Primitive(dnnl::convolution_backward_data(pd),
                     {{DNNL_ARG_DIFF_DST, dy.argument()},
                      {DNNL_ARG_WEIGHTS, weights.argument()},
                      {DNNL_ARG_DIFF_SRC, dx.argument()}});
  }
};

ConvBackwardData::ConvBackwardData(Context &, Tensors in, Tensors out,
                                   const Ints &dilations, int64_t group,
                                   const Ints &pads, const Ints &strides) try {
  const char *kernel = "conv backward data";
  check_conv(kernel, {"dy", "w"}, in, "dx", out);
  const Tensor &dx = out.begin()[0];
  const Tensor &dy = in.begin()[0], &w = in.begin()[1];
  // With bf16 and 1x1 kernels, oneDNN 2.6 takes channels two by two, and the
  // last one of an odd number with what lies behind it.
  const bool widen = dy.shape[1] % 2 != 0;
  const Operand gradient(dy, 0, widen), weights(w, 1, widen);
  const Result result(dx, gradient.form().type);
  impl = std::make_unique<Impl>(
      with_row(gradient.form()), with_row(weights.form()),
      with_row(result.form()),
      ConvAttributes(kernel, dx, dilations, group, pads, strides));
  impl->operands = {gradient, weights};
  impl->result = result;
} catch (const dnnl::error &e) {
  dnnl_failed("conv backward data", e);
}

ConvBackwardData::~ConvBackwardData() = default;

void ConvBackwardData::operator()(Tensors in, Tensors out) {
  const Tensor &given = out.begin()[0];
  const Tensor dx = with_row(impl->result.target(given));
  const Tensor dy = with_row(impl->operands[0].read(in.begin()[0])),
               w = with_row(impl->operands[1].read(in.begin()[1]));
  if (!impl->conv && !impl->depthwise)
    return fill(given, 0.0f);
  if (impl->depthwise) {
    impl->depthwise->data_gradient(dy, w, dx);
  } else {
    impl->dy.read(dy);
    impl->dx.prepare(dx);
    impl->weights.point(w.data);
    impl->weights.convert();
    impl->conv();
    impl->dx.write(dx);
  }
  impl->result.round(given);
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

struct ConvBackwardWeights::Impl {
  std::array<Operand, 2> operands;
  ConvProblem problem;
  Part x, dy;
  Converted weights;
  Primitive conv;
  std::optional<Depthwise> depthwise;

  Impl(const Tensor &tx, const Tensor &tdy, const Tensor &dw,
       const ConvAttributes &attributes)
      : problem("conv backward weights", tx, dw, tdy, false, attributes),
        x(tx, problem.in), dy(tdy, problem.out) {
    if (problem.nothing)
      return;
    const memory::desc any = weights_of(problem, dw, true);
    auto hint = hint_for(problem, x.desc(), any, dy.desc(), x.desc());
    dnnl::convolution_backward_weights::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, x.desc(), any, dy.desc(),
         problem.strides, dilations_of(problem), problem.pads_begin,
         problem.pads_end},
        dnnl_attributes(), dnnl_engine(), hint);
    if (Depthwise::fits(problem, tx, dw, tdy, pd.impl_info_str())) {
      depthwise.emplace(Depthwise::weights, tx, dw, tdy, attributes);
      return;
    }
    weights = Converted(weights_of(problem, dw, false), pd.diff_weights_desc(),
                        Converted::from_primitive, kWeights);
    conv = Primitive(dnnl::convolution_backward_weights(pd),
                     {{DNNL_ARG_SRC, x.argument()},
                      {DNNL_ARG_DIFF_DST, dy.argument()},
                      {DNNL_ARG_DIFF_WEIGHTS, weights.argument()}});
  }
};

ConvBackwardWeights::ConvBackwardWeights(Context &, Tensors in, Tensors out,
                                         const Ints &dilations, int64_t group,
                                         const Ints &pads,
                                         const Ints &strides) try {
  const char *kernel = "conv backward weights";
  check_conv(kernel, {"x", "dy"}, in, "dw", out, /*is_image=*/false);
  const Tensor &x = in.begin()[0];
  const Tensor &dy = in.begin()[1], &dw = out.begin()[0];
  // With bf16 and strides, oneDNN 2.6 adds up what nobody wrote.
  const bool widen = std::any_of(strides.begin(), strides.end(),
                                 [](int64_t stride) { return stride > 1; });
  const Operand image(x, 0, widen), gradient(dy, 1, widen);
  impl = std::make_unique<Impl>(
      with_row(image.form()), with_row(gradient.form()), with_row(dw),
      ConvAttributes(kernel, x, dilations, group, pads, strides));
  impl->operands = {image, gradient};
} catch (const dnnl::error &e) {
  dnnl_failed("conv backward weights", e);
}

ConvBackwardWeights::~ConvBackwardWeights() = default;

void ConvBackwardWeights::operator()(Tensors in, Tensors out) {
  const Tensor x = with_row(impl->operands[0].read(in.begin()[0])),
               dy = with_row(impl->operands[1].read(in.begin()[1]));
  const Tensor dw = with_row(out.begin()[0]);
  if (impl->depthwise)
    return impl->depthwise->weight_gradient(x, dy, dw);
  if (!impl->conv)
    return fill(dw, 0.0f);
  impl->x.read(x);
  impl->dy.read(dy);
  impl->weights.point(dw.data);
  impl->conv();
  impl->weights.convert();
}

} // namespace ffrt
