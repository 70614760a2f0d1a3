//===- ReferenceElementwise.cpp - meaning of element-wise kernels ---------===//

#include "NarrowFloat.h"
#include "Philox.h"
#include "ReferenceFamilies.h"
#include "UnaryTable.h"
#include "ffc/IR/Reference.h"

#include <utility>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <size_t Row>
static std::pair<double, double> parametersOf(const ReferenceCall &call) {
  constexpr int count = kUnaryTable[Row].parameters;
  return {count > 0 ? call.f64("alpha") : 0.0,
          count > 1 ? call.f64("beta") : 0.0};
}

template <size_t Row> static void unaryForward(const ReferenceCall &call) {
  auto [alpha, beta] = parametersOf<Row>(call);
  forEachIndex(call.tile, [&, alpha = alpha, beta = beta](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = kUnaryTable[Row].value(call.ins[0].at(i), alpha, beta);
  });
}

template <size_t Row> static void unaryBackward(const ReferenceCall &call) {
  auto [alpha, beta] = parametersOf<Row>(call);
  forEachIndex(call.tile, [&, alpha = alpha, beta = beta](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = call.ins[0].at(i) *
                         kUnaryTable[Row].slope(call.ins[1].at(i), alpha, beta);
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

static double binaryValue(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Min:
    return b < a || std::isnan(b) ? b : a;
  case BinaryKind::Max:
    return b > a || std::isnan(b) ? b : a;
  case BinaryKind::Prelu:
    return a < 0 ? a * b : a;
  case BinaryKind::Equal:
    return a == b;
  case BinaryKind::Less:
    return a < b;
  case BinaryKind::LessOrEqual:
    return a <= b;
  case BinaryKind::Greater:
    return a > b;
  case BinaryKind::GreaterOrEqual:
    return a >= b;
  case BinaryKind::Keep:
    return b != 0 ? a : 0;
  case BinaryKind::Drop:
    return b != 0 ? 0 : a;
  case BinaryKind::Fmod:
    return std::fmod(a, b);
  }
  llvm_unreachable("unknown kind");
}

template <BinaryKind Kind> static void binary(const ReferenceCall &call) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = binaryValue(Kind, broadcastAt(call.ins[0], i),
                                     broadcastAt(call.ins[1], i));
  });
}

template <size_t... Kinds>
static void registerBinaries(std::index_sequence<Kinds...>) {
  (registerReference(stringifyBinaryKind(static_cast<BinaryKind>(Kinds)),
                     binary<static_cast<BinaryKind>(Kinds)>),
   ...);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void select(const ReferenceCall &call) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double a = broadcastAt(call.ins[1], i), b = broadcastAt(call.ins[2], i);
    call.outs[0].at(i) = broadcastAt(call.ins[0], i) != 0 ? a : b;
  });
}

static double castTo(plan::ElementType type, double x) {
  switch (type) {
  case plan::ElementType::F32:
  case plan::ElementType::F64:
    return x;
  case plan::ElementType::BF16:
  case plan::ElementType::F16:
    return narrowed(type, x);
  case plan::ElementType::Bool:
    return x != 0;
  case plan::ElementType::U8:
    return static_cast<uint8_t>(static_cast<int64_t>(x));
  default:
    return std::trunc(x);
  }
}

static void castElements(const ReferenceCall &call) {
  auto type = static_cast<plan::ElementType>(call.i64("to"));
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = castTo(type, call.ins[0].at(i));
  });
}

static void expand(const ReferenceCall &call) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = broadcastAt(call.ins[0], i);
  });
}

//===----------------------------------------------------------------------===//
// Dropout
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
    call.outs[0].at(i) =
        (isKept(word, ratio) ? call.ins[0].at(i) / (1 - ratio) : 0.0) +
        (call.ins.size() > 1 ? call.ins[1].at(i) : 0.0);
  });
}

void ff::registerReferenceElementwise() {
  registerUnaries(std::make_index_sequence<std::size(kUnaryTable)>());
  registerBinaries(
      std::make_index_sequence<getMaxEnumValForBinaryKind() + 1>());
  registerReference("select", select);
  registerReference("cast", castElements);
  registerReference("expand", expand);
  registerReference("dropout", dropout);
}
