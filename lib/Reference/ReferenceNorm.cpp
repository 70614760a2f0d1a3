//===- ReferenceNorm.cpp - meaning of normalisations and softmax ----------===//
//
// A statistic, or an internal tensor of softmax, has x's dimensions without
// `axes`, after the group of samples if there are such; a parameter has the
// dimensions `param_dims`.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using Index = ArrayRef<int64_t>;

namespace {
/// A call whose arguments are looked up once, not for every element.
struct Call : ReferenceCall {
  /// Groups of samples, which then lead the iteration space; 0 without.
  int64_t groups;
  ArrayRef<int64_t> axes, paramDims;
  ArrayRef<double> clamp;

  explicit Call(const ReferenceCall &call)
      : ReferenceCall(call),
        groups(args.contains("sample_groups") ? i64("sample_groups") : 0),
        axes(ints("axes")) {
    if (args.contains("param_dims"))
      paramDims = ints("param_dims");
    if (args.contains(kClampArg))
      clamp = reals(kClampArg);
  }
};
} // namespace

/// Calls f(index in x) for the elements of the tile.
template <class Function>
static void forEachElement(const Call &call, Function f) {
  if (call.groups == 0)
    return forEachIndex(call.tile, f);
  int64_t within = call.ins[0].global()[0] / call.groups;
  forEachIndex(call.tile, [&](Index t) {
    llvm::SmallVector<int64_t> i(t.drop_front());
    i[0] += t[0] * within;
    f(i);
  });
}

/// Index of the statistic that element `i` of x belongs to.
static llvm::SmallVector<int64_t> keptOf(const Call &call, Index i) {
  llvm::SmallVector<int64_t> kept;
  if (call.groups)
    kept.push_back(i[0] / (call.ins[0].global()[0] / call.groups));
  for (int64_t d = 0; d < static_cast<int64_t>(i.size()); ++d)
    if (!llvm::is_contained(call.axes, d))
      kept.push_back(i[d]);
  return kept;
}

static double &statisticAt(const Call &call, const View &view, Index i) {
  return view.at(keptOf(call, i));
}

/// The parameter of element `i` of x, or `missing`.
static double parameterAt(const Call &call, const View &view, Index i,
                          double missing) {
  if (!view.present())
    return missing;
  llvm::SmallVector<int64_t> own;
  for (int64_t d : call.paramDims)
    own.push_back(i[d]);
  return view.at(own);
}

static void fill(const View &view, double value) {
  for (const plan::Region::Piece &piece : view.region().pieces())
    forEachIndex(piece.box, [&](Index i) { view.at(i) = value; });
}

/// view[statistic of i] = sum of f(i) over the tile.
template <class Function>
static void sumStatistic(const Call &call, const View &view, Function f) {
  fill(view, 0);
  forEachElement(call, [&](Index i) { statisticAt(call, view, i) += f(i); });
}

/// The same for parameters; a result that nobody uses is absent.
template <class Function>
static void sumParameter(const Call &call, const View &view, Function f) {
  if (!view.present())
    return;
  fill(view, 0);
  forEachElement(call, [&](Index i) {
    llvm::SmallVector<int64_t> own;
    for (int64_t d : call.paramDims)
      own.push_back(i[d]);
    view.at(own) += f(i);
  });
}

/// Number of elements of the global tensor that share a statistic.
static double countOf(const Call &call) {
  double count = 1;
  for (int64_t axis : call.axes)
    count *= static_cast<double>(call.ins[0].global()[axis]);
  return call.groups ? count / static_cast<double>(call.groups) : count;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

static void normalizeSum(const Call &call) {
  sumStatistic(call, call.outs[0], [&](Index i) { return call.ins[0].at(i); });
}

static void squaresAround(const Call &call, const View &sums,
                          const View &squares) {
  double count = countOf(call);
  sumStatistic(call, squares, [&](Index i) {
    double centred = call.ins[0].at(i) - statisticAt(call, sums, i) / count;
    return centred * centred;
  });
}

static void normalizeSquares(const Call &call) {
  squaresAround(call, call.ins[1], call.outs[0]);
}

static void apply(const Call &call, const View &sums, const View &squares,
                  const View &scale, const View &bias, const View &addend) {
  double count = countOf(call), epsilon = call.f64("epsilon");
  const View &y = call.outs[0], &mean = call.outs[1], &var = call.outs[2];
  forEachElement(call, [&](Index i) {
    double m = statisticAt(call, sums, i) / count;
    double v = statisticAt(call, squares, i) / count;
    if (y.present())
      y.at(i) = call.clamped((call.ins[0].at(i) - m) / std::sqrt(v + epsilon) *
                                 parameterAt(call, scale, i, 1) +
                             parameterAt(call, bias, i, 0) +
                             (addend.present() ? addend.at(i) : 0));
    if (mean.present())
      statisticAt(call, mean, i) = m;
    if (var.present())
      statisticAt(call, var, i) = v;
  });
}

static void normalizeApply(const Call &call) {
  apply(call, call.ins[1], call.ins[2], call.ins[3], call.ins[4], call.ins[5]);
}

namespace {
/// A tensor like the statistics of one tile.
struct Statistic {
  std::vector<double> data;
  View view;

  explicit Statistic(const Call &call) {
    llvm::SmallVector<int64_t> global = keptOf(call, call.ins[0].global());
    std::vector<std::vector<plan::Interval>> dims;
    int leading = call.groups != 0;
    if (leading)
      dims.push_back({call.tile[0]});
    for (int d = leading; d < call.tile.rank(); ++d)
      if (!llvm::is_contained(call.axes, d - leading))
        dims.push_back({call.tile[d]});
    plan::Region region(std::move(dims));
    data.resize(region.volume());
    view = View(data.data(), std::move(region),
                plan::Shape(global.begin(), global.end()));
  }
};
} // namespace

static void normalizeForward(const Call &call) {
  Statistic sums(call), squares(call);
  sumStatistic(call, sums.view, [&](Index i) { return call.ins[0].at(i); });
  squaresAround(call, sums.view, squares.view);
  apply(call, sums.view, squares.view, call.ins[1], call.ins[2], call.ins[3]);
}

/// Operands of the kernels of the gradient: dy, x, mean, var and maybe scale
/// and bias; the last one may be an addend.
namespace {
struct Backward {
  const Call &call;
  double epsilon = call.f64("epsilon");

  /// 0 where y was cut to bounds.
  double dy(Index i) const {
    const double dy = call.ins[0].at(i);
    ArrayRef<double> bounds = call.clamp;
    if (bounds.empty())
      return dy;
    const double y = h(i) * scale(i) + parameterAt(call, call.ins[5], i, 0);
    return y > bounds[0] && (bounds.size() < 2 || y < bounds[1]) ? dy : 0;
  }
  double inverse(Index i) const {
    return 1 / std::sqrt(statisticAt(call, call.ins[3], i) + epsilon);
  }
  /// The normalised x.
  double h(Index i) const {
    return (call.ins[1].at(i) - statisticAt(call, call.ins[2], i)) * inverse(i);
  }
  double scale(Index i) const { return parameterAt(call, call.ins[4], i, 1); }
  double g(Index i) const { return dy(i) * scale(i); }
  /// What kernels that write dx add to it.
  double addend(Index i) const {
    return call.ins.back().present() ? call.ins.back().at(i) : 0;
  }
};
} // namespace

static void gradientSums(const Call &call, const View &sums,
                         const View &products) {
  Backward at{call};
  sumStatistic(call, sums, [&](Index i) { return at.g(i); });
  sumStatistic(call, products, [&](Index i) { return at.g(i) * at.h(i); });
}

static void gradientParameters(const Call &call, const View &dscale,
                               const View &dbias) {
  Backward at{call};
  sumParameter(call, dscale, [&](Index i) { return at.dy(i) * at.h(i); });
  sumParameter(call, dbias, [&](Index i) { return at.dy(i); });
}

static void gradientData(const Call &call, const View &sums,
                         const View &products) {
  Backward at{call};
  double count = countOf(call);
  const View &dx = call.outs[0];
  if (dx.present())
    forEachElement(call, [&](Index i) {
      dx.at(i) =
          at.inverse(i) * (at.g(i) - statisticAt(call, sums, i) / count -
                           at.h(i) * statisticAt(call, products, i) / count) +
          at.addend(i);
    });
}

static void normalizeBackward(const Call &call) {
  Statistic sums(call), products(call);
  gradientSums(call, sums.view, products.view);
  gradientData(call, sums.view, products.view);
  gradientParameters(call, call.outs[1], call.outs[2]);
}

static void normalizeBackwardSums(const Call &call) {
  gradientSums(call, call.outs[0], call.outs[1]);
  gradientParameters(call, call.outs[2], call.outs[3]);
}

static void normalizeBackwardData(const Call &call) {
  gradientData(call, call.ins[6], call.ins[7]);
}

/// Sums without the scale.
static void normalizeChannelSums(const Call &call) {
  Backward at{call};
  sumStatistic(call, call.outs[0], [&](Index i) { return at.dy(i); });
  sumStatistic(call, call.outs[1], [&](Index i) { return at.dy(i) * at.h(i); });
}

static void normalizeChannelData(const Call &call) {
  Backward at{call};
  double count = countOf(call);
  const View &sums = call.ins[6], &products = call.ins[7];
  const View &dx = call.outs[0], &dscale = call.outs[1], &dbias = call.outs[2];
  forEachElement(call, [&](Index i) {
    double sum = statisticAt(call, sums, i);
    double product = statisticAt(call, products, i);
    if (dx.present())
      dx.at(i) = at.inverse(i) * at.scale(i) *
                     (at.dy(i) - sum / count - at.h(i) * product / count) +
                 at.addend(i);
    if (dscale.present())
      statisticAt(call, dscale, i) = product;
    if (dbias.present())
      statisticAt(call, dbias, i) = sum;
  });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static void maximum(const Call &call, const View &max) {
  fill(max, -std::numeric_limits<double>::infinity());
  forEachElement(call, [&](Index i) {
    double &top = statisticAt(call, max, i);
    top = std::max(top, call.ins[0].at(i));
  });
}

static void exponentials(const Call &call, const View &max, const View &sum) {
  sumStatistic(call, sum, [&](Index i) {
    return std::exp(call.ins[0].at(i) - statisticAt(call, max, i));
  });
}

static void applySoftmax(const Call &call, const View &max, const View &sum) {
  bool log = call.i64("log") != 0;
  forEachElement(call, [&](Index i) {
    double below = call.ins[0].at(i) - statisticAt(call, max, i);
    double total = statisticAt(call, sum, i);
    call.outs[0].at(i) =
        log ? below - std::log(total) : std::exp(below) / total;
  });
}

static void softmaxMax(const Call &call) { maximum(call, call.outs[0]); }

static void softmaxSum(const Call &call) {
  exponentials(call, call.ins[1], call.outs[0]);
}

static void softmaxApply(const Call &call) {
  applySoftmax(call, call.ins[1], call.ins[2]);
}

static void softmaxForward(const Call &call) {
  Statistic max(call), sum(call);
  maximum(call, max.view);
  exponentials(call, max.view, sum.view);
  applySoftmax(call, max.view, sum.view);
}

/// Of dy * y, or of dy if the result is a logarithm.
static void sumGradient(const Call &call, const View &sum) {
  bool log = call.i64("log") != 0;
  sumStatistic(call, sum, [&](Index i) {
    return call.ins[0].at(i) * (log ? 1 : call.ins[1].at(i));
  });
}

static void applyGradient(const Call &call, const View &sum) {
  bool log = call.i64("log") != 0;
  forEachElement(call, [&](Index i) {
    double dy = call.ins[0].at(i), y = call.ins[1].at(i);
    double total = statisticAt(call, sum, i);
    call.outs[0].at(i) = log ? dy - std::exp(y) * total : y * (dy - total);
  });
}

static void softmaxBackwardSum(const Call &call) {
  sumGradient(call, call.outs[0]);
}

static void softmaxBackwardApply(const Call &call) {
  applyGradient(call, call.ins[2]);
}

static void softmaxBackward(const Call &call) {
  Statistic sum(call);
  sumGradient(call, sum.view);
  applyGradient(call, sum.view);
}

template <void kernel(const Call &)>
static void with(const ReferenceCall &call) {
  kernel(Call(call));
}

void ff::registerReferenceNorm() {
  registerReference("normalize_forward", with<normalizeForward>);
  registerReference("normalize_sum", with<normalizeSum>);
  registerReference("normalize_squares", with<normalizeSquares>);
  registerReference("normalize_apply", with<normalizeApply>);
  registerReference("normalize_backward", with<normalizeBackward>);
  registerReference("normalize_backward_sums", with<normalizeBackwardSums>);
  registerReference("normalize_backward_data", with<normalizeBackwardData>);
  registerReference("normalize_channel_sums", with<normalizeChannelSums>);
  registerReference("normalize_channel_data", with<normalizeChannelData>);
  registerReference("softmax_forward", with<softmaxForward>);
  registerReference("softmax_max", with<softmaxMax>);
  registerReference("softmax_sum", with<softmaxSum>);
  registerReference("softmax_apply", with<softmaxApply>);
  registerReference("softmax_backward", with<softmaxBackward>);
  registerReference("softmax_backward_sum", with<softmaxBackwardSum>);
  registerReference("softmax_backward_apply", with<softmaxBackwardApply>);
}
