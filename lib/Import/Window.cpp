//===- Window.cpp - windows of convolution and pooling --------------------===//

#include "Window.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <climits>

using namespace ffc::importer;
using llvm::StringRef;
using llvm::Twine;

/// The attribute `name`, `count` numbers from `lowest` on, or `missing`.
/// Numbers are limited so that sums and products of a few stay far from
/// overflow.
static Shape readList(NodeImporter &node, StringRef name, size_t count,
                      int64_t lowest, Shape missing) {
  std::optional<Shape> given = node.integers(name);
  if (!given)
    return missing;
  if (given->size() != count)
    node.error("attribute '" + name + "' has " + Twine(given->size()) +
               " numbers, expected " + Twine(count));
  for (int64_t value : *given)
    if (value < lowest || value > INT_MAX)
      node.error("attribute '" + name + "' has a " + Twine(value) +
                 ", expected at least " + Twine(lowest) + " and at most " +
                 Twine(INT_MAX));
  return node.failed() ? missing : *given;
}

/// Sets pads and extents of dimension d for SAME_UPPER and SAME_LOWER.
static void padToSame(Window &window, size_t d, int64_t image, int64_t reach,
                      bool upper) {
  window.out[d] = llvm::divideCeil(image, window.strides[d]);
  int64_t total = std::max<int64_t>(
      (window.out[d] - 1) * window.strides[d] + reach - image, 0);
  int64_t smaller = total / 2, larger = total - smaller;
  window.pads[d] = upper ? smaller : larger;
  window.pads[d + 2] = upper ? larger : smaller;
}

Window ffc::importer::readWindow(NodeImporter &node,
                                 std::optional<Shape> kernel, bool dilated,
                                 bool ceil) {
  Window window;
  window.kernel =
      readList(node, "kernel_shape", 2, 1, kernel.value_or(Shape()));
  if (window.kernel.empty())
    node.error("expected an attribute 'kernel_shape'");
  else if (kernel && window.kernel != *kernel)
    node.error("attribute 'kernel_shape' is " + shapeText(window.kernel) +
               ", the weights have " + shapeText(*kernel));
  window.strides = readList(node, "strides", 2, 1, {1, 1});
  window.dilations =
      dilated ? readList(node, "dilations", 2, 1, {1, 1}) : Shape{1, 1};
  window.pads = readList(node, "pads", 4, 0, {0, 0, 0, 0});
  window.out = {1, 1};
  bool roundUp = ceil && node.integer("ceil_mode", 0) != 0;
  StringRef mode = node.text("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID")
    node.error("attribute 'auto_pad' is '" + mode +
               "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  if (mode != "NOTSET" &&
      llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; }))
    node.error("expected 'pads' or 'auto_pad', found both");
  if (node.failed())
    return window;

  for (size_t d = 0; d < 2; ++d) {
    int64_t image = node.shape(0)[d + 2], stride = window.strides[d];
    int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    if (same) {
      padToSame(window, d, image, reach, mode == "SAME_UPPER");
      continue;
    }
    int64_t begin = window.pads[d], padded = image + begin + window.pads[d + 2];
    if (reach > padded) {
      node.error("a window of " + Twine(reach) + " in dimension " +
                 Twine(d + 2) + " does not fit into the padded image of " +
                 Twine(padded));
      return window;
    }
    int64_t &out = window.out[d];
    out = (padded - reach + (roundUp ? stride - 1 : 0)) / stride + 1;
    // A window that would start behind the image is not counted.
    if (roundUp && (out - 1) * stride >= image + begin)
      --out;
  }
  return window;
}
