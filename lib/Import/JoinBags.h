//===- JoinBags.h - loops over bags of rows ---------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_JOINBAGS_H
#define FFC_LIB_IMPORT_JOINBAGS_H

#include "onnx/onnx_pb.h"

namespace ffc::importer {

/// PyTorch exports EmbeddingBag as a loop whose iterations reduce a slice of
/// rows each. Such loops, of which the slices may begin where inputs say,
/// become nodes ReduceBags, of a domain of ours, of
///
///   rows [L, ...], bounds, the number of bags and, maybe, a last bound;
///
/// result [bags, ...], bag b being the reduction (attribute 'reduction': sum,
/// mean or max) of rows[bounds[f + b] : bounds[f + b + 1]] with f of attribute
/// 'first', 0 if it has no rows. Bounds that are not known at import are taken
/// to ascend, as EmbeddingBag asks for. The last bound is that of the last bag
/// in place of the list's, of means for the number of rows only.
///
/// Loops that do anything else stay as they are.
void joinBags(onnx::GraphProto &graph);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_JOINBAGS_H
