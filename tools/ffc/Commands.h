//===- Commands.h - what ffc does besides compiling -------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_COMMANDS_H
#define FFC_TOOLS_FFC_COMMANDS_H

#include <string>
#include <vector>

namespace ffc {

/// "ffc NAME ARGUMENTS". A model file of that name is called "./NAME".
struct Command {
  const char *name;
  const char *summary; ///< a line of ffc --help
  /// Takes what follows the name and returns the exit status (Driver.h).
  int (*run)(const std::vector<std::string> &arguments);
};

const std::vector<Command> &commands();

/// Each in the file of its name.
int runCollectivesCommand(const std::vector<std::string> &arguments);
int runCompareCommand(const std::vector<std::string> &arguments);
int runExplainCommand(const std::vector<std::string> &arguments);
int runExportCommand(const std::vector<std::string> &arguments);
int runParametersCommand(const std::vector<std::string> &arguments);
int runProfileCommand(const std::vector<std::string> &arguments);
int runSimulateCommand(const std::vector<std::string> &arguments);
int runStagesCommand(const std::vector<std::string> &arguments);
int runTimeCommand(const std::vector<std::string> &arguments);
int runTopologyCommand(const std::vector<std::string> &arguments);
int runVerifyCommand(const std::vector<std::string> &arguments);

} // namespace ffc

#endif // FFC_TOOLS_FFC_COMMANDS_H
