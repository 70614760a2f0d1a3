//===- TopologyFuzz.cpp - topology files ----------------------------------===//

#include "Fuzz.h"

#include "ffc/Plan/Topology.h"

using namespace ffc;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string error;
  const auto topology =
      plan::Topology::parse(fuzz::textOf(data, size), "t.yaml", error);
  if (!topology) {
    if (error.empty())
      std::abort();
    return 0;
  }
  // What was accepted can be asked, and reads back as it is.
  topology->route(0, topology->numDevices() - 1);
  if (topology->numDevices() > 64)
    return 0;
  const auto again =
      plan::Topology::parse(topology->print(), "again.yaml", error);
  if (!again || again->hash() != topology->hash())
    std::abort();
  return 0;
}
