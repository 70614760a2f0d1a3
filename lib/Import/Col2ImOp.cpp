//===- Col2ImOp.cpp - Col2Im ----------------------------------------------===//
//
// A transposed convolution whose weights put every row of a block where it
// belongs.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "Positions.h"
#include "TypedNode.h"

using namespace ffc;
using namespace ffc::importer;

/// An attribute of `count` numbers from `lowest` on.
static Shape readNumbers(NodeImporter &node, llvm::StringRef name, size_t count,
                         int64_t lowest) {
  constexpr int64_t most = 1 << 24;
  Shape numbers = node.integers(name).value_or(Shape(count, lowest));
  if (numbers.size() != count)
    node.error("attribute '" + name + "' has " + llvm::Twine(numbers.size()) +
               " numbers, expected " + llvm::Twine(count));
  for (int64_t number : numbers)
    if (number < lowest || number > most)
      node.error("attribute '" + name + "' has a " + llvm::Twine(number) +
                 ", expected at least " + llvm::Twine(lowest) +
                 " and at most " + llvm::Twine(most));
  return node.failed() ? Shape(count, lowest) : numbers;
}

static void importCol2Im(NodeImporter &node) {
  node.expectRank(0, 3);
  const Shape image = node.constantList(1), block = node.constantList(2);
  takeNumberType(node, 0, /*integers=*/false);
  const size_t spatial = image.size();
  if (!node.failed() && (spatial < 1 || spatial > 3 || block.size() != spatial))
    node.error("expected one to three extents of images and blocks as operands "
               "1 and 2, found " +
               llvm::Twine(spatial) + " and " + llvm::Twine(block.size()));
  if (node.failed())
    return;
  const Shape strides = readNumbers(node, "strides", spatial, 1),
              dilations = readNumbers(node, "dilations", spatial, 1),
              pads = readNumbers(node, "pads", 2 * spatial, 0);
  const auto count = elementCount(block), total = elementCount(image);
  if (!count || !total || *count < 1 || *count > kMaxConstantElements)
    node.error("expected blocks of 1 to " + llvm::Twine(kMaxConstantElements) +
               " elements and images that are not empty, found " +
               shapeText(block) + " and " + shapeText(image));
  if (node.failed())
    return;
  Shape blocks; // of one image
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t reach = (block[d] - 1) * dilations[d] + 1,
                  padded = image[d] + pads[d] + pads[d + spatial];
    if (image[d] < 1 || reach > padded)
      return node.error("a block of " + llvm::Twine(reach) + " in dimension " +
                        llvm::Twine(d) +
                        " does not fit into the padded image "
                        "of " +
                        llvm::Twine(padded));
    blocks.push_back((padded - reach) / strides[d] + 1);
  }
  const Shape from(node.shape(0));
  if (from[1] % *count != 0 || from[2] != product(blocks))
    return node.error("expected operand 0 of shape (batch) x (channels * " +
                      llvm::Twine(*count) + ") x " +
                      llvm::Twine(product(blocks)) + ", found " +
                      shapeText(from));
  const int64_t channels = from[1] / *count;
  const auto weights = elementCount({channels, *count, *count});
  if (!weights || *weights > kMaxPositions)
    return node.error("expected at most " + llvm::Twine(kMaxPositions) +
                      " weights, channels * (elements of a block)^2");
  std::vector<double> ones(*weights, 0);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < *count; ++i)
      ones[(c * *count + i) * *count + i] = 1;
  Shape kernel = {from[1], 1}, columns = {from[0], from[1]};
  kernel.append(block);
  columns.append(blocks);
  // What no block reaches is beyond the last one.
  Shape beyond;
  for (size_t d = 0; d < spatial; ++d)
    beyond.push_back(
        image[d] + pads[d] + pads[d + spatial] -
        ((blocks[d] - 1) * strides[d] + (block[d] - 1) * dilations[d] + 1));
  Expression made(node);
  made.define(
      made.make(MadeNode("ConvTranspose")
                    .integer("group", channels)
                    .integers("strides", strides)
                    .integers("dilations", dilations)
                    .integers("pads", pads)
                    .integers("output_padding", beyond),
                {made.reshape(&node.operand(0), columns),
                 made.floats(node.operand(0).type, kernel, std::move(ones))}));
}

void ffc::importer::registerCol2ImOp() {
  registerOp("Col2Im", {importCol2Im, 3, 3});
}
