//===- reverse_sequence.h - sequences from last to first step ---*- C++ -*-===//
#ifndef FFRT_REVERSE_SEQUENCE_H
#define FFRT_REVERSE_SEQUENCE_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"

namespace ffrt {

/// {x, lengths} -> {y}: the first lengths[b] steps of sequence b from the last
/// of them to the first; later ones stay where they are. Sequences lie side by
/// side along `batch_axis`, their steps along `time_axis`, which the tiles hold
/// whole. x and y are f32, row-major, apart; lengths are i32 or i64, from 0 to
/// the number of steps.
class ReverseSequence {
public:
  ReverseSequence(Context &cx, Tensors in, Tensors out, int64_t batch_axis,
                  int64_t time_axis);
  void operator()(Tensors in, Tensors out);

  /// Where elements of a tile belong, by their numbers. `inner` elements side
  /// by side belong to one step of one sequence.
  struct Steps {
    int64_t inner;
    int64_t sequences, between_sequences; ///< their number and distance
    int64_t steps, between_steps;

    FFRT_FUNCTION int64_t sequence_of(int64_t i) const {
      return i / between_sequences % sequences;
    }
    /// What comes to element `i` of a sequence of this length.
    FFRT_FUNCTION int64_t source_of(int64_t i, int64_t length) const {
      const int64_t step = i / between_steps % steps;
      return step < length ? i + (length - 1 - 2 * step) * between_steps : i;
    }
  };

private:
  Steps where;
};

} // namespace ffrt

#endif // FFRT_REVERSE_SEQUENCE_H
