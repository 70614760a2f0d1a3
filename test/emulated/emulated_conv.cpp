//===- emulated_conv.cpp - convolutions as plain loops --------------------===//
//
// As with cuDNN, bias and bounds of channels-last images can be part of the
// computation, which is said to be faster, or follow it.
//
//===----------------------------------------------------------------------===//
#include "cuda/conv/conv_library.h"

#include "common/elementwise/cast.h"
#include "conv_shapes.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/device.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <type_traits>
#include <vector>

namespace ffrt::cuda {

struct ConvLibrary::Impl : Candidates {
  ConvShape shape;
  bool finishes = false;

  explicit Impl(const ConvShape &s) : shape(s) {
    tuner().choose(ConvLibrary::version() + "; " + text_of(s), *this);
  }
  std::vector<std::string> names() const override {
    if (shape.is_finished() || shape.y.order == Order::row_major)
      return {"plain"};
    return {"plain", "finished"};
  }
  void take(std::size_t i) override { finishes = i == 1; }
  double seconds() override { return finishes ? 1 : 2; }
};

ConvLibrary::ConvLibrary(const ConvShape &shape) : impl(new Impl(shape)) {
  if (const char *file = emulated::shapes_file()) {
    std::ofstream out(file, std::ios::app);
    write_shape(out, shape);
  }
}
ConvLibrary::~ConvLibrary() = default;
ConvLibrary::ConvLibrary(ConvLibrary &&) noexcept = default;

namespace {

int64_t elements(const Tensor &t) {
  int64_t n = 1;
  for (int d = 0; d < t.rank; ++d)
    n *= t.shape[d];
  return n;
}

/// Are sums a kernel's operand, in f32, whose result is narrow?
bool has_sums(const ConvShape &s, bool finishes) {
  return !finishes && !s.is_finished() && s.y.type != DType::f32;
}

/// Calls f(offsets in x, w, y) for all products of a shape.
template <class F> class Products {
public:
  Products(const ConvShape &s, F &f)
      : s(s), f(f), xs(s.x.strides()), ws(s.w.strides()), ys(s.y.strides()) {}

  void run() const {
    const int64_t per = s.w.shape[1], groups = s.x.shape[1] / per,
                  outs = s.y.shape[1] / groups;
    for (int64_t n = 0; n < s.x.shape[0]; ++n)
      for (int64_t o = 0; o < s.y.shape[1]; ++o)
        for (int64_t c = 0; c < per; ++c)
          along<2>(n * xs[0] + (o / outs * per + c) * xs[1],
                   o * ws[0] + c * ws[1], n * ys[0] + o * ys[1]);
  }

private:
  /// Spatial dimensions from D on.
  template <int D> void along(int64_t x, int64_t w, int64_t y) const {
    if constexpr (D == 5) {
      f(x, w, y);
    } else {
      if (D == s.x.rank)
        return f(x, w, y);
      constexpr auto i = std::size_t(D - 2);
      for (int64_t o = 0; o < s.y.shape[D]; ++o)
        for (int64_t k = 0; k < s.w.shape[D]; ++k) {
          const int64_t at = o * s.strides[i] - s.pads[i] + k * s.dilations[i];
          if (at >= 0 && at < s.x.shape[D])
            along<D + 1>(x + at * xs[D], w + k * ws[D], y + o * ys[D]);
        }
    }
  }

  const ConvShape &s;
  F &f;
  Index xs, ws, ys;
};

/// A result of type R; `bias` may be null.
template <class T, class R>
void convolve(const ConvShape &s, const void *x, const void *w, const void *y,
              R *result, const float *bias, const fn::Clip &clip) {
  using Kind = ConvShape::Kind;
  const T *px = static_cast<const T *>(x), *pw = static_cast<const T *>(w),
          *py = static_cast<const T *>(y);
  const bool image = s.kind == Kind::image_gradient,
             forward = s.kind == Kind::forward;
  std::vector<double> sums(std::size_t(elements(s.result())));
  auto add = [&](int64_t ix, int64_t iw, int64_t iy) {
    if (forward)
      sums[std::size_t(iy)] += double(float(px[ix])) * double(float(pw[iw]));
    else if (image)
      sums[std::size_t(ix)] += double(float(py[iy])) * double(float(pw[iw]));
    else
      sums[std::size_t(iw)] += double(float(px[ix])) * double(float(py[iy]));
  };
  Products<decltype(add)>(s, add).run();
  // Channels are last.
  if (bias)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += double(bias[i % std::size_t(s.y.shape[1])]);
  std::transform(sums.begin(), sums.end(), result,
                 [&](double sum) { return R(clip(float(sum))); });
}

} // namespace

std::string ConvLibrary::version() { return "emulated"; }

std::size_t ConvLibrary::scratch() const {
  const ConvShape &s = impl->shape;
  return has_sums(s, impl->finishes)
             ? std::size_t(elements(s.y)) * sizeof(float)
             : 0;
}

void ConvLibrary::operator()(void *x, void *w, void *y, const float *bias,
                             void *scratch) const {
  using Kind = ConvShape::Kind;
  device().start_deferred();
  const ConvShape &shape = impl->shape;
  const bool finishes = impl->finishes, apart = has_sums(shape, finishes);
  void *const result = apart                                ? scratch
                       : shape.kind == Kind::forward        ? y
                       : shape.kind == Kind::image_gradient ? x
                                                            : w;
  emulated::compute([=] {
    const float *added = finishes ? bias : nullptr;
    const fn::Clip clip = finishes ? shape.clip : ConvShape().clip;
    with_float(shape.operand_type(), [&](auto *operand) {
      with_float(apart ? DType::f32 : shape.result().type, [&](auto *type) {
        convolve<std::remove_pointer_t<decltype(operand)>>(
            shape, x, w, y, static_cast<decltype(type)>(result), added, clip);
      });
    });
  });
  if (finishes || shape.is_finished())
    return;
  Tensor whole = shape.y;
  whole.data = y;
  finish_conv(static_cast<float *>(result), bias, shape.clip, whole);
}

} // namespace ffrt::cuda
