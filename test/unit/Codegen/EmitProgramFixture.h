//===- EmitProgramFixture.h - text printed from `rank`, compiled -*- C++
//-*-===//
#ifndef FFC_TEST_CODEGEN_EMITPROGRAMFIXTURE_H
#define FFC_TEST_CODEGEN_EMITPROGRAMFIXTURE_H

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/IR/FF.h"
#include "ffc/IR/Rank.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace ffc {

class EmitProgram : public testing::Test {
protected:
  EmitProgram()
      : handler(&context, [this](mlir::Diagnostic &diag) {
          llvm::raw_string_ostream(error) << diag;
        }) {
    context.loadDialect<ff::FFDialect, rank::RankDialect>();
  }

  /// train.cpp and ranks.inc; empty after an error.
  std::vector<codegen::SourceFile> emit(const std::string &source,
                                        const codegen::ProgramMeta &meta = {}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    if (!module)
      return {};
    auto files = codegen::emitProgram(*module, meta);
    return mlir::failed(files) ? std::vector<codegen::SourceFile>() : *files;
  }

  /// What the compiler says to the text, which includes the runtime's headers.
  static std::string compile(const std::vector<codegen::SourceFile> &files) {
    llvm::SmallString<128> folder, log;
    llvm::sys::fs::createUniqueDirectory("ffc-codegen", folder);
    for (const codegen::SourceFile &file : files) {
      std::error_code ec;
      llvm::raw_fd_ostream((folder + "/" + file.path).str(), ec)
          << file.contents;
    }
    log = folder;
    log += "/log";
    std::string source = (folder + "/train.cpp").str();
    std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                  log.str()};
    int status = llvm::sys::ExecuteAndWait(
        FFC_CXX,
        {FFC_CXX, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         "-I" FFC_RUNTIME_INCLUDE, source},
        std::nullopt, redirects);
    auto text = llvm::MemoryBuffer::getFile(log);
    std::string said = text ? (*text)->getBuffer().str() : "no log";
    llvm::sys::fs::remove_directories(folder);
    return status == 0 ? said : said + "exit status " + std::to_string(status);
  }

  mlir::MLIRContext context;
  std::string error;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ffc

#endif // FFC_TEST_CODEGEN_EMITPROGRAMFIXTURE_H
