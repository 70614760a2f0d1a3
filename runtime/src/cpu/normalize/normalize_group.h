//===- normalize_group.h - tensors of normalisation kernels -----*- C++ -*-===//
//
// What forward and backward kernels share: statistics in and out, and the view
// that a group of samples has of operands and results.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_NORMALIZE_GROUP_H
#define FFRT_CPU_NORMALIZE_GROUP_H

#include "cpu/normalize/normalize_work.h"
#include "ffrt/real.h"

#include <algorithm>

namespace ffrt::normalization {

inline void store(const std::vector<double> &from, Real *to,
                  double factor = 1) {
  if (to)
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = Real(from[i] * factor);
}

inline void load(const Real *from, std::vector<double> &to) {
  std::copy_n(from, to.size(), to.begin());
}

/// The tensors of one kernel as a group of samples has them.
class Group {
public:
  Group(NormalizeWork &work, int64_t number) : work(work), number(number) {}

  /// Of x's shape.
  Tensor like(Tensors tensors, int i) const {
    return work.groups.part(at(tensors, i), number);
  }
  /// A statistic; null if absent.
  Real *statistic(Tensors tensors, int i) const {
    Real *all = data(tensors, i);
    return all ? all + number * work.statistics : nullptr;
  }
  /// Where the gradient of parameter `i` goes, 0 for scale and 1 for bias: that
  /// of the first group into the result, to which `add` adds the others'.
  Real *gradient(Tensors results, int result, int i) const {
    Real *all = data(results, result);
    return all && number > 0 ? scratch(i) : all;
  }
  void add(Tensors results, int result, int i) const {
    Real *all = data(results, result);
    if (!all || number == 0)
      return;
    const Real *more = scratch(i);
    for (int64_t p = 0; p < work.parameters; ++p)
      all[p] += more[p];
  }

private:
  Real *scratch(int i) const {
    return work.group_gradients.data() + i * work.parameters;
  }

  NormalizeWork &work;
  int64_t number;
};

template <class F> void for_each_group(NormalizeWork &work, F &&f) {
  for (int64_t g = 0; g < work.groups.count; ++g)
    f(Group(work, g));
}

} // namespace ffrt::normalization

#endif // FFRT_CPU_NORMALIZE_GROUP_H
