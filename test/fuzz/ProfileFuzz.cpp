//===- ProfileFuzz.cpp - profiles of machines -----------------------------===//

#include "Fuzz.h"

#include "ffc/Plan/Profile.h"

using namespace ffc;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string error;
  const auto profile =
      plan::Profile::parse(fuzz::textOf(data, size), "p.txt", error);
  if (!profile && error.empty())
    std::abort();
  if (profile)
    profile->atRates("matmul", 1e9, 1 << 20);
  return 0;
}
