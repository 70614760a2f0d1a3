//===- Driver.cpp - from the command line to the output -------------------===//

#include "Driver.h"

#include "Compilation.h"
#include "Options.h"
#include "Report.h"

#include "llvm/Support/raw_ostream.h"

using namespace ffc;

int ffc::runDriver(int argc, char **argv) {
  llvm::Expected<Options> options =
      parseOptions(std::vector<std::string>(argv + 1, argv + argc));
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
