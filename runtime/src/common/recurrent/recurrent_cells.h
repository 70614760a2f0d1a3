//===- recurrent_cells.h - the equations of recurrent cells -----*- C++ -*-===//
//
// Of unit `u` of one sample. The vectors of several gates, or of what is saved,
// are `units` apart; `g` is what states add to the gates.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_RECURRENT_CELLS_H
#define FFRT_COMMON_RECURRENT_CELLS_H

#include "ffrt/fast_math.h"
#include "ffrt/function.h"

namespace ffrt {

/// Functions of the simple cells: of a sum, and their slope where they are h.
struct TanhCell {
  static FFRT_FUNCTION float squash(float x) { return fast_tanh(x); }
  static FFRT_FUNCTION float slope(float h) { return 1.0f - h * h; }
};
struct ReluCell {
  static FFRT_FUNCTION float squash(float x) { return x < 0.0f ? 0.0f : x; }
  static FFRT_FUNCTION float slope(float h) { return h > 0.0f ? 1.0f : 0.0f; }
};

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

FFRT_FUNCTION inline void lstm_forward(const float *x, const float *g, float *s,
                                       float *c, float *h, int64_t units,
                                       int64_t u) {
  const float in = fast_logistic(x[u] + g[u]),
              out = fast_logistic(x[units + u] + g[units + u]),
              forget = fast_logistic(x[2 * units + u] + g[2 * units + u]),
              cell = fast_tanh(x[3 * units + u] + g[3 * units + u]);
  const float next = forget * c[u] + in * cell;
  s[u] = in;
  s[units + u] = out;
  s[2 * units + u] = forget;
  s[3 * units + u] = cell;
  s[4 * units + u] = next;
  c[u] = next;
  h[u] = out * fast_tanh(next);
}

/// The first two gates, and the states as the third one sees them.
FFRT_FUNCTION inline void gru_reset_forward(const float *x, const float *g,
                                            const float *before, float *s,
                                            float *seen, int64_t units,
                                            int64_t u) {
  const float q = fast_logistic(x[units + u] + g[units + u]);
  s[u] = fast_logistic(x[u] + g[u]);
  s[units + u] = q;
  seen[u] = q * before[u];
}

/// The third gate, whose vectors x and g are, and the states.
FFRT_FUNCTION inline void gru_update_forward(const float *x, const float *g,
                                             const float *before, float *s,
                                             float *h, int64_t units,
                                             int64_t u) {
  const float update = fast_tanh(x[u] + g[u]);
  s[2 * units + u] = update;
  h[u] = (1.0f - s[u]) * update + s[u] * before[u];
}

FFRT_FUNCTION inline void
gru_reset_after_forward(const float *x, const float *g, const float *bias,
                        const float *before, float *s, float *h, int64_t units,
                        int64_t u) {
  const float z = fast_logistic(x[u] + g[u] + bias[u]),
              q = fast_logistic(x[units + u] + g[units + u] + bias[units + u]),
              after = g[2 * units + u] + bias[2 * units + u],
              update = fast_tanh(x[2 * units + u] + q * after);
  s[u] = z;
  s[units + u] = q;
  s[2 * units + u] = update;
  s[3 * units + u] = after;
  h[u] = (1.0f - z) * update + z * before[u];
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

FFRT_FUNCTION inline void lstm_backward(const float *s, const float *dy,
                                        const float *before, const float *dh,
                                        float *dc, float *dx, int64_t units,
                                        int64_t u) {
  const float in = s[u], out = s[units + u], forget = s[2 * units + u],
              cell = s[3 * units + u], squashed = fast_tanh(s[4 * units + u]);
  const float dstate = dh[u] + dy[u];
  const float dcell = dc[u] + dstate * out * (1.0f - squashed * squashed);
  dx[u] = dcell * cell * in * (1.0f - in);
  dx[units + u] = dstate * squashed * out * (1.0f - out);
  dx[2 * units + u] = dcell * before[u] * forget * (1.0f - forget);
  dx[3 * units + u] = dcell * in * (1.0f - cell * cell);
  dc[u] = dcell * forget;
}

/// The first and the third gate, and the states around the gates.
FFRT_FUNCTION inline void gru_update_backward(const float *s, const float *dy,
                                              const float *before, float *dh,
                                              float *dx, int64_t units,
                                              int64_t u) {
  const float z = s[u], update = s[2 * units + u], dstate = dh[u] + dy[u];
  dx[u] = dstate * (before[u] - update) * z * (1.0f - z);
  dx[2 * units + u] = dstate * (1.0f - z) * (1.0f - update * update);
  dh[u] = dstate * z;
}

/// The second gate, whose vectors q and dx are, from the gradient of the states
/// as the third one saw them.
FFRT_FUNCTION inline void gru_reset_backward(const float *q,
                                             const float *before,
                                             const float *dseen, float *dh,
                                             float *dx, int64_t u) {
  dx[u] = dseen[u] * before[u] * q[u] * (1.0f - q[u]);
  dh[u] += dseen[u] * q[u];
}

FFRT_FUNCTION inline void
gru_reset_after_backward(const float *s, const float *dy, const float *before,
                         float *dh, float *dx, float *dr, int64_t units,
                         int64_t u) {
  const float z = s[u], q = s[units + u], update = s[2 * units + u],
              dstate = dh[u] + dy[u];
  const float dz = dstate * (before[u] - update) * z * (1.0f - z),
              dupdate = dstate * (1.0f - z) * (1.0f - update * update),
              dq = dupdate * s[3 * units + u] * q * (1.0f - q);
  dx[u] = dr[u] = dz;
  dx[units + u] = dr[units + u] = dq;
  dx[2 * units + u] = dupdate;
  dr[2 * units + u] = dupdate * q;
  dh[u] = dstate * z;
}

} // namespace ffrt

#endif // FFRT_COMMON_RECURRENT_CELLS_H
