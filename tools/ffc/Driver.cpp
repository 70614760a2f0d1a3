//===- Driver.cpp - from the command line to the output -------------------===//

#include "Driver.h"

#include "Commands.h"
#include "Compilation.h"
#include "Options.h"
#include "Report.h"

#include "llvm/Support/raw_ostream.h"

using namespace ffc;

const std::vector<Command> &ffc::commands() {
  static const std::vector<Command> table = {
      {"compare", "shows how far predicted times are from measured ones",
       runCompareCommand},
      {"explain", "shows what the alternatives for one operator would cost",
       runExplainCommand},
      {"profile", "writes a program that measures kernels and communication",
       runProfileCommand},
      {"time", "shows when the tasks of a timing problem start and end",
       runTimeCommand},
      {"topology", "shows a device topology; lists the presets",
       runTopologyCommand}};
  return table;
}

int ffc::runDriver(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const Command &command : commands())
    if (!arguments.empty() && arguments[0] == command.name)
      return command.run({arguments.begin() + 1, arguments.end()});
  llvm::Expected<Options> options = parseOptions(arguments);
  if (!options) {
    printError(llvm::toString(options.takeError()));
    return 2;
  }
  if (options->help) {
    llvm::outs() << usage();
    return 0;
  }
  if (options->version) {
    llvm::outs() << "ffc " << FFC_VERSION << '\n';
    return 0;
  }
  return succeeded(Compilation(*options).run()) ? 0 : 1;
}
