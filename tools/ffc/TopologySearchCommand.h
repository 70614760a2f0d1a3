//===- TopologySearchCommand.h - ffc topology search ------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_TOPOLOGYSEARCHCOMMAND_H
#define FFC_TOOLS_FFC_TOPOLOGYSEARCHCOMMAND_H

#include <string>
#include <vector>

namespace ffc {

/// Takes what follows "ffc topology search" and returns the exit status.
int runTopologySearchCommand(const std::vector<std::string> &arguments);

} // namespace ffc

#endif // FFC_TOOLS_FFC_TOPOLOGYSEARCHCOMMAND_H
