//===- Windows.h - sliding windows of convolutions and pools ----*- C++ -*-===//
#ifndef FFC_LIB_IR_WINDOWS_H
#define FFC_LIB_IR_WINDOWS_H

#include "ffc/IR/FF.h"

#include <array>

namespace ffc::ff {

/// How windows lie on one spatial dimension: output position o covers the
/// positions o * stride - padBegin + i * dilation, i < kernel, of the image.
struct Window {
  int64_t image = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t padBegin = 0, padEnd = 0;

  /// Extent of a window from its first to its last position.
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  int64_t paddedImage() const { return image + padBegin + padEnd; }
  /// Number of window positions; the reach must fit the padded image.
  int64_t positions(bool roundUp = false) const {
    int64_t room = paddedImage() - reach();
    return (room + (roundUp ? stride - 1 : 0)) / stride + 1;
  }
  /// True if output position `o` covers a position inside the image.
  bool touchesImage(int64_t o) const;

  /// Input positions of a tile of outputs, and the reverse.
  plan::DimMap inputs(int iterDim) const {
    return plan::DimMap::window(iterDim, stride, reach(), padBegin);
  }
  plan::DimMap outputs(int iterDim) const {
    return plan::DimMap::inverse(iterDim, stride, reach(), padBegin);
  }
};

/// One per spatial dimension.
using Windows = llvm::SmallVector<Window, 3>;

/// Window attributes of one operator, not yet verified. `image` and `kernel`
/// hold the spatial extents.
struct WindowAttributes {
  llvm::ArrayRef<int64_t> image, kernel, dilations, pads, strides;

  /// Requires verified attributes.
  Windows windows() const;
  /// Constraints 3 and 4 (first half) of conv and the pools: a positive entry
  /// per spatial dimension each, two pads that are not negative, windows that
  /// fit.
  mlir::LogicalResult verify(mlir::Operation *op) const;
};

/// All extents of an image but batch and channels.
inline llvm::ArrayRef<int64_t> spatialExtents(mlir::Value image) {
  return llvm::cast<mlir::RankedTensorType>(image.getType())
      .getShape()
      .drop_front(2);
}

/// Name of spatial dimension `d` of `spatial` in strategies: w; h, w; d, h, w.
llvm::StringRef spatialName(size_t d, size_t spatial);

/// Of `names` ("conv1d", "conv2d", "conv3d") the one for as many spatial
/// dimensions as `image` has.
llvm::StringRef byRank(mlir::Value image, std::array<llvm::StringRef, 3> names);

/// Multiply-adds or additions per input position when a pass over all windows
/// is spread evenly over the image.
double tapsPerInput(const Windows &windows, llvm::ArrayRef<int64_t> outputs);

/// "expected <name> of shape [..], found [..]" unless they are equal.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef name,
                                llvm::ArrayRef<int64_t> expected,
                                mlir::Value value);

} // namespace ffc::ff

#endif // FFC_LIB_IR_WINDOWS_H
