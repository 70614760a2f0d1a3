//===- DetOp.cpp - determinants -------------------------------------------===//
//
// By cofactors of the first row: what few rows need, and without a division.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

using namespace ffc;
using namespace ffc::importer;

/// Of rows from `row` on and `columns` of x, [matrices, rows, columns].
static GraphValue *minor(Expression &made, GraphValue *x, int64_t row,
                         llvm::ArrayRef<int64_t> columns) {
  GraphValue *result = nullptr;
  for (auto [i, column] : llvm::enumerate(columns)) {
    GraphValue *factor =
        made.slice(made.slice(x, 1, row, row + 1), 2, column, column + 1);
    Shape others(columns);
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (!others.empty())
      factor = made.mul(factor, minor(made, x, row + 1, others));
    result = !result      ? factor
             : i % 2 != 0 ? made.sub(result, factor)
                          : made.add(result, factor);
  }
  return result;
}

static void importDet(NodeImporter &node) {
  constexpr int64_t kMostRows = 5; // 5! products
  takeNumberType(node, 0, /*integers=*/false);
  const Shape shape(node.shape(0));
  const size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2] ||
      shape[rank - 1] > kMostRows)
    node.error("expected square matrices of at most " + llvm::Twine(kMostRows) +
               " rows, found shape " + shapeText(shape));
  if (node.failed())
    return;
  const Shape batch(llvm::ArrayRef<int64_t>(shape).drop_back(2));
  const int64_t rows = shape.back(), count = *elementCount(batch);
  Shape columns;
  for (int64_t i = 0; i < rows; ++i)
    columns.push_back(i);
  Expression made(node);
  GraphValue *x = made.reshape(&node.operand(0), {count, rows, rows});
  made.define(made.reshape(minor(made, x, 0, columns), batch));
}

void ffc::importer::registerDetOp() { registerOp("Det", {importDet, 1, 1}); }
