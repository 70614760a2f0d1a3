//===- normalize_group.h - tensors of normalisation kernels -----*- C++ -*-===//
//
// What forward and backward kernels share: checks of operands and results, and
// the view that a group of samples has of them.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_NORMALIZE_GROUP_H
#define FFRT_CPU_NORMALIZE_GROUP_H

#include "normalize_work.h"

#include <initializer_list>

namespace ffrt::normalization {

inline const Tensor &at(Tensors tensors, int i) { return tensors.begin()[i]; }

/// Tensor `i`, or an absent one.
inline Tensor maybe(Tensors tensors, std::size_t i) {
  return i < tensors.size() ? tensors.begin()[i] : Tensor();
}

/// Absent operands and results are null.
inline float *data(Tensors tensors, int i) {
  return at(tensors, i).as<float>();
}

/// What each operand or result must be: x (present or not), a statistic or a
/// parameter.
enum class Kind { Like, Statistic, Parameter };
struct Argument {
  const char *name;
  Kind kind;
};

constexpr Argument kX{"x", Kind::Like}, kY{"y", Kind::Like},
    kDy{"dy", Kind::Like}, kDx{"dx", Kind::Like},
    kMean{"mean", Kind::Statistic}, kVar{"var", Kind::Statistic},
    kFirst{"first sums", Kind::Statistic},
    kSecond{"second sums", Kind::Statistic}, kScale{"scale", Kind::Parameter},
    kBias{"bias", Kind::Parameter}, kDscale{"dscale", Kind::Parameter},
    kDbias{"dbias", Kind::Parameter};

void expect_arguments(const NormalizeWork &work, const SampleGroups &groups,
                      const char *what, Tensors tensors, const Tensor &x,
                      std::initializer_list<Argument> arguments);
void expect_whole(const char *kernel, const Tensor &x, const Ints &axes);

void store(const std::vector<double> &from, float *to, double factor = 1);
void load(const float *from, std::vector<double> &to);

/// The tensors of one kernel as a group of samples has them.
class Group {
public:
  Group(NormalizeWork &work, const SampleGroups &groups, int64_t number)
      : work(work), groups(groups), number(number) {}

  /// Of x's shape.
  Tensor like(Tensors tensors, int i) const {
    return groups.part(at(tensors, i), number);
  }
  /// A statistic; null if absent.
  float *statistic(Tensors tensors, int i) const {
    float *all = data(tensors, i);
    return all ? all + number * work.statistics : nullptr;
  }
  /// Where the gradient of parameter `i` goes, 0 for scale and 1 for bias: that
  /// of the first group into the result, to which `add` adds the others'.
  float *gradient(Tensors results, int result, int i) const {
    float *all = data(results, result);
    return all && number > 0 ? scratch(i) : all;
  }
  void add(Tensors results, int result, int i) const {
    float *all = data(results, result);
    if (!all || number == 0)
      return;
    const float *more = scratch(i);
    for (int64_t p = 0; p < work.parameters; ++p)
      all[p] += more[p];
  }

private:
  float *scratch(int i) const {
    return work.group_gradients.data() + i * work.parameters;
  }

  NormalizeWork &work;
  const SampleGroups &groups;
  int64_t number;
};

template <class F>
void for_each_group(NormalizeWork &work, const SampleGroups &groups, F &&f) {
  for (int64_t g = 0; g < groups.count; ++g)
    f(Group(work, groups, g));
}

} // namespace ffrt::normalization

#endif // FFRT_CPU_NORMALIZE_GROUP_H
