//===- WeightsFuzz.cpp - the values beside a program ----------------------===//

#include "Fuzz.h"

#include "common/program/weights_file.h"
#include "ffrt/error.h"

#include <cstdio>
#include <cstring>

/// The hash of the sums, which is in front of the last 8 bytes, as programs
/// have it.
static std::string hashOf(const uint8_t *data, size_t size) {
  uint64_t hash = 0;
  if (size >= 16)
    std::memcpy(&hash, data + size - 16, sizeof hash);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string path =
      ffc::fuzz::fileOf("train.weights", ffc::fuzz::textOf(data, size));
  for (const std::string &hash : {std::string(), hashOf(data, size)})
    try {
      ffrt::WeightsFile file({path, hash});
      const unsigned char *bytes = file.read("w", 8, 8, 24);
      volatile unsigned char used = bytes[8 + 15];
      (void)used;
    } catch (const ffrt::Error &) {
    }
  return 0;
}
