//===- optimizer.cpp - operands of parameter updates ----------------------===//
#include "ffrt/optimizer.h"

#include "common/device/target.h"
#include "common/elementwise/cast.h"
#include "common/kernels/check.h"
#include "common/optimizer/optimizer.h"
#include "ffrt/error.h"

namespace ffrt {

UpdateRates Context::rates_of(const void *parameter) const {
  if (own_rates.empty() || !parameter)
    return {1, weight_decay};
  const auto own = own_rates.find(parameter);
  if (own == own_rates.end())
    throw Error("update: expected a parameter that --group knows of, found "
                "another; this is a fault of ffc");
  return own->second;
}

namespace {

void check_like(const char *kernel, const char *name, const Tensor &t,
                const Tensor &like) {
  expect_type(kernel, name, t, kReal);
  expect_same_shape(kernel, name, t, like);
  expect_same_order(kernel, name, t, like);
}

} // namespace

void check_update_scale(const char *kernel, const Tensor &scale) {
  if (!scale.data)
    return;
  expect_type(kernel, "scale", scale, kReal);
  expect(kernel, scale.elements() == (scale.rank == 0 ? 1 : 2),
         "scale: expected rank 0 or 2 elements, found shape " +
             to_string(scale.rank, scale.shape));
}

namespace {

/// Operands w, g, scale and `slots` slots.
void check_operands(const char *kernel, Tensors in, std::size_t slots) {
  expect_count(kernel, "operands", in.size(), 3 + slots);
  const Tensor &w = in.begin()[0];
  expect_type(kernel, "w", w, kReal);
  check_like(kernel, "g", in.begin()[1], w);
  check_update_scale(kernel, in.begin()[2]);
  for (std::size_t i = 0; i < slots; ++i) {
    const Tensor &slot = in.begin()[3 + i];
    expect(kernel, slot.type == kReal || slot.type == DType::bf16,
           std::string("slot: expected type ") + name_of(kReal) +
               " or bf16, found " + name_of(slot.type));
    expect_type(kernel, "slot", slot, in.begin()[3].type);
    expect_same_shape(kernel, "slot", slot, w);
    expect_same_order(kernel, "slot", slot, w);
  }
}

/// Results where the operand or slots are: those from number `first` on.
void check_in_place(const char *kernel, Tensors in, Tensors out,
                    std::size_t first, std::size_t slots) {
  for (std::size_t i = first; i < 1 + slots; ++i)
    expect(kernel,
           out.begin()[i - first].data == in.begin()[i == 0 ? 0 : 2 + i].data,
           "expected the results in place of w and the slots, found other "
           "buffers");
}

/// Result number `rounded`, if there is one.
void check_rounded(const char *kernel, Tensors in, Tensors out,
                   std::size_t rounded) {
  if (out.size() <= rounded)
    return expect_count(kernel, "results", out.size(), rounded);
  expect_count(kernel, "results", out.size(), rounded + 1);
  const Tensor &w = in.begin()[0], &copy = out.begin()[rounded];
  expect(kernel, is_low_precision(copy.type),
         std::string("rounded: expected type bf16 or f16, found ") +
             name_of(copy.type));
  expect_same_shape(kernel, "rounded", copy, w);
  expect_same_order(kernel, "rounded", copy, w);
}

void check_update(const char *kernel, Tensors in, Tensors out,
                  std::size_t slots) {
  check_operands(kernel, in, slots);
  check_rounded(kernel, in, out, 1 + slots);
  check_in_place(kernel, in, out, 0, slots);
}

} // namespace

SgdUpdate::SgdUpdate(Context &cx, Tensors in, Tensors out, double momentum,
                     int64_t nesterov)
    : cx(cx), momentum(Real(momentum)), nesterov(nesterov != 0) {
  check_update("sgd update", in, out, in.size() > 3 ? 1 : 0);
}

AdamUpdate::AdamUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                       double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  check_update("adam update", in, out, 2);
}

AdamwUpdate::AdamwUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                         double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  check_update("adamw update", in, out, 2);
}

HfAdamwUpdate::HfAdamwUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                             double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  check_update("hf adamw update", in, out, 2);
}

LionUpdate::LionUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                       double beta2)
    : cx(cx), beta1(Real(beta1)), beta2(Real(beta2)) {
  check_update("lion update", in, out, 1);
}

EmaUpdate::EmaUpdate(Context &cx, Tensors in, Tensors out, double decay)
    : cx(cx), decay(Real(decay)) {
  check_update("ema update", in, out, 0);
}

AdagradUpdate::AdagradUpdate(Context &cx, Tensors in, Tensors out,
                             double epsilon)
    : cx(cx), epsilon(Real(epsilon)) {
  check_update("adagrad update", in, out, 1);
}

RmspropUpdate::RmspropUpdate(Context &cx, Tensors in, Tensors out, double alpha,
                             double epsilon, double momentum)
    : cx(cx), alpha(Real(alpha)), epsilon(Real(epsilon)),
      momentum(Real(momentum)) {
  check_update("rmsprop update", in, out, in.size() > 4 ? 2 : 1);
}

LambDirection::LambDirection(Context &cx, Tensors in, Tensors out, double beta1,
                             double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  const char *kernel = "lamb direction";
  check_operands(kernel, in, 2);
  expect_count(kernel, "results", out.size(), 4);
  check_in_place(kernel, in, out, 1, 2);
  check_like(kernel, "r", out.begin()[2], in.begin()[0]);
  expect(kernel, out.begin()[3].elements() == 2,
         "norms: expected 2 elements, found " +
             std::to_string(out.begin()[3].elements()));
  partial = allocate(std::size_t(2 * sum_blocks(in.begin()[0].elements())) *
                     sizeof(double));
}

LambUpdate::LambUpdate(Context &cx, Tensors in, Tensors out, double, double,
                       double)
    : cx(cx) {
  const char *kernel = "lamb update";
  expect_count(kernel, "operands", in.size(), 3);
  check_rounded(kernel, in, out, 1);
  const Tensor &w = in.begin()[0];
  expect_type(kernel, "w", w, kReal);
  check_like(kernel, "r", in.begin()[1], w);
  expect(kernel, in.begin()[2].elements() == 2,
         "norms: expected 2 elements, found " +
             std::to_string(in.begin()[2].elements()));
  expect(kernel, out.begin()[0].data == w.data,
         "expected the result in place of w, found another buffer");
}

SquareSum::SquareSum(Context &, Tensors in, Tensors out) {
  const char *kernel = "square sum";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  expect_type(kernel, "x", *in.begin(), kReal);
  expect_type(kernel, "sum", *out.begin(), kReal);
  expect_rank(kernel, "sum", *out.begin(), 0);
  partial = allocate(std::size_t(sum_blocks(in.begin()->elements())) *
                     sizeof(double));
}

ClipScale::ClipScale(Context &, Tensors in, Tensors out, double max_norm)
    : max_norm(max_norm) {
  const char *kernel = "clip scale";
  expect_count(kernel, "results", out.size(), 1);
  for (const Tensor &sum : in) {
    expect_type(kernel, "operand", sum, kReal);
    expect_rank(kernel, "operand", sum, 0);
  }
  expect_type(kernel, "scale", *out.begin(), kReal);
}

LossScale::LossScale(Context &, Tensors in, Tensors out, int64_t interval,
                     double least, double max_norm, double most)
    : interval(interval), least(least), max_norm(max_norm), most(most) {
  const char *kernel = "loss scale";
  expect(kernel, in.size() > 3,
         "expected scale, good, skipped and sums, found " +
             std::to_string(in.size()) + " operands");
  expect_count(kernel, "results", out.size(), 4);
  for (const Tensor &operand : in) {
    expect_type(kernel, "operand", operand, kReal);
    expect_rank(kernel, "operand", operand, 0);
  }
  expect_type(kernel, "factor", out.begin()[0], kReal);
  expect(kernel, out.begin()[0].elements() == 2,
         "factor: expected 2 elements, found " +
             std::to_string(out.begin()[0].elements()));
  for (int i = 0; i < 3; ++i)
    expect(kernel, out.begin()[1 + i].data == in.begin()[i].data,
           "expected the results in place of scale, good and skipped, found "
           "other buffers");
}

} // namespace ffrt
