//===- ProgramReader.h - what the text of a program does --------*- C++ -*-===//
//
// Reads the files of a program again, as they were written or as somebody has
// changed them, and lists what every rank does in a step.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_PROGRAMREADER_H
#define FFC_CODEGEN_PROGRAMREADER_H

#include "ffc/Codegen/SourceFile.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// What a rank has and does, a line each: its buffers, slots and loss by name,
/// then its actions in their order, with tasks, buffers, places and peers.
struct RankActions {
  std::vector<std::string> groups; ///< members of each communicator
  std::vector<std::string> schedules;
  std::vector<std::string> buffers;
  std::vector<std::string> slots;
  /// What is done in a micro-batch, and what after the last one.
  std::vector<std::string> step, update;
};

/// By rank, from the text of a program and its tables. Fails with "FILE:LINE:
/// ..." on text that is not that of a program.
llvm::Expected<std::vector<RankActions>> readProgram(const SourceFile &text,
                                                     const SourceFile &tables);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_PROGRAMREADER_H
