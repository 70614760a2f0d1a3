//===- TablesText.h - the tables of a program, read --------------*- C++
//-*-===//
#ifndef FFC_LIB_CODEGEN_TABLESTEXT_H
#define FFC_LIB_CODEGEN_TABLESTEXT_H

#include "ffc/Codegen/SourceFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace ffc::codegen {

/// A number of a list, or a word that stands for one.
struct Cell {
  llvm::StringRef word;
  int64_t number = 0;
  bool isOwn = false; ///< of the rank's row
  size_t line = 0;
};

struct TablesText {
  std::map<size_t, std::vector<Cell>> lists, own; ///< by class
  std::vector<std::string> groups, schedules, operators, transfers, inputs,
      outputs, states;
  std::vector<size_t> widths;
  std::vector<std::pair<size_t, size_t>> places;
};

/// From a file whose contents must outlive them. Fails with "FILE:LINE: ...".
llvm::Expected<TablesText> readTables(const SourceFile &tables);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TABLESTEXT_H
