//===- SimulateReport.h - what ffc simulate prints --------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_SIMULATEREPORT_H
#define FFC_TOOLS_FFC_SIMULATEREPORT_H

#include "ffc/Network/PacketTransport.h"
#include "ffc/Network/Simulate.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc {

struct SimulatedRun {
  llvm::StringRef model, summary; ///< "flows", and what that is
  const network::Network &network;
  const network::SimulatedStep &step;
  std::vector<std::string> taskNames = {};
  std::optional<network::PacketCounts> packets = std::nullopt;
};

/// On standard output, for people, and as JSON with times in picoseconds; with
/// a line for each task if `tasks`.
void printReport(const SimulatedRun &run, bool tasks);
void printJson(const SimulatedRun &run, bool tasks);

} // namespace ffc

#endif // FFC_TOOLS_FFC_SIMULATEREPORT_H
