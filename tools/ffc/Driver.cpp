//===- Driver.cpp - from the command line to the output -------------------===//

#include "Driver.h"

#include "Commands.h"
#include "Compilation.h"
#include "InternalError.h"
#include "Options.h"

#include "llvm/Support/raw_ostream.h"

using namespace ffc;

const std::vector<Command> &ffc::commands() {
  static const std::vector<Command> table = {
      {"collectives", "shows how long collectives take on a topology",
       runCollectivesCommand},
      {"compare", "shows how far predicted times are from measured ones",
       runCompareCommand},
      {"explain", "shows what the alternatives for one operator would cost",
       runExplainCommand},
      {"export", "writes a model with what a program has learned",
       runExportCommand},
      {"parameters", "lists what of a model is trained, and why",
       runParametersCommand},
      {"profile", "writes a program that measures kernels and communication",
       runProfileCommand},
      {"simulate", "shows when the tasks of a step end on a network of servers",
       runSimulateCommand},
      {"stages", "cuts a measured model into the stages of a pipeline",
       runStagesCommand},
      {"time", "shows when the tasks of a timing problem start and end",
       runTimeCommand},
      {"topology", "shows a device topology; lists the presets",
       runTopologyCommand},
      {"verify", "proves a plan, and that a program's text does it",
       runVerifyCommand}};
  return table;
}

static std::string intro() {
  std::string text =
      "ffc: compiles an ONNX model to a program that trains it on several "
      "devices\n\n"
      "  ffc MODEL --devices FILE [--strategy FILE] -o PROGRAM\n"
      "  mpirun -n RANKS ./PROGRAM --steps 10\n"
      "\nCommands:\n";
  for (const Command &command : commands())
    text += describeLine(llvm::Twine("ffc ") + command.name, command.summary);
  return text;
}

static llvm::Error check(Options &options) {
  return options.version || options.listOperators ? llvm::Error::success()
                                                  : checkModelCommand(options);
}

static int compile(const Options &options) {
  if (options.version) {
    llvm::outs() << "ffc " << FFC_VERSION << '\n';
    return 0;
  }
  if (options.listOperators) {
    for (const std::string &name : importedOperators())
      llvm::outs() << name << '\n';
    return 0;
  }
  return succeeded(Compilation(options).run()) ? 0 : 1;
}

int ffc::runDriver(int argc, char **argv) {
  reportCrashes();
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // "ffc help topology" is "ffc topology --help", and "ffc help" "ffc --help".
  if (!arguments.empty() && arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  }
  for (const Command &command : commands())
    if (!arguments.empty() && arguments[0] == command.name)
      return command.run({arguments.begin() + 1, arguments.end()});
  return runCommandLine<Options>(
      {"ffc", intro(), modelFlags(), check, compile, kCompile}, arguments);
}
