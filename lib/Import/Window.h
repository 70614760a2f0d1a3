//===- Window.h - windows of convolution and pooling ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_WINDOW_H
#define FFC_LIB_IMPORT_WINDOW_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Window attributes of an operator on images, all given: one entry per spatial
/// dimension.
struct Window {
  Shape kernel, strides, dilations;
  Shape pads; ///< all begins, then all ends
  Shape out;  ///< the result's spatial extents
  /// Of a transposed one: positions behind `out` that the result has besides.
  Shape beyond;

  size_t spatial() const { return kernel.size(); }
  /// Extent of a window from its first to its last position.
  int64_t reach(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

/// Reports an operand 0 that is no image: batch, channels and one to three
/// spatial dimensions.
void expectImage(NodeImporter &node);

/// Batch, channels and `spatial` extents.
Shape imageShape(int64_t batch, int64_t channels,
                 llvm::ArrayRef<int64_t> spatial);

/// Reads the window attributes of `node`, whose operand 0 is the image.
/// `kernel` is the kernel's extent if the operator's weights give it; then
/// kernel_shape may be absent, but not differ. `dilated` and `ceil`: the
/// operator has the attributes dilations and ceil_mode. Reports what is wrong.
Window readWindow(NodeImporter &node, std::optional<Shape> kernel, bool dilated,
                  bool ceil);

/// The same for a transposed convolution: windows lie on the result, whose
/// extents are `out`, and operand 0 has one position per window. Output padding
/// of a stride and more is `beyond` them.
Window readTransposedWindow(NodeImporter &node, const Shape &kernel);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_WINDOW_H
