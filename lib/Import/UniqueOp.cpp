//===- UniqueOp.cpp - Unique ---------------------------------------------===//
//
// Of constants: how many elements there are is a matter of their values.
//
//===----------------------------------------------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::importer;
using llvm::ArrayRef;

namespace {
/// Slices of a constant along an axis; without one, its elements.
class Slices {
public:
  Slices(const Constant &data, std::optional<int64_t> axis) : data(data) {
    const ArrayRef<int64_t> shape(data.shape);
    if (axis) {
      count = shape[*axis];
      outer = *elementCount(shape.take_front(*axis));
      inner = *elementCount(shape.drop_front(*axis + 1));
    } else {
      count = data.size();
    }
  }

  int64_t size() const { return count; }

  /// The flat indices of slice i.
  std::vector<int64_t> of(int64_t i) const {
    std::vector<int64_t> indices;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k)
        indices.push_back((o * count + i) * inner + k);
    return indices;
  }

  /// -1, 0 or 1 where a is before, like or behind b.
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t x = (o * count + a) * inner + k,
                      y = (o * count + b) * inner + k;
        const int order = data.isFloat()
                              ? compareNumbers(data.floats[x], data.floats[y])
                              : compareNumbers(data.ints[x], data.ints[y]);
        if (order != 0)
          return order;
      }
    return 0;
  }

private:
  const Constant &data;
  int64_t count = 0, outer = 1, inner = 1;

  /// What is not a number is behind all numbers, and like others.
  template <class T> static int compareNumbers(T x, T y) {
    if (x != x || y != y)
      return int(x != x) - int(y != y);
    return int(x > y) - int(x < y);
  }
};
} // namespace

static void importUnique(NodeImporter &node) {
  std::optional<int64_t> axis;
  if (findAttribute(node.node, "axis"))
    axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  const bool sorts = node.integer("sorted", 1) != 0;
  if (node.failed())
    return;
  if (node.operand(0).kind == GraphValue::Kind::Computed)
    return node.unsupported(" of a computed operand");
  const Constant data = node.constant(0);
  if (node.failed())
    return;
  if (data.size() == 0 || data.size() > kMaxConstantElements)
    return node.error("expected 1 to " + llvm::Twine(kMaxConstantElements) +
                      " elements, found shape " + shapeText(data.shape));
  const Slices slices(data, axis);
  std::vector<int64_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  // Groups of equals, each in the order of the operand.
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i : order) {
    if (groups.empty() || slices.compare(groups.back().front(), i) != 0)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  if (!sorts)
    llvm::sort(groups, [](const auto &a, const auto &b) {
      return a.front() < b.front();
    });
  std::vector<int64_t> firsts, numbers(slices.size()), counts;
  for (auto [i, group] : llvm::enumerate(groups)) {
    firsts.push_back(group.front());
    counts.push_back(static_cast<int64_t>(group.size()));
    for (int64_t member : group)
      numbers[member] = static_cast<int64_t>(i);
  }
  const auto found = static_cast<int64_t>(groups.size());
  Shape shape = axis ? data.shape : Shape{0};
  shape[axis.value_or(0)] = found;
  std::vector<int64_t> source;
  const int64_t inner =
      *elementCount(ArrayRef<int64_t>(shape).drop_front(axis.value_or(0) + 1));
  std::vector<std::vector<int64_t>> elements;
  for (int64_t first : firsts)
    elements.push_back(slices.of(first));
  for (size_t at = 0; at < elements.front().size(); at += inner)
    for (const std::vector<int64_t> &slice : elements)
      source.insert(source.end(), slice.begin() + at,
                    slice.begin() + at + inner);
  node.defineConstant(select(data, shape, source));
  const std::vector<int64_t> *lists[] = {&firsts, &numbers, &counts};
  for (int i = 1; i < 4; ++i) {
    if (!node.isUsed(i))
      continue;
    Constant list = Constant::list(*lists[i - 1]);
    GraphValue *value = node.importer.newValue(
        GraphValue::Kind::Constant, node.node.output(i), list.type, list.shape);
    value->constant = std::move(list);
    node.define(i, value);
  }
}

void ffc::importer::registerUniqueOp() {
  registerOp("Unique", {importUnique, 1, 1});
}
