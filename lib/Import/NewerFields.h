//===- NewerFields.h - fields that libonnx does not know --------*- C++ -*-===//
//
// The protobuf classes are libonnx's, of ONNX 1.12 (IR version 8). What later
// IR versions added to them is read here.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_NEWERFIELDS_H
#define FFC_LIB_IMPORT_NEWERFIELDS_H

#include "onnx/onnx_pb.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ffc::importer {

/// Entries of metadata_props by key; of a key that is given twice the last.
using Metadata = std::map<std::string, std::string>;

Metadata metadataOf(const onnx::GraphProto &graph);
Metadata metadataOf(const onnx::NodeProto &node);
Metadata metadataOf(const onnx::ValueInfoProto &value);
Metadata metadataOf(const onnx::TensorProto &tensor);

/// Which of the functions of one domain and name; empty for most.
std::string overloadOf(const onnx::NodeProto &node);
std::string overloadOf(const onnx::FunctionProto &function);

/// The opset that a node is of if it is not the model's, as of nodes that come
/// from a function. We keep it beside the fields of ONNX, so that copies of the
/// node have it too.
std::optional<int64_t> ownOpsetOf(const onnx::NodeProto &node);
void setOwnOpset(onnx::NodeProto &node, int64_t opset);
/// Nodes of a file have none, whatever fields they come with.
void clearOwnOpsets(onnx::ModelProto &model);

/// The attributes of a function that have default values.
std::vector<onnx::AttributeProto>
defaultAttributesOf(const onnx::FunctionProto &function);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_NEWERFIELDS_H
