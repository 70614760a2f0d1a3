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
  for (size_t d = 0; d < image.size(); ++d)
    result.push_back({image[d], kernel[d], strides[d], dilations[d], pads[d],
                      pads[d + image.size()]});
  return result;
}

LogicalResult WindowAttributes::verify(Operation *op) const {
  size_t spatial = image.size();
  // Constraint 3.
  auto verifyPositive = [&](StringRef what, ArrayRef<int64_t> list) {
    if (list.size() == spatial &&
        llvm::all_of(list, [](int64_t value) { return value > 0; }))
      return success();
    return LogicalResult(op->emitOpError("expected ")
                         << spatial << " positive " << what << ", found ["
                         << list << "]");
  };
  if (failed(verifyPositive("strides", strides)) ||
      failed(verifyPositive("dilations", dilations)) ||
      failed(verifyPositive("kernel extents", kernel)))
    return failure();
  if (pads.size() != 2 * spatial ||
      llvm::any_of(pads, [](int64_t p) { return p < 0; }))
    return op->emitOpError("expected ")
           << 2 * spatial << " pads, none negative, found [" << pads << "]";
  // Constraint 4.
  for (const Window &window : windows())
    if (window.reach() > window.paddedImage())
      return op->emitOpError("expected a window that fits the padded image of ")
             << window.paddedImage() << ", found one of " << window.reach();
  return success();
}

StringRef ff::spatialName(size_t d, size_t spatial) {
  return StringRef("dhw").substr(3 - spatial + d, 1);
}

StringRef ff::byRank(Value image, std::array<StringRef, 3> names) {
  return names[spatialExtents(image).size() - 1];
}

double ff::tapsPerInput(const Windows &windows, ArrayRef<int64_t> outputs) {
  double taps = 1;
  for (auto [window, output] : llvm::zip_equal(windows, outputs))
    taps *= static_cast<double>(window.kernel * output) /
            static_cast<double>(window.image);
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
