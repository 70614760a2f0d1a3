//===- embedding.h - rows of tables by indices ------------------*- C++ -*-===//
//
// A table is f32 [rows, width], row-major, and any part of it. Indices are i32
// or i64, from 0 to below `rows` or negative, counted from the end; others are
// errors. Looked-up rows have the dimensions of the indices and the columns of
// the part, row-major.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMBEDDING_H
#define FFRT_EMBEDDING_H

#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <memory>

namespace ffrt {

/// {table, indices} -> {y}: y[i.., c] = table[indices[i..], c], 0 for rows that
/// the part of the table does not have.
class EmbeddingForward {
public:
  EmbeddingForward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

/// {indices, dy} -> {dtable}: dtable[indices[i..], c] += dy[i.., c], from 0 or,
/// where the result accumulates, from what is there.
class EmbeddingBackward {
public:
  EmbeddingBackward(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);
};

// Updates of the rows that were looked up, in place. The learning rate is read
// from the context at every call; a weight decay, which would change all rows,
// is an error, and so is a bound of gradients, which are sums over rows. dy is
// multiplied by scale, as gradients are in optimizer.h.

/// {w, indices, dy, scale?} -> {w}:
/// w[indices[i..], c] -= learning_rate * dy[i.., c]
class SgdUpdateRows {
public:
  SgdUpdateRows(Context &cx, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
};

/// {w, indices, dy, scale?, s} -> {w, s}: with g the sum of dy[i.., c] for a
/// row, as AdagradUpdate.
class AdagradUpdateRows {
public:
  AdagradUpdateRows(Context &cx, Tensors in, Tensors out, double epsilon);
  void operator()(Tensors in, Tensors out);

private:
  Context &cx;
  Real epsilon;
  struct Plan;
  std::shared_ptr<Plan> plan;
};

} // namespace ffrt

#endif // FFRT_EMBEDDING_H
