//===- Window.h - windows of convolution and pooling ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_WINDOW_H
#define FFC_LIB_IMPORT_WINDOW_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Window attributes of an operator on 4-dimensional images, all given.
struct Window {
  Shape kernel, strides, dilations;
  Shape pads; ///< all begins, then all ends
  Shape out;  ///< extents of the result's two spatial dimensions
};

/// Reads the window attributes of `node`, whose operand 0 is the image.
/// `kernel` is the kernel's extent if the operator's weights give it; then
/// kernel_shape may be absent, but not differ. `dilated` and `ceil`: the
/// operator has the attributes dilations and ceil_mode. Reports what is wrong.
Window readWindow(NodeImporter &node, std::optional<Shape> kernel, bool dilated,
                  bool ceil);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_WINDOW_H
