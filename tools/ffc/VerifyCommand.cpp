//===- VerifyCommand.cpp - ffc verify -------------------------------------===//
//
// Whether the text of a program does what was planned, and proved.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Flags.h"
#include "Report.h"

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/IR/FF.h"
#include "ffc/IR/Rank.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ffc;

namespace {
struct VerifyOptions : CommandOptions {};
} // namespace

static const std::vector<FlagGroupOf<VerifyOptions>> &flagGroups() {
  static const std::vector<FlagGroupOf<VerifyOptions>> groups = {
      {"Output", {helpFlag<VerifyOptions>()}}};
  return groups;
}

static const char *const kIntro =
    "ffc verify: whether a program does what was planned\n\n"
    "  ffc MODEL --devices FILE --emit=source -o FOLDER\n"
    "  ffc verify FOLDER\n\n"
    "Reads train.cpp and ranks.inc, and compares what every rank does in a "
    "step "
    "with plan.rank, which was proved safe when the folder was written: tasks "
    "and their order, operands, places, peers.\n";

static llvm::Error check(VerifyOptions &options) {
  return expectArguments(options, 1, "a folder with the sources of a program");
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
load(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (buffer)
    return std::move(*buffer);
  return llvm::createStringError(
      path + ": cannot be read: " + buffer.getError().message() +
      "; --emit=source writes such a folder");
}

static llvm::Expected<size_t> verify(const std::string &folder) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  for (StringRef name : {StringRef("train.cpp"), StringRef("ranks.inc"),
                         StringRef(codegen::kPlanFile)}) {
    auto file = load(folder + "/" + name.str());
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  MLIRContext context;
  context.loadDialect<ff::FFDialect, rank::RankDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str();
  });
  auto plan = parseSourceString<ModuleOp>(files[2]->getBuffer(), &context);
  if (!plan)
    return llvm::createStringError(
        folder + "/" + codegen::kPlanFile +
        ": expected a plan, found text that is none: " + diagnostics);
  if (llvm::Error error = codegen::verifyProgram(*plan, files[0]->getBuffer(),
                                                 files[1]->getBuffer())) {
    if (diagnostics.empty())
      return error;
    return llvm::createStringError(toString(std::move(error)) + ": " +
                                   diagnostics);
  }
  size_t ranks = 0;
  for (auto func : plan->getOps<rank::FuncOp>())
    ranks += func.getRanks().size();
  return ranks;
}

static int verify(const VerifyOptions &options) {
  llvm::Expected<size_t> ranks = verify(options.arguments[0]);
  if (!ranks) {
    printError(options.arguments[0] + ": " + toString(ranks.takeError()));
    return 1;
  }
  llvm::outs() << "verified: " << *ranks
               << (*ranks == 1 ? " rank does" : " ranks do")
               << " what was planned\n";
  return 0;
}

int ffc::runVerifyCommand(const std::vector<std::string> &arguments) {
  return runCommandLine<VerifyOptions>(
      {"ffc verify", kIntro, flagGroups(), check, verify}, arguments);
}
