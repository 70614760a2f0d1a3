//===- EinsumOp.cpp - Einsum ----------------------------------------------===//
//
// Operands are multiplied from left to right. Labels that two operands share
// are the batch of a matrix product if something still needs them, else its
// contracted dimension; all others are rows or columns.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <climits>
#include <map>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

/// More leave no room for rows and columns.
static constexpr size_t kMaxBatchLabels = 5;

namespace {
/// A letter, or a dimension that "..." stands for: -1 is the last one.
using Label = int64_t;
using Labels = Shape;

struct Term {
  Value value;
  Labels labels; ///< of its dimensions
};

class Einsum {
public:
  explicit Einsum(NodeImporter &node);

  /// The value of the node; null after an error.
  Value build();

private:
  Role roleOf(ArrayRef<Label> labels) const;
  Labels parseTerm(StringRef text, int64_t others);
  void readOperand(int i, StringRef text);
  void readResult(StringRef text, bool isExplicit);

  Shape extentsOf(ArrayRef<Label> labels) const;
  int64_t sizeOf(ArrayRef<Label> labels) const {
    return *elementCount(extentsOf(labels));
  }
  Term reshaped(Value x, ArrayRef<int64_t> shape, Labels labels);
  Term transposed(Term x, ArrayRef<Label> order);
  /// With one dimension for each label: the diagonal of those that are there
  /// twice.
  Term diagonal(Term x);
  /// Without the dimensions of extent 1 that others broadcast.
  Term withoutOnes(Term x);
  Term sumOthers(Term x, ArrayRef<Label> kept);
  Term multiply(Term a, Term b, ArrayRef<Label> kept);
  Term multiplyElements(Term a, Term b);
  Term multiplyMatrices(Term a, Term b, ArrayRef<Label> batch,
                        ArrayRef<Label> inner);

  NodeImporter &node;
  std::vector<Labels> operands;
  Labels result;
  /// Of the dimensions that labels stand for.
  std::map<Label, int64_t> extents;
  /// Dimensions of the longest "...".
  int64_t ellipsis = 0;
};
} // namespace

static bool hasLabel(ArrayRef<Label> labels, Label label) {
  return llvm::is_contained(labels, label);
}

static Labels joined(std::initializer_list<ArrayRef<Label>> parts) {
  Labels all;
  for (ArrayRef<Label> part : parts)
    all.append(part.begin(), part.end());
  return all;
}

static std::string nameOf(Label label) {
  return label < 0 ? "..." : std::string(1, static_cast<char>(label));
}

static ArrayRef<int64_t> shapeOf(Value x) {
  return cast<RankedTensorType>(x.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

/// `others`: how many dimensions "..." stands for.
Labels Einsum::parseTerm(StringRef text, int64_t others) {
  Labels labels;
  bool hasEllipsis = false;
  for (StringRef rest = text; !rest.empty();) {
    if (!hasEllipsis && rest.consume_front("...")) {
      hasEllipsis = true;
      for (int64_t d = others; d > 0; --d)
        labels.push_back(-d);
    } else if (llvm::isAlpha(rest.front())) {
      labels.push_back(rest.front());
      rest = rest.drop_front();
    } else {
      node.error("expected letters and at most one '...' in a term, found '" +
                 text + "'");
      return {};
    }
  }
  return labels;
}

void Einsum::readOperand(int i, StringRef text) {
  ArrayRef<int64_t> shape = node.shape(i);
  auto letters = static_cast<int64_t>(
      llvm::count_if(text, [](char c) { return c != '.'; }));
  int64_t others = text.contains('.') ? node.rank(i) - letters : 0;
  if (others < 0 || letters + others != node.rank(i))
    return node.error("expected a term for operand " + Twine(i) + " of shape " +
                      shapeText(shape) + ", found '" + text + "'");
  ellipsis = std::max(ellipsis, others);
  Labels labels = parseTerm(text, others);
  if (node.failed())
    return;
  for (auto [label, extent] : llvm::zip_equal(labels, shape)) {
    auto [known, isNew] = extents.try_emplace(label, extent);
    if (known->second == extent)
      continue;
    if (label < 0 && known->second == 1)
      known->second = extent;
    else if (label >= 0 || extent != 1)
      return node.error("expected one extent of '" + nameOf(label) +
                        "', found " + Twine(known->second) + " and " +
                        Twine(extent));
  }
  operands.push_back(labels);
}

void Einsum::readResult(StringRef text, bool isExplicit) {
  if (isExplicit) {
    if (ellipsis > 0 && !text.contains("..."))
      return node.error("expected '...' in the result '" + text +
                        "', as in a term");
    result = parseTerm(text, ellipsis);
    for (auto [d, label] : llvm::enumerate(result))
      if (!extents.count(label) ||
          hasLabel(ArrayRef(result).take_front(d), label))
        return node.error("expected each label of the result '" + text +
                          "' once and in a term, found '" + nameOf(label) +
                          "'");
    return;
  }
  // All that are there once, in the order of the alphabet.
  for (auto [label, extent] : extents) {
    int64_t uses = 0;
    for (const Labels &labels : operands)
      uses += llvm::count(labels, label);
    if (label < 0 || uses == 1)
      result.push_back(label);
  }
}

Einsum::Einsum(NodeImporter &node) : node(node) {
  std::string equation = node.text("equation", "").str();
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  auto count = static_cast<size_t>(node.node.input_size());
  if (terms.size() != count) {
    node.error("expected an equation of " + Twine(count) + " terms, found '" +
               equation + "'");
    return;
  }
  takeNumberType(node, 0, /*integers=*/false);
  for (auto [i, term] : llvm::enumerate(terms)) {
    expectOneType(node, {0, static_cast<int>(i)});
    if (!node.failed())
      readOperand(static_cast<int>(i), term);
  }
  if (node.failed())
    return;
  readResult(right, equation.size() > left.size());
  for (auto [i, labels] : llvm::enumerate(operands))
    for (auto [d, label] : llvm::enumerate(labels))
      if (!hasLabel(result, label) && node.isChangedBatch(i, d))
        node.error("sums over the batch and stands in the way of "
                   "--batch-size");
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Shape Einsum::extentsOf(ArrayRef<Label> labels) const {
  return llvm::map_to_vector(labels, [&](Label l) { return extents.at(l); });
}

Term Einsum::reshaped(Value x, ArrayRef<int64_t> shape, Labels labels) {
  if (shapeOf(x) != shape)
    x = node.part<ff::ReshapeOp>("reshaped", shape, x);
  return {x, std::move(labels)};
}

Term Einsum::transposed(Term x, ArrayRef<Label> order) {
  if (ArrayRef<Label>(x.labels) == order)
    return x;
  Shape perm, shape;
  for (Label label : order) {
    perm.push_back(llvm::find(x.labels, label) - x.labels.begin());
    shape.push_back(shapeOf(x.value)[perm.back()]);
  }
  return {
      node.part<ff::TransposeOp>("transposed", shape, x.value, node.list(perm)),
      Labels(order)};
}

Term Einsum::diagonal(Term x) {
  for (size_t d = 0; d < x.labels.size(); ++d) {
    Label label = x.labels[d];
    auto *again = llvm::find(ArrayRef(x.labels).drop_front(d + 1), label);
    if (again == ArrayRef(x.labels).end())
      continue;
    // Both last, then one dimension of which every extent + 1st element stays.
    auto e = static_cast<size_t>(again - x.labels.begin());
    Labels rest;
    Shape perm, shape;
    for (size_t i = 0; i < x.labels.size(); ++i) {
      if (i == d || i == e)
        continue;
      rest.push_back(x.labels[i]);
      perm.push_back(i);
      shape.push_back(shapeOf(x.value)[i]);
    }
    int64_t extent = extents.at(label);
    Shape square(shape);
    square.append({extent, extent});
    perm.append({static_cast<int64_t>(d), static_cast<int64_t>(e)});
    if (!llvm::equal(perm, llvm::seq<int64_t>(perm.size())))
      x.value = node.part<ff::TransposeOp>("transposed", square, x.value,
                                           node.list(perm));
    shape.push_back(extent * extent);
    rest.push_back(label);
    x = reshaped(x.value, shape, rest);
    shape.back() = extent;
    x.value = node.part<ff::GatherOp>(
        "diagonal", shape, x.value,
        node.importer.builder.getI64IntegerAttr(shape.size() - 1),
        node.list(
            llvm::map_to_vector(llvm::seq<int64_t>(extent),
                                [&](int64_t i) { return i * (extent + 1); })));
    return diagonal(std::move(x));
  }
  return x;
}

Term Einsum::withoutOnes(Term x) {
  Labels kept;
  for (auto [label, extent] : llvm::zip_equal(x.labels, shapeOf(x.value)))
    if (extent == extents.at(label))
      kept.push_back(label);
  return reshaped(x.value, extentsOf(kept), kept);
}

Term Einsum::sumOthers(Term x, ArrayRef<Label> kept) {
  Labels labels;
  Shape axes;
  for (auto [d, label] : llvm::enumerate(x.labels))
    if (hasLabel(kept, label))
      labels.push_back(label);
    else
      axes.push_back(static_cast<int64_t>(d));
  if (axes.empty())
    return x;
  return {node.part<ff::ReduceSumOp>(
              "sum", extentsOf(labels), x.value, node.list(axes),
              node.importer.builder.getI64IntegerAttr(0)),
          labels};
}

/// Nothing is contracted: dimensions that an operand lacks broadcast.
Term Einsum::multiplyElements(Term a, Term b) {
  Labels all = a.labels, ofB;
  for (Label label : b.labels)
    if (!hasLabel(a.labels, label))
      all.push_back(label);
  auto spread = [&](const Term &x) {
    Shape shape;
    for (Label label : all)
      shape.push_back(hasLabel(x.labels, label) ? extents.at(label) : 1);
    // Leading ones say nothing.
    auto *first = llvm::find_if(shape, [](int64_t d) { return d != 1; });
    shape.erase(shape.begin(), first);
    return reshaped(x.value, shape, all).value;
  };
  for (Label label : all)
    if (hasLabel(b.labels, label))
      ofB.push_back(label);
  b = transposed(std::move(b), ofB);
  Value left = spread(a), right = spread(b);
  Value y = binaryPart(node, "product", ff::BinaryKind::Mul, left, right);
  return reshaped(y, extentsOf(all), all);
}

Term Einsum::multiplyMatrices(Term a, Term b, ArrayRef<Label> batch,
                              ArrayRef<Label> inner) {
  if (batch.size() > kMaxBatchLabels) {
    node.error("expected at most " + Twine(kMaxBatchLabels) +
               " labels of two operands that are not summed over, found " +
               Twine(batch.size()));
    return {};
  }
  auto others = [&](const Term &x) {
    Labels labels;
    for (Label label : x.labels)
      if (!hasLabel(batch, label) && !hasLabel(inner, label))
        labels.push_back(label);
    return labels;
  };
  Labels rows = others(a), columns = others(b);
  // The product can take matrices transposed, so the last dimensions stay.
  bool transA = hasLabel(rows, a.labels.back()),
       transB = hasLabel(inner, b.labels.back()) && !columns.empty();
  a = transposed(std::move(a), transA ? joined({batch, inner, rows})
                                      : joined({batch, rows, inner}));
  b = transposed(std::move(b), transB ? joined({batch, columns, inner})
                                      : joined({batch, inner, columns}));

  Shape left = extentsOf(batch), right = left, product = left;
  int64_t m = sizeOf(rows), n = sizeOf(columns), k = sizeOf(inner);
  // Rows of one matrix on the right may keep their dimensions.
  bool keepsRows = batch.empty() && !transA && rows.size() > 1 &&
                   rows.size() <= kMaxBatchLabels;
  if (keepsRows) {
    product = left = extentsOf(rows);
    left.push_back(k);
  } else {
    left.append(transA ? Shape{k, m} : Shape{m, k});
    product.push_back(m);
  }
  right.append(transB ? Shape{n, k} : Shape{k, n});
  product.push_back(n);
  a = reshaped(a.value, left, a.labels);
  b = reshaped(b.value, right, b.labels);
  Builder &builder = node.importer.builder;
  FloatAttr one = builder.getF64FloatAttr(1);
  Value y = node.part<ff::MatMulOp>(
      "product", product, a.value, b.value, Value(), one, one,
      /*dim_names=*/ArrayAttr(), builder.getI64IntegerAttr(transA),
      builder.getI64IntegerAttr(transB));
  Labels all = joined({batch, rows, columns});
  return reshaped(y, extentsOf(all), all);
}

Term Einsum::multiply(Term a, Term b, ArrayRef<Label> kept) {
  a = sumOthers(std::move(a), joined({kept, b.labels}));
  b = sumOthers(std::move(b), joined({kept, a.labels}));
  Labels batch, inner;
  for (Label label : a.labels)
    if (hasLabel(b.labels, label))
      (hasLabel(kept, label) ? batch : inner).push_back(label);
  return inner.empty()
             ? multiplyElements(std::move(a), std::move(b))
             : multiplyMatrices(std::move(a), std::move(b), batch, inner);
}

/// That of an operand, should it be a weight: it leads from the labels that it
/// ends to the others.
Role Einsum::roleOf(ArrayRef<Label> labels) const {
  Labels from, to;
  for (Label label : labels)
    (hasLabel(result, label) ? to : from).push_back(label);
  return {Role::Weight, sizeOf(from), sizeOf(to)};
}

Value Einsum::build() {
  std::vector<Term> terms;
  for (auto [i, labels] : llvm::enumerate(operands))
    terms.push_back(
        {node.tensor(static_cast<int>(i), i == 1 ? roleOf(labels) : Role()),
         labels});
  node.resultType(extentsOf(result));
  if (node.failed())
    return {};
  for (Term &term : terms)
    term = withoutOnes(diagonal(std::move(term)));
  Term y = std::move(terms.front());
  for (size_t i = 1; i < terms.size() && !node.failed(); ++i) {
    Labels kept = result;
    for (const Term &later : ArrayRef(terms).drop_front(i + 1))
      kept.append(later.labels);
    y = multiply(std::move(y), std::move(terms[i]), kept);
  }
  if (node.failed())
    return {};
  return transposed(sumOthers(std::move(y), result), result).value;
}

static void importEinsum(NodeImporter &node) {
  Einsum einsum(node);
  if (node.failed())
    return;
  Value y = einsum.build();
  if (node.failed())
    return;
  // An equation may say nothing.
  if (node.node.input_size() == 1 && y == node.tensor(0))
    node.defineSame(node.operand(0));
  else
    node.defineLast(y);
}

void ffc::importer::registerEinsumOp() {
  registerOp("Einsum", {importEinsum, 1, INT_MAX, 0b10});
}
