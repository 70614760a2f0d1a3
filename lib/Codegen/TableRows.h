//===- TableRows.h - a part of a class's list for one rank ------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TABLEROWS_H
#define FFC_LIB_CODEGEN_TABLEROWS_H

#include "TablesText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

namespace ffc::codegen {

/// Read from the front. After an error all numbers are 0.
class TableRows {
public:
  TableRows() = default;
  TableRows(llvm::ArrayRef<Cell> cells, llvm::ArrayRef<Cell> row)
      : cells(cells), row(row) {}

  int64_t next() {
    const Cell cell = take();
    return cell.isOwn ? own(cell) : cell.number;
  }
  size_t nextCount() {
    const int64_t count = next();
    if (count < 0)
      fail("a number of at least 0");
    return count < 0 ? 0 : static_cast<size_t>(count);
  }
  std::string word() { return take().word.str(); }
  std::string list(size_t count) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < count && !error; ++i)
      parts.push_back(std::to_string(next()));
    return "[" + llvm::join(parts, ", ") + "]";
  }
  TableRows take(size_t count) {
    if (count > cells.size())
      fail("so many numbers as it says");
    TableRows taken(cells.take_front(count), row);
    cells = cells.drop_front(std::min(count, cells.size()));
    return taken;
  }
  bool empty() const { return cells.empty(); }
  void fail(const std::string &expected) {
    if (!error)
      error = "ranks.inc:" + std::to_string(line) + ": expected " + expected;
  }

  void failAs(std::string text) {
    if (!error)
      error = std::move(text);
  }

  std::optional<std::string> error;

private:
  Cell take() {
    if (cells.empty()) {
      fail("a number, found the end of the rows");
      return {};
    }
    Cell cell = cells.front();
    cells = cells.drop_front();
    line = cell.line;
    return cell;
  }
  int64_t own(const Cell &cell) {
    if (cell.number >= 0 && static_cast<size_t>(cell.number) < row.size())
      return row[cell.number].number;
    fail("the number of a column");
    return 0;
  }

  llvm::ArrayRef<Cell> cells, row;
  size_t line = 0;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TABLEROWS_H
