//===- conv_library.h - convolutions in a library ---------------*- C++ -*-===//
//
// The only place that knows cuDNN (conv_cudnn.cpp). Tests on a machine without
// a GPU link plain loops in its place (emulated_conv.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CONV_LIBRARY_H
#define FFRT_CUDA_CONV_LIBRARY_H

#include "ffrt/functors.h"
#include "ffrt/kernel.h"

#include <cmath>
#include <memory>
#include <string>

namespace ffrt::cuda {

/// y = the convolution of images x with weights w, or a gradient of it. The
/// tensors say shapes, types and orders; their data and boxes mean nothing.
/// Images have rank 4 or 5 and either order, weights are row-major. The
/// operands are both f32, bf16 or f16, the result is f32 or, if it is an image,
/// like them: a sum in f32 that is rounded once. A gradient of weights is f32,
/// but a library may have rounded it to the operands' type. Groups: channels of
/// x by those of w. Going forward, a bias [channels of y] may be added, and the
/// sum cut to bounds.
struct ConvShape {
  enum class Kind { forward, image_gradient, weight_gradient };
  Kind kind = Kind::forward;
  bool tf32 = false; ///< operands of f32 may be rounded
  Tensor x, w, y;
  /// By spatial dimension. The image has as many rows of zeros before it as
  /// after it, of which windows need not reach all.
  Ints strides, dilations, pads;
  bool bias = false;
  fn::Clip clip = {-HUGE_VALF, HUGE_VALF};

  DType operand_type() const { return kind == Kind::forward ? x.type : y.type; }
  const Tensor &result() const {
    return kind == Kind::forward ? y : kind == Kind::image_gradient ? x : w;
  }
  bool is_finished() const {
    return !bias && clip.alpha == -HUGE_VALF && clip.beta == HUGE_VALF;
  }
};

/// The same as words that name a problem: where they are equal, so are the
/// problems.
std::string text_of(const ConvShape &shape);

/// y = clip(sums + bias), where a library has computed sums only. They are f32
/// and lie as y does, perhaps where it is; none: they are zero.
void finish_conv(const float *sums, const float *bias, const fn::Clip &clip,
                 const Tensor &y);

/// What a ConvShape takes, chosen once (cuda/plans/tuner.h).
class ConvLibrary {
public:
  explicit ConvLibrary(const ConvShape &shape);
  ~ConvLibrary();
  ConvLibrary(ConvLibrary &&) noexcept;

  /// The library and its version, which choices depend on.
  static std::string version();

  /// Bytes of scratch memory that a call takes.
  std::size_t scratch() const;
  /// Writes all of the result: y, x or w by kind. `scratch` is aligned as
  /// memory of the device is.
  void operator()(void *x, void *w, void *y, const float *bias,
                  void *scratch) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CONV_LIBRARY_H
