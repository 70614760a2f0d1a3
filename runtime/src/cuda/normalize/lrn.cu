//===- lrn.cu - local response normalisation ------------------------------===//
//
// A thread for every element of what is written, neighbours in memory beside
// each other; each goes through the channels of its window itself, which
// neighbours have in the cache.
//
//===----------------------------------------------------------------------===//
#include "common/normalize/lrn.h"
#include "ffrt/cuda/launch.h"

#include <cmath>

namespace ffrt {

namespace {

/// x^-beta. The usual exponent is spelt with square roots, which are fast.
__device__ float inverse_power(float x, float beta) {
  if (beta != 0.75f)
    return std::pow(x, -beta);
  const float root = std::sqrt(x);
  return 1.0f / (root * std::sqrt(root));
}

/// Tensors of one order that differ in their channels, as in memory: planes of
/// channels, each of them a line of neighbouring positions.
struct Lines {
  int64_t inside;          ///< positions of a line
  int64_t result, operand; ///< channels of a plane
  int64_t start;           ///< the result's first one in the operand

  Lines(const Tensor &to, const Tensor &from)
      : inside(1), result(to.shape[1]), operand(from.shape[1]),
        start(to.lo[1] - from.lo[1]) {
    if (to.order == Order::row_major || to.rank < 3)
      for (int d = 2; d < to.rank; ++d)
        inside *= to.shape[d];
  }
};

/// One element of the result, and its window in the operand.
struct Element {
  int64_t first;      ///< where channel 0 of the operand is
  int64_t inside;     ///< from channel to channel
  int64_t channel;    ///< of the operand
  int64_t begin, end; ///< channels of the window

  /// `below` channels before and `above` after, inside the operand.
  __device__ Element(const Lines &lines, int64_t i, int64_t below,
                     int64_t above)
      : inside(lines.inside) {
    const int64_t position = i % inside;
    i /= inside;
    channel = lines.start + i % lines.result;
    first = i / lines.result * lines.operand * inside + position;
    begin = channel > below ? channel - below : 0;
    end = channel + above < lines.operand ? channel + above + 1 : lines.operand;
  }
  /// Where a channel is in the operand.
  __device__ int64_t at(int64_t c) const { return first + c * inside; }
};

} // namespace

void LrnForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const LrnWindow w = *this;
  const Lines lines(y, x);
  const float *from = x.as<float>();
  float *to = y.as<float>(), *scales = out.begin()[1].as<float>();
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) {
        const Element e(lines, i, w.below, w.above);
        float sum = 0;
        for (int64_t c = e.begin; c < e.end; ++c)
          sum += from[e.at(c)] * from[e.at(c)];
        const float scale = w.bias + w.alpha * sum;
        to[i] = from[e.at(e.channel)] * inverse_power(scale, w.beta);
        if (scales)
          scales[i] = scale;
      });
}

struct LrnBackward::Plan {};

LrnBackward::LrnBackward(Context &, Tensors in, Tensors out, double alpha,
                         double beta, double bias, int64_t size)
    : LrnWindow(check_lrn_backward(in, out, alpha, beta, bias, size)) {}

void LrnBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dx = out.begin()[0];
  const LrnWindow w = *this;
  const Lines lines(dx, in.begin()[0]);
  const float *dy = in.begin()[0].as<float>(), *x = in.begin()[1].as<float>(),
              *scale = in.begin()[2].as<float>();
  float *to = dx.as<float>();
  cuda::for_elements(
      dx.elements(), FFRT_LAMBDA(int64_t i) {
        // The channels that have this one in their windows.
        const Element e(lines, i, w.above, w.below);
        float sum = 0;
        for (int64_t c = e.begin; c < e.end; ++c) {
          const int64_t at = e.at(c);
          sum += dy[at] * x[at] * inverse_power(scale[at], w.beta) / scale[at];
        }
        const int64_t here = e.at(e.channel);
        to[i] = dy[here] * inverse_power(scale[here], w.beta) -
                w.alpha * x[here] * sum;
      });
}

} // namespace ffrt
