//===- GraphChecks.h - what must hold before anything is decided -*- C++
//-*-===//
#ifndef FFC_LIB_IMPORT_GRAPHCHECKS_H
#define FFC_LIB_IMPORT_GRAPHCHECKS_H

#include "TensorData.h"

namespace ffc::importer {

/// Checks that a node has the operands that its operator needs, none that it
/// does not have, and a result. Operators that we do not know are left alone.
llvm::Error checkCounts(const onnx::NodeProto &node, int64_t opset);

/// The same of all nodes, and that each tensor has data of the right size and
/// each initializer a name of its own. Tensors of types that we do not know are
/// left alone. `opset` is that of nodes without one of their own.
llvm::Error checkGraph(const onnx::GraphProto &graph, const TensorData &data,
                       int64_t opset);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_GRAPHCHECKS_H
