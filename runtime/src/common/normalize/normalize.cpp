//===- normalize.cpp - operands of normalisations by kernel ---------------===//
#include "ffrt/normalize.h"

#include "common/kernels/check.h"
#include "common/normalize/normalize_geometry.h"

namespace ffrt {

using namespace normalization;

Normalization::Normalization(const char *kernel, Context &cx, Tensors in,
                             const Tensor &statistic, const Ints &axes,
                             double epsilon, const Ints &param_dims,
                             int64_t sample_groups, const Reals &clamp) {
  // The first operand is x or dy, which are alike.
  expect(kernel, in.size() > 0, "expected operands, found none");
  const Tensor &x = in.begin()[0];
  expect_float(kernel, "operand", x);
  geometry = std::make_shared<NormalizeGeometry>(
      kernel, x, statistic, axes, epsilon, param_dims, sample_groups, clamp);
  work = make_normalize_work(*geometry, cx, geometry->groups.part(x, 0));
}

/// Bounds of what is not computed again: where each statistic has one
/// parameter, that is simple.
static void expect_uncut(const NormalizeGeometry &g) {
  expect(g.kernel, !g.cuts || g.constant,
         "clamp: expected no bounds, or one parameter per statistic, found "
         "several");
}

NormalizeForward::NormalizeForward(Context &cx, Tensors in, Tensors out,
                                   const Ints &axes, const Reals &clamp,
                                   double epsilon, const Ints &param_dims,
                                   int64_t sample_groups)
    : Normalization("normalize forward", cx, in,
                    maybe(out, 1).data ? maybe(out, 1) : maybe(out, 2), axes,
                    epsilon, param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in, {kX, kScale, kBias, kAddend}, out,
                   {kY, kMean, kVar});
  expect_whole(*geometry, at(in, 0), axes);
}

NormalizeSum::NormalizeSum(Context &cx, Tensors in, Tensors out,
                           const Ints &axes, const Reals &clamp, double epsilon,
                           const Ints &param_dims, int64_t sample_groups)
    : Normalization("normalize sum", cx, in, maybe(out, 0), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in, {kX}, out, {kFirst});
}

NormalizeSquares::NormalizeSquares(Context &cx, Tensors in, Tensors out,
                                   const Ints &axes, const Reals &clamp,
                                   double epsilon, const Ints &param_dims,
                                   int64_t sample_groups)
    : Normalization("normalize squares", cx, in, maybe(in, 1), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in, {kX, kFirst}, out, {kSecond});
}

NormalizeApply::NormalizeApply(Context &cx, Tensors in, Tensors out,
                               const Ints &axes, const Reals &clamp,
                               double epsilon, const Ints &param_dims,
                               int64_t sample_groups)
    : Normalization("normalize apply", cx, in, maybe(in, 1), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in, {kX, kFirst, kSecond, kScale, kBias, kAddend},
                   out, {kY, kMean, kVar});
}

NormalizeBackward::NormalizeBackward(Context &cx, Tensors in, Tensors out,
                                     const Ints &axes, const Reals &clamp,
                                     double epsilon, const Ints &param_dims,
                                     int64_t sample_groups)
    : Normalization("normalize backward", cx, in, maybe(in, 2), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in,
                   {kDy, kX, kMean, kVar, kScale, kBias, kAddend}, out,
                   {kDx, kDscale, kDbias});
  expect_uncut(*geometry);
  expect_whole(*geometry, at(in, 0), axes);
}

NormalizeBackwardSums::NormalizeBackwardSums(Context &cx, Tensors in,
                                             Tensors out, const Ints &axes,
                                             const Reals &clamp, double epsilon,
                                             const Ints &param_dims,
                                             int64_t sample_groups)
    : Normalization("normalize backward sums", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, sample_groups, clamp) {
  expect_arguments(*geometry, in, {kDy, kX, kMean, kVar, kScale, kBias}, out,
                   {kFirst, kSecond, kDscale, kDbias});
  expect_uncut(*geometry);
}

NormalizeBackwardData::NormalizeBackwardData(Context &cx, Tensors in,
                                             Tensors out, const Ints &axes,
                                             const Reals &clamp, double epsilon,
                                             const Ints &param_dims,
                                             int64_t sample_groups)
    : Normalization("normalize backward data", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, sample_groups, clamp) {
  expect_arguments(
      *geometry, in,
      {kDy, kX, kMean, kVar, kScale, kBias, kFirst, kSecond, kAddend}, out,
      {kDx});
  expect_uncut(*geometry);
}

NormalizeChannelSums::NormalizeChannelSums(Context &cx, Tensors in, Tensors out,
                                           const Ints &axes, const Reals &clamp,
                                           double epsilon,
                                           const Ints &param_dims)
    : Normalization("normalize channel sums", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, /*sample_groups=*/1, clamp) {
  expect_arguments(*geometry, in, {kDy, kX, kMean, kVar, kScale, kBias}, out,
                   {kFirst, kSecond});
  expect_uncut(*geometry);
}

NormalizeChannelData::NormalizeChannelData(Context &cx, Tensors in, Tensors out,
                                           const Ints &axes, const Reals &clamp,
                                           double epsilon,
                                           const Ints &param_dims)
    : Normalization("normalize channel data", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, /*sample_groups=*/1, clamp) {
  expect_arguments(
      *geometry, in,
      {kDy, kX, kMean, kVar, kScale, kBias, kFirst, kSecond, kAddend}, out,
      {kDx, kDscale, kDbias});
  expect_uncut(*geometry);
  expect(geometry->kernel, geometry->statistics == geometry->parameters,
         "param_dims: expected one parameter per statistic");
}

} // namespace ffrt
