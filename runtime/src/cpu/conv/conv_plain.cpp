//===- conv_plain.cpp - convolution without libraries ---------------------===//
//
// For programs in f64 (ffrt/real.h), for which oneDNN has none: by the formula
// of ffrt/conv.h, in global coordinates. Channels of a pixel are copied side by
// side, and weights such that those of a kernel position are, so that inner
// loops are vectors.
//
//===----------------------------------------------------------------------===//
#include "ffrt/conv.h"

#include "common/conv/conv_problem.h"
#include "common/kernels/clamp.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ffrt {

namespace {

using Position = std::array<int64_t, 3>;

/// An image of three spatial dimensions, the first ones of extent 1 if there
/// are fewer.
struct Image {
  Real *data;
  int64_t samples, channels, sample, channel; ///< extents and strides
  Position extent{1, 1, 1}, lo{}, global{1, 1, 1}, stride{};

  explicit Image(const Tensor &t)
      : data(t.as<Real>()), samples(t.shape[0]), channels(t.shape[1]),
        sample(t.strides()[0]), channel(t.strides()[1]) {
    for (int d = 2; d < t.rank; ++d) {
      const std::size_t at = std::size_t(3 - t.rank + d);
      extent[at] = t.shape[d];
      lo[at] = t.lo[d];
      global[at] = t.global[d];
      stride[at] = t.strides()[d];
    }
  }

  int64_t pixels() const { return extent[0] * extent[1] * extent[2]; }
  /// In global coordinates.
  Position position(int64_t pixel) const {
    return {lo[0] + pixel / (extent[1] * extent[2]),
            lo[1] + pixel / extent[2] % extent[1], lo[2] + pixel % extent[2]};
  }
  /// The pixel at a global position; null if the tile does not have it.
  Real *at(int64_t n, const Position &p) const {
    Real *found = data + n * sample;
    for (std::size_t d = 0; d < 3; ++d) {
      if (p[d] < lo[d] || p[d] >= lo[d] + extent[d])
        return nullptr;
      found += (p[d] - lo[d]) * stride[d];
    }
    return found;
  }
  void read(const Real *pixel, int64_t first, std::vector<Real> &to) const {
    for (std::size_t c = 0; c < to.size(); ++c)
      to[c] = pixel[(first + int64_t(c)) * channel];
  }
};

/// Weights as [group, position, input channel, output channel].
struct Weights {
  Position extent{1, 1, 1};
  int64_t groups, in, out, taps; ///< channels of a group

  Weights(const Tensor &w, int64_t groups)
      : groups(groups), in(w.shape[1]), out(w.shape[0] / groups) {
    for (int d = 2; d < w.rank; ++d)
      extent[std::size_t(3 - w.rank + d)] = w.shape[d];
    taps = extent[0] * extent[1] * extent[2];
  }

  Position position(int64_t tap) const {
    return {tap / (extent[1] * extent[2]), tap / extent[2] % extent[1],
            tap % extent[2]};
  }
  int64_t size() const { return groups * taps * in * out; }
  /// Calls f(number here, number in the tensor).
  template <class F> void each(F f) const {
    int64_t here = 0;
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t i = 0; i < in; ++i)
          for (int64_t o = 0; o < out; ++o)
            f(here++, ((g * out + o) * in + i) * taps + tap);
  }
};

/// What all three kernels know.
struct Problem {
  Position strides{1, 1, 1}, dilations{1, 1, 1}, pads{};
  int64_t groups;

  Problem(const char *kernel, const Tensor &x, const Tensor &w, const Tensor &y,
          bool backward, const ConvAttributes &attributes) {
    const ConvProblem checked(kernel, x, w, y, backward, attributes);
    groups = checked.groups;
    const std::size_t first = 3 - attributes.strides.size();
    for (std::size_t d = first; d < 3; ++d) {
      strides[d] = attributes.strides[d - first];
      dilations[d] = attributes.dilations[d - first];
      pads[d] = attributes.pads[d - first];
    }
  }

  /// The position of the input that a window has at a position of the kernel;
  /// false if that is padding.
  bool input_of(const Position &window, const Position &tap, const Image &x,
                Position &found) const {
    for (std::size_t d = 0; d < 3; ++d) {
      found[d] = window[d] * strides[d] - pads[d] + tap[d] * dilations[d];
      if (found[d] < 0 || found[d] >= x.global[d])
        return false;
    }
    return true;
  }
  /// The window that has a position of the input at a position of the kernel.
  bool window_of(const Position &input, const Position &tap, const Image &y,
                 Position &found) const {
    for (std::size_t d = 0; d < 3; ++d) {
      const int64_t from = input[d] + pads[d] - tap[d] * dilations[d];
      found[d] = from / strides[d];
      if (from < 0 || from % strides[d] != 0 || found[d] >= y.global[d])
        return false;
    }
    return true;
  }
};

/// Calls f(sample, pixel) on several threads.
template <class F> void for_pixels(const Image &image, F f) {
  const int64_t pixels = image.pixels();
  parallel_for(image.samples * pixels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      f(i / pixels, i % pixels);
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

struct ConvForward::Impl {
  Problem problem;
  fn::Clip clip;
};

ConvForward::ConvForward(Context &, Tensors in, Tensors out, const Reals &clamp,
                         const Ints &dilations, int64_t group, const Ints &pads,
                         const Ints &strides) {
  const char *kernel = "conv forward";
  check_conv(kernel, {"x", "w", "b"}, in, "y", out);
  const Tensor &x = in.begin()[0];
  impl.reset(new Impl{
      {kernel, with_row(x), with_row(in.begin()[1]), with_row(out.begin()[0]),
       false, ConvAttributes(kernel, x, dilations, group, pads, strides)},
      clip_of(kernel, clamp)});
}

ConvForward::~ConvForward() = default;

void ConvForward::operator()(Tensors in, Tensors out) {
  const Problem &problem = impl->problem;
  const Image x(with_row(in.begin()[0])), y(with_row(out.begin()[0]));
  const Tensor &w = in.begin()[1], &b = in.begin()[2];
  const Weights weights(with_row(w), problem.groups);
  std::vector<Real> packed(std::size_t(weights.size()));
  weights.each([&](int64_t here, int64_t there) {
    packed[std::size_t(here)] = w.as<Real>()[there];
  });
  for_pixels(y, [&](int64_t n, int64_t pixel) {
    std::vector<Real> sum(std::size_t(weights.out)),
        read(std::size_t(weights.in));
    const Position window = y.position(pixel);
    Real *to = y.at(n, window);
    for (int64_t g = 0; g < weights.groups; ++g) {
      std::fill(sum.begin(), sum.end(), Real(0));
      for (int64_t tap = 0; tap < weights.taps; ++tap) {
        Position at;
        if (!problem.input_of(window, weights.position(tap), x, at))
          continue;
        const Real *from = x.at(n, at);
        if (!from)
          continue;
        x.read(from, g * weights.in, read);
        const Real *own =
            packed.data() + (g * weights.taps + tap) * weights.in * weights.out;
        for (std::size_t i = 0; i < read.size(); ++i, own += weights.out)
          for (std::size_t o = 0; o < sum.size(); ++o)
            sum[o] += read[i] * own[o];
      }
      for (std::size_t o = 0; o < sum.size(); ++o) {
        const int64_t c = g * weights.out + int64_t(o);
        to[c * y.channel] =
            impl->clip(b.data ? sum[o] + b.as<Real>()[c] : sum[o]);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

struct ConvBackwardData::Impl {
  Problem problem;
};

ConvBackwardData::ConvBackwardData(Context &, Tensors in, Tensors out,
                                   const Ints &dilations, int64_t group,
                                   const Ints &pads, const Ints &strides) {
  const char *kernel = "conv backward data";
  check_conv(kernel, {"dy", "w"}, in, "dx", out);
  const Tensor &dx = out.begin()[0];
  impl.reset(new Impl{
      {kernel, with_row(dx), with_row(in.begin()[1]), with_row(in.begin()[0]),
       true, ConvAttributes(kernel, dx, dilations, group, pads, strides)}});
}

ConvBackwardData::~ConvBackwardData() = default;

void ConvBackwardData::operator()(Tensors in, Tensors out) {
  const Problem &problem = impl->problem;
  const Image dy(with_row(in.begin()[0])), dx(with_row(out.begin()[0]));
  const Tensor &w = in.begin()[1];
  const Weights weights(with_row(w), problem.groups);
  std::vector<Real> packed(std::size_t(weights.size()));
  weights.each([&](int64_t here, int64_t there) {
    // Output channels before input channels.
    const int64_t o = here % weights.out, i = here / weights.out % weights.in,
                  tap = here / (weights.out * weights.in);
    packed[std::size_t((tap * weights.out + o) * weights.in + i)] =
        w.as<Real>()[there];
  });
  for_pixels(dx, [&](int64_t n, int64_t pixel) {
    std::vector<Real> sum(std::size_t(weights.in)),
        read(std::size_t(weights.out));
    const Position input = dx.position(pixel);
    Real *to = dx.at(n, input);
    for (int64_t g = 0; g < weights.groups; ++g) {
      std::fill(sum.begin(), sum.end(), Real(0));
      for (int64_t tap = 0; tap < weights.taps; ++tap) {
        Position at;
        if (!problem.window_of(input, weights.position(tap), dy, at))
          continue;
        const Real *from = dy.at(n, at);
        if (!from)
          continue;
        dy.read(from, g * weights.out, read);
        const Real *own =
            packed.data() + (g * weights.taps + tap) * weights.in * weights.out;
        for (std::size_t o = 0; o < read.size(); ++o, own += weights.in)
          for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] += read[o] * own[i];
      }
      for (std::size_t i = 0; i < sum.size(); ++i)
        to[(g * weights.in + int64_t(i)) * dx.channel] = sum[i];
    }
  });
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

struct ConvBackwardWeights::Impl {
  Problem problem;
};

ConvBackwardWeights::ConvBackwardWeights(Context &, Tensors in, Tensors out,
                                         const Ints &dilations, int64_t group,
                                         const Ints &pads,
                                         const Ints &strides) {
  const char *kernel = "conv backward weights";
  check_conv(kernel, {"x", "dy"}, in, "dw", out, /*is_image=*/false);
  const Tensor &x = in.begin()[0];
  impl.reset(new Impl{
      {kernel, with_row(x), with_row(out.begin()[0]), with_row(in.begin()[1]),
       false, ConvAttributes(kernel, x, dilations, group, pads, strides)}});
}

ConvBackwardWeights::~ConvBackwardWeights() = default;

/// Threads take positions of the kernel, so that sums have one order.
void ConvBackwardWeights::operator()(Tensors in, Tensors out) {
  const Problem &problem = impl->problem;
  const Image x(with_row(in.begin()[0])), dy(with_row(in.begin()[1]));
  const Tensor &dw = out.begin()[0];
  const Weights weights(with_row(dw), problem.groups);
  std::vector<Real> packed(std::size_t(weights.size()));
  parallel_for(
      weights.groups * weights.taps, 1, [&](int64_t begin, int64_t end) {
        std::vector<Real> slope(std::size_t(weights.out)),
            read(std::size_t(weights.in));
        for (int64_t part = begin; part < end; ++part) {
          const int64_t g = part / weights.taps;
          const Position tap = weights.position(part % weights.taps);
          for (int64_t i = 0; i < dy.samples * dy.pixels(); ++i) {
            const int64_t n = i / dy.pixels();
            const Position window = dy.position(i % dy.pixels());
            Position at;
            if (!problem.input_of(window, tap, x, at))
              continue;
            const Real *from = x.at(n, at);
            if (!from)
              continue;
            x.read(from, g * weights.in, read);
            dy.read(dy.at(n, window), g * weights.out, slope);
            Real *own = packed.data() + part * weights.in * weights.out;
            for (std::size_t c = 0; c < read.size(); ++c, own += weights.out)
              for (std::size_t o = 0; o < slope.size(); ++o)
                own[o] += read[c] * slope[o];
          }
        }
      });
  weights.each([&](int64_t here, int64_t there) {
    dw.as<Real>()[there] = packed[std::size_t(here)];
  });
}

} // namespace ffrt
