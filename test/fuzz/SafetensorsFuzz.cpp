//===- SafetensorsFuzz.cpp - checkpoints' files of tensors ----------------===//

#include "Fuzz.h"

#include "common/checkpoint/safetensors.h"
#include "ffrt/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string path =
      ffc::fuzz::fileOf("p.safetensors", ffc::fuzz::textOf(data, size));
  try {
    const ffrt::SafetensorsFile file(path);
    uint64_t sum = 0;
    for (const auto &[name, tensor] : file.tensors()) {
      for (size_t i = 0; i < tensor.end - tensor.begin; ++i)
        sum += file.data(tensor)[i];
      ffrt::type_of(tensor, name);
    }
    volatile uint64_t used = sum;
    (void)used;
  } catch (const ffrt::Error &) {
  }
  return 0;
}
