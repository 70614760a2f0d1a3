//===- depthwise_plan.h - which rows and columns see which ------*- C++ -*-===//
//
// A depthwise convolution or its transpose as tables: result rows and columns,
// and what they see through which entries of the kernel. Made once per kernel.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_DEPTHWISE_PLAN_H
#define FFRT_CPU_DEPTHWISE_PLAN_H

#include "common/conv/conv_problem.h"

namespace ffrt {

/// A row or column that is seen, and the entry of the kernel that sees it.
struct Tap {
  int64_t from, k;
};

struct DepthwisePlan {
  /// Result columns first, first + step, ... see through the same taps; what
  /// the next one sees lies `from_step` columns further.
  struct Columns {
    int64_t first, step, count, from_step;
    /// What the first sees: columns of a padded row.
    std::vector<Tap> taps;
  };

  /// The tensors of the forward operator, of rank 4; transposed: from y to x.
  DepthwisePlan(const Tensor &x, const Tensor &w, const Tensor &y,
                const ConvAttributes &attributes, bool transposed);

  int64_t channels, kernel[2];
  /// Rows and columns of the result.
  int64_t rows, width;
  /// Columns of a padded row: `left` zeros, the image's, zeros.
  int64_t padded = 0, left = 0;
  /// Rows kept in scratch: as many as one result row spans.
  int64_t kept = 1;
  /// Those of result row i: row_taps[first[i]] up to row_taps[first[i + 1]].
  std::vector<Tap> row_taps;
  std::vector<std::size_t> first;
  std::vector<Columns> columns;
};

} // namespace ffrt

#endif // FFRT_CPU_DEPTHWISE_PLAN_H
