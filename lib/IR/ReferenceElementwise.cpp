//===- ReferenceElementwise.cpp - meaning of element-wise kernels ---------===//

#include "Philox.h"
#include "ReferenceFamilies.h"
#include "UnaryTable.h"
#include "ffc/IR/Reference.h"

#include <limits>
#include <utility>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <size_t Row> static double alphaOf(const ReferenceCall &call) {
  return kUnaryTable[Row].hasAlpha ? call.f64("alpha") : 0.0;
}

template <size_t Row> static void unaryForward(const ReferenceCall &call) {
  double alpha = alphaOf<Row>(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = kUnaryTable[Row].value(call.ins[0].at(i), alpha);
  });
}

template <size_t Row> static void unaryBackward(const ReferenceCall &call) {
  double alpha = alphaOf<Row>(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) =
        call.ins[0].at(i) * kUnaryTable[Row].slope(call.ins[1].at(i), alpha);
  });
}

template <size_t Row> static void registerUnary() {
  registerReference(kUnaryTable[Row].forward, unaryForward<Row>);
  if (kUnaryTable[Row].backward)
    registerReference(kUnaryTable[Row].backward, unaryBackward<Row>);
}

template <size_t... Rows>
static void registerUnaries(std::index_sequence<Rows...>) {
  (registerUnary<Rows>(), ...);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// The element of an operand broadcast to the tensor that `index` belongs to.
static double broadcastAt(const View &view, ArrayRef<int64_t> index) {
  llvm::SmallVector<int64_t> own(index.take_back(view.rank()));
  for (int d = 0; d < view.rank(); ++d)
    if (view.global()[d] == 1)
      own[d] = 0;
  return view.at(own);
}

template <class Function>
static void binary(const ReferenceCall &call, Function f) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) =
        f(broadcastAt(call.ins[0], i), broadcastAt(call.ins[1], i));
  });
}

static void add(const ReferenceCall &call) {
  binary(call, [](double a, double b) { return a + b; });
}
static void sub(const ReferenceCall &call) {
  binary(call, [](double a, double b) { return a - b; });
}
static void mul(const ReferenceCall &call) {
  binary(call, [](double a, double b) { return a * b; });
}

static void expand(const ReferenceCall &call) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = broadcastAt(call.ins[0], i);
  });
}

//===----------------------------------------------------------------------===//
// Dropout and softmax
//===----------------------------------------------------------------------===//

static void dropout(const ReferenceCall &call) {
  double ratio = call.f64("ratio");
  uint64_t key = call.context.seed ^ static_cast<uint64_t>(call.i64("key"));
  const plan::Shape &shape = call.outs[0].global();
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    int64_t element = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      element = element * shape[d] + i[d];
    uint32_t word = philoxWord(key, element, call.context.step);
    // The threshold is a float, so that the mask is the runtime's bit for bit.
    bool keep = unitInterval(word) >= static_cast<float>(ratio);
    call.outs[0].at(i) = keep ? call.ins[0].at(i) / (1 - ratio) : 0.0;
  });
}

/// Calls `body` once per set of jointly normalised elements of the tile, with
/// the box of the set.
template <class Body>
static void forEachSet(const ReferenceCall &call, Body body) {
  plan::Box firsts = call.tile;
  for (int64_t axis : call.ints("axes"))
    firsts[axis].hi = firsts[axis].lo + 1;
  forEachIndex(firsts, [&](ArrayRef<int64_t> first) {
    plan::Box set = call.tile;
    for (int d = 0; d < set.rank(); ++d)
      if (!llvm::is_contained(call.ints("axes"), d))
        set[d] = {first[d], first[d] + 1};
    body(set);
  });
}

static void softmaxForward(const ReferenceCall &call) {
  const View &x = call.ins[0], &y = call.outs[0];
  forEachSet(call, [&](const plan::Box &set) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    forEachIndex(set,
                 [&](ArrayRef<int64_t> i) { top = std::max(top, x.at(i)); });
    forEachIndex(set,
                 [&](ArrayRef<int64_t> i) { sum += std::exp(x.at(i) - top); });
    forEachIndex(set, [&](ArrayRef<int64_t> i) {
      y.at(i) = std::exp(x.at(i) - top) / sum;
    });
  });
}

static void softmaxBackward(const ReferenceCall &call) {
  const View &dy = call.ins[0], &y = call.ins[1], &dx = call.outs[0];
  forEachSet(call, [&](const plan::Box &set) {
    double dot = 0;
    forEachIndex(set, [&](ArrayRef<int64_t> i) { dot += dy.at(i) * y.at(i); });
    forEachIndex(set, [&](ArrayRef<int64_t> i) {
      dx.at(i) = y.at(i) * (dy.at(i) - dot);
    });
  });
}

void ff::registerElementwiseReferences() {
  registerUnaries(std::make_index_sequence<std::size(kUnaryTable)>());
  registerReference("add", add);
  registerReference("sub", sub);
  registerReference("mul", mul);
  registerReference("expand", expand);
  registerReference("dropout", dropout);
  registerReference("softmax_forward", softmaxForward);
  registerReference("softmax_backward", softmaxBackward);
}
