//===- JoinBags.h - loops over bags of rows ---------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_JOINBAGS_H
#define FFC_LIB_IMPORT_JOINBAGS_H

#include <onnx/onnx_pb.h>

namespace ffc::importer {

/// PyTorch exports EmbeddingBag as a loop whose iterations reduce a slice of
/// rows each. Such loops, of which the slices may begin where inputs say,
/// become nodes ReduceBags, of a domain of ours, of
///
///   rows [L, D], starts, ends, and the number of bags;
///
/// result [bags, D], bag b being the reduction (attribute 'reduction': sum,
/// mean or max) of rows[starts[b + first_start] : ends[b + first_end]], 0 if it
/// has no rows.
void joinBags(onnx::GraphProto &graph);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_JOINBAGS_H
