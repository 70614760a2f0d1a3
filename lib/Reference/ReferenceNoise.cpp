//===- ReferenceNoise.cpp - random numbers --------------------------------===//

#include "Philox.h"
#include "ReferenceFamilies.h"

#include <cmath>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

/// As the runtime draws it.
static double normal(uint64_t key, uint64_t element, uint64_t step) {
  std::array<uint32_t, 4> words = philox(key, element / 4, step);
  const uint32_t *pair = words.data() + element % 4 / 2 * 2;
  float u = static_cast<float>((pair[0] >> 8) + 1) * 0x1p-24f;
  float radius = std::sqrt(-2.0f * std::log(u));
  float angle = 6.28318530718f * unitInterval(pair[1]);
  return radius * (element % 2 ? std::sin(angle) : std::cos(angle));
}

static void noise(const ReferenceCall &call) {
  const uint64_t key =
      call.context.seed ^ static_cast<uint64_t>(call.i64("key"));
  const bool isNormal = call.i64("kind") == 1;
  const plan::Shape &shape = call.outs[0].global();
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    int64_t element = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      element = element * shape[d] + i[d];
    const double drawn =
        isNormal ? normal(key, element, call.context.step)
                 : unitInterval(philoxWord(key, element, call.context.step));
    call.outs[0].at(i) = call.ins[0].at(i) + drawn;
  });
}

void ff::registerReferenceNoise() { registerReference("noise", noise); }
