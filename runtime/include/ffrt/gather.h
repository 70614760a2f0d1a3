//===- gather.h - indexing along one dimension ------------------*- C++ -*-===//
#ifndef FFRT_GATHER_H
#define FFRT_GATHER_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt {

/// {x} -> {y}: y[.., i, ..] = x[.., indices[i], ..] along `axis`. Any type, one
/// order. x holds all positions along the axis.
class Gather {
public:
  Gather(Context &cx, Tensors in, Tensors out, int64_t axis,
         const Ints &indices);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  std::shared_ptr<void> sources; ///< int64_t per position of y's tile
};

/// {dy} -> {dx}: dx[.., indices[i], ..] += dy[.., i, ..], 0 where nothing adds.
/// Type f32, one order. dy holds all positions along the axis.
class GatherBackward {
public:
  GatherBackward(Context &cx, Tensors in, Tensors out, int64_t axis,
                 const Ints &indices);
  void operator()(Tensors in, Tensors out);

private:
  int axis;
  /// Position p of dx's tile is the sum of dy at sources[starts[p]] to before
  /// sources[starts[p + 1]]; both int64_t.
  std::shared_ptr<void> starts, sources;
};

} // namespace ffrt

#endif // FFRT_GATHER_H
