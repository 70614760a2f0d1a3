//===- ReferenceAttention.cpp - attention in plain loops ------------------===//

#include "Philox.h"
#include "ReferenceFamilies.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// The scores of a tile.
struct Scores {
  const View &q, &k, &mask;
  double scale;
  ArrayRef<double> hidden;

  Scores(const ReferenceCall &call, const View &mask)
      : q(call.ins[0]), k(call.ins[1]), mask(mask), scale(call.f64("scale")),
        hidden(call.reals("hidden")) {}

  double maskAt(int64_t n, int64_t h, int64_t t, int64_t s) const {
    const int64_t index[] = {n, h, t, s};
    SmallVector<int64_t> at;
    for (int d = 0; d < mask.rank(); ++d)
      at.push_back(mask.global()[d] == 1 ? 0 : index[4 - mask.rank() + d]);
    return mask.at(at);
  }
  bool isReplaced(int64_t n, int64_t h, int64_t t, int64_t s) const {
    return !hidden.empty() && maskAt(n, h, t, s) != 0;
  }
  double at(int64_t n, int64_t h, int64_t t, int64_t s) const {
    if (isReplaced(n, h, t, s))
      return hidden[0];
    double sum = 0;
    for (int64_t d = 0; d < q.global()[3]; ++d)
      sum += q.at({n, t, h, d}) * k.at({n, s, h, d});
    sum *= scale;
    return mask.present() && hidden.empty() ? sum + maskAt(n, h, t, s) : sum;
  }
};
} // namespace

namespace {
/// What probabilities are multiplied by before they meet the values.
struct Drops {
  double ratio;
  uint64_t key, step;
  plan::Shape shape; ///< [N, H, T, S]

  explicit Drops(const ReferenceCall &call)
      : ratio(call.f64("ratio")),
        key(call.context.seed ^ static_cast<uint64_t>(call.i64("key"))),
        step(call.context.step),
        shape({call.ins[0].global()[0], call.ins[0].global()[2],
               call.ins[0].global()[1], call.ins[1].global()[1]}) {}

  double at(int64_t n, int64_t h, int64_t t, int64_t s) const {
    if (ratio == 0)
      return 1;
    int64_t element = ((n * shape[1] + h) * shape[2] + t) * shape[3] + s;
    return isKept(philoxWord(key, element, step), ratio) ? 1 / (1 - ratio) : 0;
  }
};
} // namespace

/// Calls body(n, t, h) for the rows of a tile [n, r, h, s].
template <class Body>
static void forEachRow(const ReferenceCall &call, Body body) {
  plan::Box rows = call.tile;
  rows[3] = {0, 1};
  forEachIndex(rows, [&](ArrayRef<int64_t> at) { body(at[0], at[1], at[2]); });
}

static void attentionForward(const ReferenceCall &call) {
  const View &v = call.ins[2], &y = call.outs[0], &lse = call.outs[1];
  const Scores scores(call, call.ins[3]);
  const Drops drops(call);
  const int64_t keys = v.global()[1];
  forEachRow(call, [&](int64_t n, int64_t t, int64_t h) {
    std::vector<double> row;
    for (int64_t s = 0; s < keys; ++s)
      row.push_back(scores.at(n, h, t, s));
    const double most = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double score : row)
      sum += std::exp(score - most);
    const double log = most + std::log(sum);
    if (lse.present())
      lse.at({n, h, t}) = log;
    for (int64_t e = 0; y.present() && e < v.global()[3]; ++e) {
      double value = 0;
      for (int64_t s = 0; s < keys; ++s)
        value +=
            drops.at(n, h, t, s) * std::exp(row[s] - log) * v.at({n, s, h, e});
      y.at({n, t, h, e}) = value;
    }
  });
}

/// The largest score of every row at the tile's positions.
static void attentionMax(const ReferenceCall &call) {
  const View &most = call.outs[0];
  const Scores scores(call, call.ins[2]);
  forEachRow(call, [&](int64_t n, int64_t t, int64_t h) {
    double &largest = most.at({n, h, t});
    largest = -std::numeric_limits<double>::infinity();
    for (int64_t s = call.tile[3].lo; s < call.tile[3].hi; ++s)
      largest = std::max(largest, scores.at(n, h, t, s));
  });
}

/// Of the exponentials, and of these times the values.
static void attentionSum(const ReferenceCall &call) {
  const View &v = call.ins[2], &most = call.ins[4], &total = call.outs[0],
             &sum = call.outs[1];
  const Scores scores(call, call.ins[3]);
  const Drops drops(call);
  forEachRow(call, [&](int64_t n, int64_t t, int64_t h) {
    total.at({n, h, t}) = 0;
    for (int64_t e = 0; e < v.global()[3]; ++e)
      sum.at({n, t, h, e}) = 0;
    for (int64_t s = call.tile[3].lo; s < call.tile[3].hi; ++s) {
      const double p = std::exp(scores.at(n, h, t, s) - most.at({n, h, t}));
      total.at({n, h, t}) += p;
      for (int64_t e = 0; e < v.global()[3]; ++e)
        sum.at({n, t, h, e}) += drops.at(n, h, t, s) * p * v.at({n, s, h, e});
    }
  });
}

static void attentionApply(const ReferenceCall &call) {
  const View &most = call.ins[0], &total = call.ins[1], &sum = call.ins[2],
             &y = call.outs[0], &lse = call.outs[1];
  forEachRow(call, [&](int64_t n, int64_t t, int64_t h) {
    for (int64_t e = 0; y.present() && e < y.global()[3]; ++e)
      y.at({n, t, h, e}) = sum.at({n, t, h, e}) / total.at({n, h, t});
    if (lse.present())
      lse.at({n, h, t}) = most.at({n, h, t}) + std::log(total.at({n, h, t}));
  });
}

static void attentionBackward(const ReferenceCall &call) {
  const View &q = call.ins[0], &k = call.ins[1], &v = call.ins[2],
             &y = call.ins[3], &lse = call.ins[4], &dy = call.ins[5];
  const View &dq = call.outs[0], &dk = call.outs[1], &dv = call.outs[2];
  const Scores scores(call, call.ins[6]);
  const Drops drops(call);
  const int64_t width = q.global()[3], values = v.global()[3];
  // Tiles hold sums over their own positions.
  for (const View *sum : {&dk, &dv})
    if (sum->present())
      sum->region().forEachBox([&](const plan::Box &box) {
        forEachIndex(box, [&](ArrayRef<int64_t> at) { sum->at(at) = 0; });
      });
  forEachRow(call, [&](int64_t n, int64_t t, int64_t h) {
    double product = 0;
    for (int64_t e = 0; e < values; ++e)
      product += dy.at({n, t, h, e}) * y.at({n, t, h, e});
    for (int64_t d = 0; dq.present() && d < width; ++d)
      dq.at({n, t, h, d}) = 0;
    for (int64_t s = call.tile[3].lo; s < call.tile[3].hi; ++s) {
      const double p = std::exp(scores.at(n, h, t, s) - lse.at({n, h, t}));
      const double factor = drops.at(n, h, t, s);
      double slope = 0;
      for (int64_t e = 0; e < values; ++e) {
        slope += factor * dy.at({n, t, h, e}) * v.at({n, s, h, e});
        if (dv.present())
          dv.at({n, s, h, e}) += factor * p * dy.at({n, t, h, e});
      }
      if (scores.isReplaced(n, h, t, s))
        continue;
      const double ds = scores.scale * p * (slope - product);
      for (int64_t d = 0; d < width; ++d) {
        if (dq.present())
          dq.at({n, t, h, d}) += ds * k.at({n, s, h, d});
        if (dk.present())
          dk.at({n, s, h, d}) += ds * q.at({n, t, h, d});
      }
    }
  });
}

void ff::registerReferenceAttention() {
  registerReference("attention_forward", attentionForward);
  registerReference("attention_max", attentionMax);
  registerReference("attention_sum", attentionSum);
  registerReference("attention_apply", attentionApply);
  registerReference("attention_backward", attentionBackward);
}
