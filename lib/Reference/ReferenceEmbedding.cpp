//===- ReferenceEmbedding.cpp - rows of tables in plain loops -------------===//

#include "ReferenceFamilies.h"

#include <cmath>
#include <map>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The row that the indices name at `i`, whose first dimensions are theirs.
/// What is out of range stays so and is a fault where it is used.
static int64_t rowAt(const View &indices, ArrayRef<int64_t> i, int64_t rows) {
  auto row = static_cast<int64_t>(indices.at(i.take_front(indices.rank())));
  return row < 0 ? row + rows : row;
}

/// Calls body(index of the looked-up element, row, column) for the tile
/// [indices.., width, rows].
template <class Body>
static void forEachLookup(const plan::Tile &tile, const View &indices,
                          int64_t rows, Body body) {
  plan::Tile looked = tile;
  plan::Interval &first = looked[tile.rank() - 1];
  first.hi = first.lo + 1;
  forEachIndex(looked, [&](ArrayRef<int64_t> i) {
    ArrayRef<int64_t> at = i.drop_back();
    body(at, rowAt(indices, at, rows), at.back());
  });
}

static void embeddingForward(const ReferenceCall &call) {
  const View &table = call.ins[0], &y = call.outs[0];
  int64_t rows = table.global()[0];
  plan::Interval own = call.tile[call.tile.rank() - 1];
  forEachLookup(call.tile, call.ins[1], rows,
                [&](ArrayRef<int64_t> at, int64_t row, int64_t column) {
                  bool isMissing = row < 0 || row >= rows;
                  y.at(at) = own.contains({row, row + 1}) || isMissing
                                 ? table.at({row, column})
                                 : 0;
                });
}

static void embeddingBackward(const ReferenceCall &call) {
  const View &dy = call.ins[1], &dtable = call.outs[0];
  plan::Interval own = call.tile[call.tile.rank() - 1],
                 columns = call.tile[call.tile.rank() - 2];
  for (int64_t row = own.lo; row < own.hi; ++row)
    for (int64_t column = columns.lo; column < columns.hi; ++column)
      dtable.at({row, column}) = 0;
  forEachLookup(call.tile, call.ins[0], dtable.global()[0],
                [&](ArrayRef<int64_t> at, int64_t row, int64_t column) {
                  if (own.contains({row, row + 1}))
                    dtable.at({row, column}) += dy.at(at);
                });
}

/// Calls body(index of an element, sum of its gradients) for the elements of
/// the tile [rows, width] that are looked up, unless the step is skipped;
/// operands are w, indices, dy, scale, slots.
template <class Body>
static void forEachRowGradient(const ReferenceCall &call, Body body) {
  const View &indices = call.ins[1], &dy = call.ins[2];
  const double scale = updateScaleOf(call, 3);
  const size_t slots = call.outs.size();
  for (size_t i = 0; i < slots; ++i) {
    const View &from = call.ins[i == 0 ? 0 : 3 + i], &to = call.outs[i];
    forEachIndex(call.tile,
                 [&](ArrayRef<int64_t> at) { to.at(at) = from.at(at); });
  }
  if (!std::isfinite(scale))
    return;
  plan::Tile lookups = plan::Box::whole(dy.global());
  lookups[lookups.rank() - 1] = call.tile[1];
  std::map<std::pair<int64_t, int64_t>, double> sums;
  forEachIndex(lookups, [&](ArrayRef<int64_t> at) {
    int64_t row = rowAt(indices, at, call.ins[0].global()[0]);
    if (call.tile[0].contains({row, row + 1}))
      sums[{row, at.back()}] += dy.at(at);
  });
  for (const auto &[at, sum] : sums)
    body(SmallVector<int64_t>{at.first, at.second}, scale * sum);
}

static void sgdUpdateRows(const ReferenceCall &call) {
  forEachRowGradient(call, [&](ArrayRef<int64_t> at, double gradient) {
    call.outs[0].at(at) -= call.context.learningRate * gradient;
  });
}

static void adagradUpdateRows(const ReferenceCall &call) {
  const double epsilon = call.f64("epsilon");
  forEachRowGradient(call, [&](ArrayRef<int64_t> at, double gradient) {
    double &squares = call.outs[1].at(at);
    squares += gradient * gradient;
    call.outs[0].at(at) -=
        call.context.learningRate * gradient / (std::sqrt(squares) + epsilon);
  });
}

void ff::registerReferenceEmbedding() {
  registerReference("embedding_forward", embeddingForward);
  registerReference("embedding_backward", embeddingBackward);
  registerReference("sgd_update_rows", sgdUpdateRows);
  registerReference("adagrad_update_rows", adagradUpdateRows);
}
