//===- Skeleton.h - serialized models without their weights -----*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_SKELETON_H
#define FFC_LIB_IMPORT_SKELETON_H

#include <string>
#include <string_view>

namespace ffc::importer {

/// Copies a serialized onnx.ModelProto without the data of its large
/// tensors. That of each becomes external data with an empty location, offset
/// and length being those of the bytes in `model`: weights need no memory, and
/// the 2 GB limit of protobuf does not apply to them. The rest of the importer
/// knows one kind of large tensor.
///
/// Returns false if `model` is not well-formed; what the skeleton holds is for
/// the protobuf parser to judge.
bool makeSkeleton(std::string_view model, std::string &skeleton);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_SKELETON_H
