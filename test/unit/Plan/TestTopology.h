//===- TestTopology.h - topologies for tests --------------------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_PLAN_TESTTOPOLOGY_H
#define FFC_TEST_UNIT_PLAN_TESTTOPOLOGY_H

#include "ffc/Plan/Topology.h"

#include <stdexcept>
#include <string>

namespace ffc::plan::testing {

inline Topology orThrow(const std::optional<Topology> &topology,
                        const std::string &error) {
  if (!topology)
    throw std::runtime_error(error);
  return *topology;
}

/// The topology of a file with that text.
inline Topology parse(const std::string &text,
                      const std::string &fileName = "t.yaml") {
  std::string error;
  std::optional<Topology> topology = Topology::parse(text, fileName, error);
  return orThrow(topology, error);
}

/// The topology of a preset or of the file at a path.
inline Topology load(const std::string &nameOrPath) {
  std::string error;
  std::optional<Topology> topology = Topology::load(nameOrPath, error);
  return orThrow(topology, error);
}

/// Why `text` is not a topology; empty if it is one.
inline std::string errorOf(const std::string &text,
                           const std::string &fileName = "t.yaml") {
  std::string error;
  (void)Topology::parse(text, fileName, error);
  return error;
}

/// Cores of one machine.
inline Topology ranks(int count, const std::string &bandwidth = "10 GB/s",
                      const std::string &latency = "1 us") {
  return parse("devices: " + std::to_string(count) +
               " x cpu-core\ninterconnect: {type: shared-memory, bandwidth: " +
               bandwidth + ", latency: " + latency + "}\n");
}

/// Devices that communicate and compute at once.
inline Topology overlapping(int count, const std::string &latency = "1 us") {
  return parse("kinds: {k: {like: h200, generation: none}}\ndevices: " +
               std::to_string(count) +
               " x k\ninterconnect: {type: switch, bandwidth: 10 GB/s, "
               "latency: " +
               latency + "}\n");
}

} // namespace ffc::plan::testing

#endif // FFC_TEST_UNIT_PLAN_TESTTOPOLOGY_H
