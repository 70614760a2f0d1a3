//===- embedding.h - operands of looking up rows ----------------*- C++ -*-===//
#ifndef FFRT_COMMON_EMBEDDING_H
#define FFRT_COMMON_EMBEDDING_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"

namespace ffrt {

/// The row that `index` names of the part of a table of `rows` rows that begins
/// at row `lo`; outside of the part if that does not have it.
FFRT_FUNCTION inline int64_t local_row(int64_t index, int64_t rows,
                                       int64_t lo) {
  return (index < 0 ? index + rows : index) - lo;
}

// What constructors get. These throw Error naming `kernel`.

void check_embedding_backward(const char *kernel, Tensors in, Tensors out);
/// Operands are w, indices, dy, scale and `slots` of w's shape; results w and
/// slots.
void check_row_update(const char *kernel, Tensors in, Tensors out,
                      std::size_t slots);

/// The table's share of the learning rate. Throws Error unless its weight decay
/// is 0 and gradients are not clipped.
Real share_of(const char *kernel, const Context &cx, const Tensor &table);

} // namespace ffrt

#endif // FFRT_COMMON_EMBEDDING_H
