//===- ExporterMetadata.cpp - what a file says of parameters --------------===//

#include "ExporterMetadata.h"

using namespace ffc::importer;

std::unique_ptr<ExporterMetadata>
ffc::importer::readExporterMetadata(const onnx::ModelProto &model) {
  for (auto *read : {readPyTorchMetadata})
    if (auto metadata = read(model))
      return metadata;
  return nullptr;
}
