//===- recurrent.h - consecutive steps of a recurrent layer -----*- C++ -*-===//
//
// Cells are "lstm", "gru", "gru_reset_after", "rnn_tanh" and "rnn_relu"; their
// equations, the order of gates and what `saved` holds are those of
// ff.recurrent. With H units and g gates (4, 3, 3, 1, 1), T steps and the N
// samples of a tile, sequences are [T, N, g * H] or [T, N, H], states [N, H].
// All steps and units are in the tile. With `reverse` the last step is done
// first. Type f32, row-major.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_RECURRENT_H
#define FFRT_RECURRENT_H

#include "ffrt/kernel.h"

#include <memory>
#include <string>

namespace ffrt {

/// {x, r, bias, h0, c0} -> {y, h, c, saved}. bias, states and any result may be
/// absent.
class RecurrentForward {
public:
  RecurrentForward(Context &cx, Tensors in, Tensors out,
                   const std::string &kind, int64_t reverse);
  ~RecurrentForward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// {r, saved, dy, dh, dc, y, h0, c0} -> {dx, dh0, dc0, dr}. Absent gradients
/// and states are zero; any result may be absent.
class RecurrentBackward {
public:
  RecurrentBackward(Context &cx, Tensors in, Tensors out,
                    const std::string &kind, int64_t reverse);
  ~RecurrentBackward();
  void operator()(Tensors in, Tensors out);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt

#endif // FFRT_RECURRENT_H
