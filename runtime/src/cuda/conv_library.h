//===- conv_library.h - convolutions in a library ---------------*- C++ -*-===//
//
// The only place that knows cuDNN (conv_cudnn.cpp). Tests on a machine without
// a GPU link plain loops in its place (emulated_conv.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_CONV_LIBRARY_H
#define FFRT_CUDA_CONV_LIBRARY_H

#include "ffrt/kernel.h"

#include <memory>

namespace ffrt::cuda {

/// y = the convolution of images x with weights w, or a gradient of it. The
/// tensors say shapes, types and orders; their data and boxes mean nothing.
/// Images have rank 4 or 5 and either order, weights are row-major. The result
/// is f32, the factors are f32 or both bf16. Groups: channels of x by those of
/// w.
struct ConvShape {
  enum class Kind { forward, image_gradient, weight_gradient };
  Kind kind = Kind::forward;
  bool tf32 = false; ///< factors of f32 may be rounded
  Tensor x, w, y;
  /// By spatial dimension. The image has as many rows of zeros before it as
  /// after it, of which windows need not reach all.
  Ints strides, dilations, pads;
};

/// What a ConvShape takes, chosen once.
class ConvLibrary {
public:
  explicit ConvLibrary(const ConvShape &shape);
  ~ConvLibrary();
  ConvLibrary(ConvLibrary &&) noexcept;

  /// Bytes of scratch memory that a call takes.
  std::size_t scratch() const;
  /// Writes all of the result: y, x or w by kind. `scratch` is aligned as
  /// memory of the device is.
  void operator()(void *x, void *w, void *y, void *scratch) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CONV_LIBRARY_H
