//===- ChakraTrace.h - plans as traces of MLCommons Chakra ------*- C++ -*-===//
//
// Execution traces by schema 1.0.0 (lib/Export/chakra.proto), which ETFeeder
// and ASTRA-sim read: for every rank the tasks of a step in the plan's order,
// how long they take, and what they wait for. docs/timeline.md says what is in
// a node.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_EXPORT_CHAKRATRACE_H
#define FFC_EXPORT_CHAKRATRACE_H

#include "ffc/Plan/Simulation.h"

#include <iosfwd>

namespace ffc::chakra {

/// Micro-batches (Graph::microBatches) are written out one by one. Keeps a
/// reference to the simulation; ranks may be written in any order.
class Trace {
public:
  explicit Trace(const plan::Simulation &simulation);

  /// One rank's file: a GlobalMetadata, then a Node after the other, each after
  /// its length (a varint). A node depends on nodes before it only.
  void writeRank(std::ostream &out, plan::DeviceId rank) const;
  /// The members of communicators by `pg_name`, as JSON: ASTRA-sim's
  /// communicator groups.
  void writeGroups(std::ostream &out) const;

private:
  const plan::Simulation &simulation;
  /// How long a micro-batch takes; only of a step that has several.
  plan::Picoseconds microBatch = 0;
  /// The most messages that one exchange has from a device to another.
  int messagesOfPair = 1;
};

} // namespace ffc::chakra

#endif // FFC_EXPORT_CHAKRATRACE_H
