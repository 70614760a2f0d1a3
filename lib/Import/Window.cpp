//===- Window.cpp - windows of convolution and pooling --------------------===//

#include "Window.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <climits>

using namespace ffc::importer;
using llvm::StringRef;
using llvm::Twine;

void ffc::importer::expectImage(NodeImporter &node) {
  if (node.rank(0) < 3 || node.rank(0) > 5)
    node.error("expected an operand 0 of batch, channels and one to three "
               "spatial dimensions, found '" +
               node.node.input(0) + "' of shape " + shapeText(node.shape(0)));
}

Shape ffc::importer::imageShape(int64_t batch, int64_t channels,
                                llvm::ArrayRef<int64_t> spatial) {
  Shape shape = {batch, channels};
  shape.append(spatial.begin(), spatial.end());
  return shape;
}

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

namespace {
enum class AutoPad { NotSet, Valid, SameUpper, SameLower };
} // namespace

/// Reads what all windows have.
static Window readAttributes(NodeImporter &node,
                             const std::optional<Shape> &kernel, bool dilated,
                             AutoPad &autoPad) {
  size_t spatial = static_cast<size_t>(node.rank(0)) - 2;
  Shape ones(spatial, 1);
  Window window;
  window.kernel =
      readList(node, "kernel_shape", spatial, 1, kernel.value_or(Shape()));
  if (window.kernel.empty())
    node.error("expected an attribute 'kernel_shape'");
  else if (kernel && window.kernel != *kernel)
    node.error("attribute 'kernel_shape' is " + shapeText(window.kernel) +
               ", the weights have " + shapeText(*kernel));
  window.strides = readList(node, "strides", spatial, 1, ones);
  window.dilations =
      dilated ? readList(node, "dilations", spatial, 1, ones) : ones;
  window.pads = readList(node, "pads", 2 * spatial, 0, Shape(2 * spatial, 0));
  window.out = ones;

  StringRef mode = node.text("auto_pad", "NOTSET");
  autoPad = AutoPad::NotSet;
  if (mode == "VALID")
    autoPad = AutoPad::Valid;
  else if (mode == "SAME_UPPER")
    autoPad = AutoPad::SameUpper;
  else if (mode == "SAME_LOWER")
    autoPad = AutoPad::SameLower;
  else if (mode != "NOTSET")
    node.error("attribute 'auto_pad' is '" + mode +
               "', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  if (autoPad != AutoPad::NotSet &&
      llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; }))
    node.error("expected 'pads' or 'auto_pad', found both");
  return window;
}

/// Sets the pads of dimension `d` to `total`; `upper`: the end gets the larger
/// half.
static void setPads(Window &window, size_t d, int64_t total, bool upper) {
  int64_t smaller = total / 2, larger = total - smaller;
  window.pads[d] = upper ? smaller : larger;
  window.pads[d + window.spatial()] = upper ? larger : smaller;
}

Window ffc::importer::readWindow(NodeImporter &node,
                                 std::optional<Shape> kernel, bool dilated,
                                 bool ceil) {
  AutoPad autoPad;
  Window window = readAttributes(node, kernel, dilated, autoPad);
  bool roundUp = ceil && node.integer("ceil_mode", 0) != 0;
  if (node.failed())
    return window;

  size_t spatial = window.spatial();
  for (size_t d = 0; d < spatial; ++d) {
    int64_t image = node.shape(0)[d + 2], stride = window.strides[d];
    int64_t reach = window.reach(d);
    int64_t &out = window.out[d];
    if (autoPad == AutoPad::SameUpper || autoPad == AutoPad::SameLower) {
      out = llvm::divideCeil(image, stride);
      setPads(window, d,
              std::max<int64_t>((out - 1) * stride + reach - image, 0),
              autoPad == AutoPad::SameUpper);
      continue;
    }
    int64_t begin = window.pads[d], padded = image + begin;
    padded += window.pads[d + spatial];
    if (reach > padded) {
      node.error("a window of " + Twine(reach) + " in dimension " +
                 Twine(d + 2) + " does not fit into the padded image of " +
                 Twine(padded));
      return window;
    }
    out = (padded - reach + (roundUp ? stride - 1 : 0)) / stride + 1;
    // A window that would start behind the image is not counted.
    if (roundUp && (out - 1) * stride >= image + begin)
      --out;
  }
  return window;
}

Window ffc::importer::readTransposedWindow(NodeImporter &node,
                                           const Shape &kernel) {
  AutoPad autoPad;
  Window window = readAttributes(node, kernel, /*dilated=*/true, autoPad);
  size_t spatial = window.spatial();
  Shape beyond =
      readList(node, "output_padding", spatial, 0, Shape(spatial, 0));
  Shape given = readList(node, "output_shape", spatial, 1, {});
  if (node.failed())
    return window;
  bool same = autoPad == AutoPad::SameUpper || autoPad == AutoPad::SameLower;
  for (size_t d = 0; d < spatial; ++d) {
    int64_t image = node.shape(0)[d + 2], stride = window.strides[d];
    int64_t whole = (image - 1) * stride + window.reach(d);
    int64_t &out = window.out[d];
    if (!same && given.empty()) {
      out = whole + beyond[d] - window.pads[d] - window.pads[d + spatial];
    } else {
      // The result's extent is given, pads follow. A result larger than all
      // windows is extended at its end.
      out = given.empty() ? image * stride : given[d];
      setPads(window, d, std::max<int64_t>(whole + beyond[d] - out, 0),
              autoPad == AutoPad::SameUpper);
    }
    if (out < 1) {
      node.error("the pads of dimension " + Twine(d + 2) +
                 " leave nothing of a result of " + Twine(whole + beyond[d]));
      return window;
    }
    int64_t excess = out + window.pads[d] + window.pads[d + spatial] - whole;
    const int64_t most = std::max(stride, window.dilations[d]);
    if (excess >= most) {
      node.error("expected less output padding in dimension " + Twine(d + 2) +
                 " than " + Twine(most) +
                 ", the larger one of stride and dilation, found " +
                 Twine(excess));
      return window;
    }
    window.beyond.push_back(std::max<int64_t>(excess - stride + 1, 0));
    out -= window.beyond.back();
    if (out < 1) {
      node.error("the pads of dimension " + Twine(d + 2) +
                 " leave nothing of a result of " + Twine(whole));
      return window;
    }
  }
  return window;
}
