//===- normalize_geometry.h - operands of normalisations --------*- C++ -*-===//
//
// What both targets know of a normalisation: the groups of samples that a tile
// has parts of, which elements have a statistic and parameters in common, and
// what operands and results must be.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_NORMALIZE_GEOMETRY_H
#define FFRT_COMMON_NORMALIZE_GEOMETRY_H

#include "common/kernels/clamp.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <initializer_list>
#include <memory>

namespace ffrt {

struct NormalizeWork;

/// The groups of samples that a tile has parts of.
struct SampleGroups {
  int64_t count = 1;   ///< in this tile
  int64_t global = 1;  ///< in the global tensor
  int64_t samples = 1; ///< of each group in this tile

  /// The tile `x`, one of whose statistics is `statistic` (maybe absent), with
  /// `global` groups.
  SampleGroups(const char *kernel, const Tensor &x, const Tensor &statistic,
               int64_t global, const Ints &axes, const Ints &param_dims);

  /// The part of group `g` of a tensor of x's shape, as if it were all.
  Tensor part(Tensor t, int64_t g) const;
};

/// Of one kernel; sizes and distances are those of one group.
struct NormalizeGeometry {
  NormalizeGeometry(const char *kernel, const Tensor &x,
                    const Tensor &statistic, const Ints &axes, double epsilon,
                    const Ints &param_dims, int64_t sample_groups,
                    const Reals &clamp);

  const char *kernel;
  SampleGroups groups;
  fn::Clip clip; ///< of y
  bool cuts;     ///< has it bounds?
  /// Dimensions that are normalised, and those that parameters have.
  bool reduced[kMaxRank] = {}, has_parameter[kMaxRank] = {};
  /// Distances in a statistic and in a parameter per dimension of x.
  Index statistic, parameter;
  int64_t statistics = 1, parameters = 1; ///< elements of those of the tile
  double count = 1; ///< elements of the global x per statistic
  double epsilon;
  bool constant = true; ///< each statistic has one parameter
};

/// What a target needs for the tile `x` of one group.
std::shared_ptr<NormalizeWork>
make_normalize_work(const NormalizeGeometry &geometry, const Context &cx,
                    const Tensor &x);

namespace normalization {

inline const Tensor &at(Tensors tensors, int i) { return tensors.begin()[i]; }

/// Tensor `i`, or an absent one.
inline Tensor maybe(Tensors tensors, std::size_t i) {
  return i < tensors.size() ? tensors.begin()[i] : Tensor();
}

/// Absent operands and results are null.
inline Real *data(Tensors tensors, int i) { return at(tensors, i).as<Real>(); }

/// What each operand or result must be: of x's shape (present or not) and f32,
/// bf16 or f16; a statistic or a parameter.
enum class Kind { Like, Statistic, Parameter };
struct Argument {
  const char *name;
  Kind kind;
};

constexpr Argument kX{"x", Kind::Like}, kY{"y", Kind::Like},
    kAddend{"addend", Kind::Like}, kDy{"dy", Kind::Like}, kDx{"dx", Kind::Like},
    kMean{"mean", Kind::Statistic}, kVar{"var", Kind::Statistic},
    kFirst{"first sums", Kind::Statistic},
    kSecond{"second sums", Kind::Statistic}, kScale{"scale", Kind::Parameter},
    kBias{"bias", Kind::Parameter}, kDscale{"dscale", Kind::Parameter},
    kDbias{"dbias", Kind::Parameter};

/// Those of x's shape that are bf16 or f16 have one type.
void expect_arguments(const NormalizeGeometry &geometry, Tensors in,
                      std::initializer_list<Argument> operands, Tensors out,
                      std::initializer_list<Argument> results);
/// The axes of x, all groups of it, are not split.
void expect_whole(const NormalizeGeometry &geometry, const Tensor &x,
                  const Ints &axes);

} // namespace normalization

} // namespace ffrt

#endif // FFRT_COMMON_NORMALIZE_GEOMETRY_H
