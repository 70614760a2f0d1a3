//===- Fuzz.h - what the targets share --------------------------*- C++ -*-===//
//
// A target is a function of some bytes, which must return whatever they are:
// LLVMFuzzerTestOneInput, as libFuzzer calls it. Without libFuzzer, Driver.cpp
// has a main function that changes seeds at random.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TEST_FUZZ_FUZZ_H
#define FFC_TEST_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace ffc::fuzz {

inline std::string textOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// A folder of this process, for readers that take paths; in memory where the
/// machine has such a place.
inline const std::string &folder() {
  static const std::string path = [] {
    std::string name = access("/dev/shm", W_OK) == 0
                           ? "/dev/shm/ffc-fuzz-XXXXXX"
                           : "/tmp/ffc-fuzz-XXXXXX";
    if (!mkdtemp(name.data()))
      std::abort();
    return name;
  }();
  return path;
}

/// The path of a file in the folder with these bytes.
inline std::string fileOf(const std::string &name, const std::string &bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

} // namespace ffc::fuzz

#endif // FFC_TEST_FUZZ_FUZZ_H
