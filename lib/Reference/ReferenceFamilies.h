//===- ReferenceFamilies.h - where reference kernels register ---*- C++ -*-===//
//
// One function per operator family; each calls `registerReference` for every
// kernel of the family. `lookupReference` calls all of them once, on first use,
// so there are no static initialisers whose order could matter.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_REFERENCE_REFERENCEFAMILIES_H
#define FFC_LIB_REFERENCE_REFERENCEFAMILIES_H

#include "ffc/Reference/Reference.h"

namespace ffc::ff {

void registerAttentionReferences();   // attention
void registerConvReferences();        // ReferenceConv.cpp
void registerPoolReferences();        // ReferencePool.cpp
void registerProductReferences();     // ReferenceProduct.cpp: lrn, matmul
void registerElementwiseReferences(); // gradients of unary, dropout
void registerLossReferences();        // losses
void registerOptimizerReferences();   // parameter updates, clipping
void registerNormReferences();        // normalize
void registerGatherReferences();      // gather_elements, gradients
void registerEmbeddingReferences();   // embedding, its gradient and update
void registerRankingReferences();     // top_k, cum_sum
void registerRecurrentReferences();   // recurrent
void registerResizeReferences();      // resize
void registerFusedReferences();       // fused

/// What an update multiplies the gradient by: its operand number `operand`, or
/// 1 if that is absent. The step is skipped if it is not finite.
double updateScaleOf(const ReferenceCall &call, size_t operand);

} // namespace ffc::ff

#endif // FFC_LIB_REFERENCE_REFERENCEFAMILIES_H
