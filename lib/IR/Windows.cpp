//===- Windows.cpp - sliding windows of convolutions and pools ------------===//

#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

bool Window::touchesImage(int64_t o) const {
  for (int64_t i = 0; i < kernel; ++i) {
    int64_t position = o * stride - padBegin + i * dilation;
    if (position >= 0 && position < image)
      return true;
  }
  return false;
}

Windows WindowAttributes::windows() const {
  Windows result;
  for (int d = 0; d < 2; ++d)
    result[d] = {image[d],     kernel[d], strides[d],
                 dilations[d], pads[d],   pads[d + 2]};
  return result;
}

LogicalResult WindowAttributes::verify(Operation *op) const {
  // Constraint 3.
  auto verifyPositive = [&](StringRef what, ArrayRef<int64_t> list) {
    if (list.size() == 2 && list[0] > 0 && list[1] > 0)
      return success();
    return LogicalResult(op->emitOpError("expected two positive ")
                         << what << ", found [" << list << "]");
  };
  if (failed(verifyPositive("strides", strides)) ||
      failed(verifyPositive("dilations", dilations)) ||
      failed(verifyPositive("kernel extents", kernel)))
    return failure();
  if (pads.size() != 4 || llvm::any_of(pads, [](int64_t p) { return p < 0; }))
    return op->emitOpError("expected four pads, none negative, found [")
           << pads << "]";
  // Constraint 4.
  for (const Window &window : windows())
    if (window.reach() > window.paddedImage())
      return op->emitOpError("expected a window that fits the padded image of ")
             << window.paddedImage() << ", found one of " << window.reach();
  return success();
}

double ff::tapsPerInput(const Windows &windows, ArrayRef<int64_t> outputs) {
  double taps = 1;
  for (int d = 0; d < 2; ++d)
    taps *= static_cast<double>(windows[d].kernel * outputs[d]) /
            static_cast<double>(windows[d].image);
  return taps;
}

LogicalResult ff::verifyShape(Operation *op, StringRef name,
                              ArrayRef<int64_t> expected, Value value) {
  ArrayRef<int64_t> found = cast<RankedTensorType>(value.getType()).getShape();
  if (found == expected)
    return success();
  return op->emitOpError("expected ")
         << name << " of shape [" << expected << "], found [" << found << "]";
}
