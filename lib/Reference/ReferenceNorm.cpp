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

/// Groups of samples, which then lead the iteration space; 0 without.
static int64_t groupsOf(const ReferenceCall &call) {
  return call.args.contains("sample_groups") ? call.i64("sample_groups") : 0;
}

/// Calls f(index in x) for the elements of the tile.
template <class Function>
static void forEachElement(const ReferenceCall &call, Function f) {
  int64_t groups = groupsOf(call);
  if (groups == 0)
    return forEachIndex(call.tile, f);
  int64_t within = call.ins[0].global()[0] / groups;
  forEachIndex(call.tile, [&](Index t) {
    llvm::SmallVector<int64_t> i(t.drop_front());
    i[0] += t[0] * within;
    f(i);
  });
}

/// Index of the statistic that element `i` of x belongs to.
static llvm::SmallVector<int64_t> keptOf(const ReferenceCall &call, Index i) {
  llvm::SmallVector<int64_t> kept;
  if (int64_t groups = groupsOf(call))
    kept.push_back(i[0] / (call.ins[0].global()[0] / groups));
  for (int64_t d = 0; d < static_cast<int64_t>(i.size()); ++d)
    if (!llvm::is_contained(call.ints("axes"), d))
      kept.push_back(i[d]);
  return kept;
}

static double &statisticAt(const ReferenceCall &call, const View &view,
                           Index i) {
  return view.at(keptOf(call, i));
}

/// The parameter of element `i` of x, or `missing`.
static double parameterAt(const ReferenceCall &call, const View &view, Index i,
                          double missing) {
  if (!view.present())
    return missing;
  llvm::SmallVector<int64_t> own;
  for (int64_t d : call.ints("param_dims"))
    own.push_back(i[d]);
  return view.at(own);
}

static void fill(const View &view, double value) {
  for (const plan::Region::Piece &piece : view.region().pieces())
    forEachIndex(piece.box, [&](Index i) { view.at(i) = value; });
}

/// view[statistic of i] = sum of f(i) over the tile.
template <class Function>
static void sumStatistic(const ReferenceCall &call, const View &view,
                         Function f) {
  fill(view, 0);
  forEachElement(call, [&](Index i) { statisticAt(call, view, i) += f(i); });
}

/// The same for parameters; a result that nobody uses is absent.
template <class Function>
static void sumParameter(const ReferenceCall &call, const View &view,
                         Function f) {
  if (!view.present())
    return;
  fill(view, 0);
  forEachElement(call, [&](Index i) {
    llvm::SmallVector<int64_t> own;
    for (int64_t d : call.ints("param_dims"))
      own.push_back(i[d]);
    view.at(own) += f(i);
  });
}

/// Number of elements of the global tensor that share a statistic.
static double countOf(const ReferenceCall &call) {
  double count = 1;
  for (int64_t axis : call.ints("axes"))
    count *= static_cast<double>(call.ins[0].global()[axis]);
  int64_t groups = groupsOf(call);
  return groups ? count / static_cast<double>(groups) : count;
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

static void normalizeSum(const ReferenceCall &call) {
  sumStatistic(call, call.outs[0], [&](Index i) { return call.ins[0].at(i); });
}

static void squaresAround(const ReferenceCall &call, const View &sums,
                          const View &squares) {
  double count = countOf(call);
  sumStatistic(call, squares, [&](Index i) {
    double centred = call.ins[0].at(i) - statisticAt(call, sums, i) / count;
    return centred * centred;
  });
}

static void normalizeSquares(const ReferenceCall &call) {
  squaresAround(call, call.ins[1], call.outs[0]);
}

static void apply(const ReferenceCall &call, const View &sums,
                  const View &squares, const View &scale, const View &bias,
                  const View &addend) {
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

static void normalizeApply(const ReferenceCall &call) {
  apply(call, call.ins[1], call.ins[2], call.ins[3], call.ins[4], call.ins[5]);
}

namespace {
/// A tensor like the statistics of one tile.
struct Statistic {
  std::vector<double> data;
  View view;

  explicit Statistic(const ReferenceCall &call) {
    llvm::SmallVector<int64_t> global = keptOf(call, call.ins[0].global());
    std::vector<std::vector<plan::Interval>> dims;
    int leading = groupsOf(call) != 0;
    if (leading)
      dims.push_back({call.tile[0]});
    for (int d = leading; d < call.tile.rank(); ++d)
      if (!llvm::is_contained(call.ints("axes"), d - leading))
        dims.push_back({call.tile[d]});
    plan::Region region(std::move(dims));
    data.resize(region.volume());
    view = View(data.data(), std::move(region),
                plan::Shape(global.begin(), global.end()));
  }
};
} // namespace

static void normalizeForward(const ReferenceCall &call) {
  Statistic sums(call), squares(call);
  sumStatistic(call, sums.view, [&](Index i) { return call.ins[0].at(i); });
  squaresAround(call, sums.view, squares.view);
  apply(call, sums.view, squares.view, call.ins[1], call.ins[2], call.ins[3]);
}

/// Operands of the kernels of the gradient: dy, x, mean, var and maybe scale
/// and bias; the last one may be an addend.
namespace {
struct Backward {
  const ReferenceCall &call;
  double epsilon = call.f64("epsilon");

  /// 0 where y was cut to bounds.
  double dy(Index i) const {
    const double dy = call.ins[0].at(i);
    llvm::ArrayRef<double> bounds = call.reals(kClampArg);
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

static void gradientSums(const ReferenceCall &call, const View &sums,
                         const View &products) {
  Backward at{call};
  sumStatistic(call, sums, [&](Index i) { return at.g(i); });
  sumStatistic(call, products, [&](Index i) { return at.g(i) * at.h(i); });
}

static void gradientParameters(const ReferenceCall &call, const View &dscale,
                               const View &dbias) {
  Backward at{call};
  sumParameter(call, dscale, [&](Index i) { return at.dy(i) * at.h(i); });
  sumParameter(call, dbias, [&](Index i) { return at.dy(i); });
}

static void gradientData(const ReferenceCall &call, const View &sums,
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

static void normalizeBackward(const ReferenceCall &call) {
  Statistic sums(call), products(call);
  gradientSums(call, sums.view, products.view);
  gradientData(call, sums.view, products.view);
  gradientParameters(call, call.outs[1], call.outs[2]);
}

static void normalizeBackwardSums(const ReferenceCall &call) {
  gradientSums(call, call.outs[0], call.outs[1]);
  gradientParameters(call, call.outs[2], call.outs[3]);
}

static void normalizeBackwardData(const ReferenceCall &call) {
  gradientData(call, call.ins[6], call.ins[7]);
}

/// Sums without the scale.
static void normalizeChannelSums(const ReferenceCall &call) {
  Backward at{call};
  sumStatistic(call, call.outs[0], [&](Index i) { return at.dy(i); });
  sumStatistic(call, call.outs[1], [&](Index i) { return at.dy(i) * at.h(i); });
}

static void normalizeChannelData(const ReferenceCall &call) {
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

static void maximum(const ReferenceCall &call, const View &max) {
  fill(max, -std::numeric_limits<double>::infinity());
  forEachElement(call, [&](Index i) {
    double &top = statisticAt(call, max, i);
    top = std::max(top, call.ins[0].at(i));
  });
}

static void exponentials(const ReferenceCall &call, const View &max,
                         const View &sum) {
  sumStatistic(call, sum, [&](Index i) {
    return std::exp(call.ins[0].at(i) - statisticAt(call, max, i));
  });
}

static void applySoftmax(const ReferenceCall &call, const View &max,
                         const View &sum) {
  bool log = call.i64("log") != 0;
  forEachElement(call, [&](Index i) {
    double below = call.ins[0].at(i) - statisticAt(call, max, i);
    double total = statisticAt(call, sum, i);
    call.outs[0].at(i) =
        log ? below - std::log(total) : std::exp(below) / total;
  });
}

static void softmaxMax(const ReferenceCall &call) {
  maximum(call, call.outs[0]);
}

static void softmaxSum(const ReferenceCall &call) {
  exponentials(call, call.ins[1], call.outs[0]);
}

static void softmaxApply(const ReferenceCall &call) {
  applySoftmax(call, call.ins[1], call.ins[2]);
}

static void softmaxForward(const ReferenceCall &call) {
  Statistic max(call), sum(call);
  maximum(call, max.view);
  exponentials(call, max.view, sum.view);
  applySoftmax(call, max.view, sum.view);
}

/// Of dy * y, or of dy if the result is a logarithm.
static void sumGradient(const ReferenceCall &call, const View &sum) {
  bool log = call.i64("log") != 0;
  sumStatistic(call, sum, [&](Index i) {
    return call.ins[0].at(i) * (log ? 1 : call.ins[1].at(i));
  });
}

static void applyGradient(const ReferenceCall &call, const View &sum) {
  bool log = call.i64("log") != 0;
  forEachElement(call, [&](Index i) {
    double dy = call.ins[0].at(i), y = call.ins[1].at(i);
    double total = statisticAt(call, sum, i);
    call.outs[0].at(i) = log ? dy - std::exp(y) * total : y * (dy - total);
  });
}

static void softmaxBackwardSum(const ReferenceCall &call) {
  sumGradient(call, call.outs[0]);
}

static void softmaxBackwardApply(const ReferenceCall &call) {
  applyGradient(call, call.ins[2]);
}

static void softmaxBackward(const ReferenceCall &call) {
  Statistic sum(call);
  sumGradient(call, sum.view);
  applyGradient(call, sum.view);
}

void ff::registerReferenceNorm() {
  registerReference("normalize_forward", normalizeForward);
  registerReference("normalize_sum", normalizeSum);
  registerReference("normalize_squares", normalizeSquares);
  registerReference("normalize_apply", normalizeApply);
  registerReference("normalize_backward", normalizeBackward);
  registerReference("normalize_backward_sums", normalizeBackwardSums);
  registerReference("normalize_backward_data", normalizeBackwardData);
  registerReference("normalize_channel_sums", normalizeChannelSums);
  registerReference("normalize_channel_data", normalizeChannelData);
  registerReference("softmax_forward", softmaxForward);
  registerReference("softmax_max", softmaxMax);
  registerReference("softmax_sum", softmaxSum);
  registerReference("softmax_apply", softmaxApply);
  registerReference("softmax_backward", softmaxBackward);
  registerReference("softmax_backward_sum", softmaxBackwardSum);
  registerReference("softmax_backward_apply", softmaxBackwardApply);
}
