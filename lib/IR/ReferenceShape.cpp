//===- ReferenceShape.cpp - meaning of kernels that move or sum elements --===//

#include "ReferenceFamilies.h"
#include "ReshapeSpace.h"
#include "ffc/IR/Reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

/// The element of `view` with row-major number `number` of the global tensor.
static double &atNumber(const View &view, int64_t number) {
  SmallVector<int64_t> index(view.rank());
  for (int d = view.rank() - 1; d >= 0; --d) {
    index[d] = number % view.global()[d];
    number /= view.global()[d];
  }
  return view.at(index);
}

static void reshape(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  ReshapeSpace space = reshapeSpace(x.global(), y.global());
  forEachIndex(call.tile, [&](ArrayRef<int64_t> digits) {
    int64_t number = 0;
    for (size_t f = 0; f < digits.size(); ++f)
      number = number * space.factors[f].extent + digits[f];
    atNumber(y, number) = atNumber(x, number);
  });
}

static void transpose(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  ArrayRef<int64_t> perm = call.ints("perm");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i.size());
    for (size_t d = 0; d < i.size(); ++d)
      source[perm[d]] = i[d];
    y.at(i) = x.at(source);
  });
}

static void concat(const ReferenceCall &call) {
  int64_t axis = call.i64("axis");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    size_t k = 0;
    while (source[axis] >= call.ins[k].global()[axis])
      source[axis] -= call.ins[k++].global()[axis];
    call.outs[0].at(i) = call.ins[k].at(source);
  });
}

static void slice(const ReferenceCall &call) {
  ArrayRef<int64_t> starts = call.ints("starts");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    for (size_t d = 0; d < i.size(); ++d)
      source[d] += starts[d];
    call.outs[0].at(i) = call.ins[0].at(source);
  });
}

static void pad(const ReferenceCall &call) {
  ArrayRef<int64_t> pads = call.ints("pads");
  const plan::Shape &shape = call.ins[0].global();
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    SmallVector<int64_t> source(i);
    bool inside = true;
    for (size_t d = 0; d < i.size(); ++d) {
      source[d] -= pads[d];
      inside &= source[d] >= 0 && source[d] < shape[d];
    }
    call.outs[0].at(i) = inside ? call.ins[0].at(source) : call.f64("value");
  });
}

/// Combines the elements of x along the axes, starting with `neutral`. The
/// tile's own extents count, so a tile of a split axis gives a partial value.
template <class Combine>
static void reduce(const ReferenceCall &call, double neutral, Combine combine) {
  ArrayRef<int64_t> axes = call.ints("axes");
  bool keepdims = call.i64("keepdims") != 0;
  // The result's element for an element of x.
  auto target = [&](ArrayRef<int64_t> i) -> double & {
    SmallVector<int64_t> index;
    for (size_t d = 0; d < i.size(); ++d) {
      if (!llvm::is_contained(axes, static_cast<int64_t>(d)))
        index.push_back(i[d]);
      else if (keepdims)
        index.push_back(0);
    }
    return call.outs[0].at(index);
  };
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) { target(i) = neutral; });
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double &result = target(i);
    result = combine(result, call.ins[0].at(i));
  });
}

static void reduceSum(const ReferenceCall &call) {
  reduce(call, 0, [](double a, double b) { return a + b; });
}

static void reduceMax(const ReferenceCall &call) {
  reduce(call, -std::numeric_limits<double>::infinity(),
         [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}

static void reduceProd(const ReferenceCall &call) {
  reduce(call, 1, [](double a, double b) { return a * b; });
}

void ff::registerReferenceShape() {
  registerReference("reshape", reshape);
  registerReference("transpose", transpose);
  registerReference("concat", concat);
  registerReference("slice", slice);
  registerReference("pad", pad);
  registerReference("reduce_sum", reduceSum);
  registerReference("reduce_max", reduceMax);
  registerReference("reduce_prod", reduceProd);
}
