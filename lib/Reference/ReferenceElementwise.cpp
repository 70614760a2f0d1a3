//===- ReferenceElementwise.cpp - gradients of functions, dropout ---------===//

#include "Philox.h"
#include "ReferenceFamilies.h"
#include "ffc/IR/UnaryTable.h"

#include <utility>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <size_t Row> static void unaryBackward(const ReferenceCall &call) {
  constexpr int count = kUnaryTable[Row].parameters;
  const double alpha = count > 0 ? call.f64("alpha") : 0.0,
               beta = count > 1 ? call.f64("beta") : 0.0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = call.ins[0].at(i) *
                         kUnaryTable[Row].slope(call.ins[1].at(i), alpha, beta);
  });
}

template <size_t Row> static void registerUnary() {
  if (kUnaryTable[Row].backward)
    registerReference(kUnaryTable[Row].backward, unaryBackward<Row>);
}

template <size_t... Rows>
static void registerUnaries(std::index_sequence<Rows...>) {
  (registerUnary<Rows>(), ...);
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
  registerReference("dropout", dropout);
}
