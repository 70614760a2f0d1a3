//===- attention_case.h - calls of attention for tests ----------*- C++ -*-===//
#ifndef FFRT_TEST_ATTENTION_CASE_H
#define FFRT_TEST_ATTENTION_CASE_H

#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace ffrt_test {

using ffrt::DType;
using ffrt::Order;
using ffrt::Reals;
using ffrt::Tensor;

/// A call and its mask, which is absent if it has no data.
struct AttentionCase {
  Value q, k, v, mask;
  Reals hidden;
  double scale;
  double ratio = 0;                ///< with kKey and kSeed
  DType operand_type = DType::f32; ///< of q, k, v and the gradient of y
  bool tf32 = false;

  int64_t samples() const { return q.shape[0]; }
  int64_t rows() const { return q.shape[1]; }
  int64_t heads() const { return q.shape[2]; }
  int64_t keys() const { return k.shape[1]; }
  Shape result() const { return {samples(), rows(), heads(), v.shape[3]}; }
  Shape sums() const { return {samples(), heads(), rows()}; }

  double mask_at(const Shape &at) const {
    Shape index;
    const size_t skipped = 4 - mask.shape.size();
    for (size_t d = 0; d < mask.shape.size(); ++d)
      index.push_back(mask.shape[d] == 1 ? 0 : at[skipped + d]);
    return mask(index);
  }
  bool replaced(const Shape &at) const {
    return !hidden.empty() && mask_at(at) != 0;
  }
  double score(int64_t n, int64_t h, int64_t t, int64_t s) const {
    if (replaced({n, h, t, s}))
      return hidden[0];
    double sum = 0;
    for (int64_t d = 0; d < q.shape[3]; ++d)
      sum += q({n, t, h, d}) * k({n, s, h, d});
    sum *= scale;
    return mask.data.empty() || !hidden.empty() ? sum
                                                : sum + mask_at({n, h, t, s});
  }
};

constexpr int64_t kKey = 77;
constexpr uint64_t kSeed = 5, kMicroBatch = 3;

/// The operands of a tile [n, t, h, s], and where they lie.
struct AttentionOperands {
  Box rows, results, keys, seen, sums;
  Tile q, k, v, dy, given;
  Tensor mask; ///< `given`, or absent

  AttentionOperands(const AttentionCase &c, const Value &slopes,
                    const Box &part)
      : rows(box(part, 1, c.q.shape[3])), results(box(part, 1, c.v.shape[3])),
        keys(box(part, 3, c.q.shape[3])),
        seen(box(part, 3, c.v.shape[3])), sums{{part.lo[0], part.lo[2],
                                                part.lo[1]},
                                               {part.size[0], part.size[2],
                                                part.size[1]}},
        q(c.q, rows, Order::row_major, c.operand_type),
        k(c.k, keys, Order::row_major, c.operand_type),
        v(c.v, seen, Order::row_major, c.operand_type),
        dy(slopes, results, Order::row_major, c.operand_type),
        given(mask_of(c), mask_of(c).shape == c.mask.shape
                              ? mask_box(c, part)
                              : mask_of(c).whole()),
        mask(c.mask.data.empty() ? absent({}) : given.tensor) {}

private:
  /// Positions of dimension `d` of the tile.
  static Box box(const Box &part, std::size_t d, int64_t width) {
    return Box{{part.lo[0], part.lo[d], part.lo[2], 0},
               {part.size[0], part.size[d], part.size[2], width}};
  }
  static Value mask_of(const AttentionCase &c) {
    return c.mask.data.empty() ? Value(Shape{1}) : c.mask;
  }
  static Box mask_box(const AttentionCase &c, const Box &part) {
    Box result;
    const int order[] = {0, 2, 1, 3};
    const size_t skipped = 4 - c.mask.shape.size();
    for (size_t d = 0; d < c.mask.shape.size(); ++d) {
      const int from = order[skipped + d];
      const bool one = c.mask.shape[d] == 1;
      result.lo.push_back(one ? 0 : part.lo[from]);
      result.size.push_back(one ? 1 : part.size[from]);
    }
    return result;
  }
};

struct Precision {
  DType type = DType::f32;
  bool tf32 = false; ///< may be rounded
};

inline AttentionCase random_case(int64_t samples, int64_t rows, int64_t keys,
                                 int64_t heads, int64_t width, int64_t values,
                                 std::mt19937 &random,
                                 Precision precision = {}) {
  const DType type = precision.type;
  return {random_value({samples, rows, heads, width}, random, type),
          random_value({samples, keys, heads, width}, random, type),
          random_value({samples, keys, heads, values}, random, type),
          {},
          {},
          1 / std::sqrt(double(width)),
          0,
          type,
          precision.tf32};
}

/// Positions behind one's own are hidden; the last row sees all.
inline void hide_later(AttentionCase &c) {
  c.hidden = {-1e4};
  c.mask = Value({c.rows(), c.keys()});
  for (int64_t t = 0; t < c.rows(); ++t)
    for (int64_t s = t + 1 + c.keys() - c.rows(); s < c.keys(); ++s)
      c.mask({t, s}) = 1;
}

/// What products multiply, as parameter of tests.
inline const auto kAllPrecisions =
    ::testing::Values(Precision{}, Precision{DType::f32, true},
                      Precision{DType::bf16}, Precision{DType::f16});

inline std::string
name_of_precision(const ::testing::TestParamInfo<Precision> &info) {
  return info.param.tf32                  ? "tf32"
         : info.param.type == DType::bf16 ? "bf16"
         : info.param.type == DType::f16  ? "f16"
                                          : "f32";
}

} // namespace ffrt_test

#endif // FFRT_TEST_ATTENTION_CASE_H
