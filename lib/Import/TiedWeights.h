//===- TiedWeights.h - one parameter that a file holds twice ----*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_TIEDWEIGHTS_H
#define FFC_LIB_IMPORT_TIEDWEIGHTS_H

#include "ExporterMetadata.h"
#include "TensorData.h"

namespace ffc::importer {

/// A value that became another one, moved.
struct TiedWeight {
  std::string name, of;
};

/// Exporters write a weight that two layers share twice, turned for one of
/// them. Tensors of floats of equal contents, turned or not, are made one,
/// read through a Transpose, a Reshape or an Identity. They have more than 64
/// elements, which are not all of one value, and are not different parameters
/// by the exporter's notes (null: there are none). The name that stays is one
/// in the notes, else the first.
///
/// Reads a few elements of every tensor, and all of those where these agree.
std::vector<TiedWeight> tieWeights(onnx::GraphProto &graph,
                                   const TensorData &data,
                                   const ExporterMetadata *metadata);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_TIEDWEIGHTS_H
