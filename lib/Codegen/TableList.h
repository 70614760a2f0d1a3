//===- TableList.h - the numbers of a class of ranks ------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TABLELIST_H
#define FFC_LIB_CODEGEN_TABLELIST_H

#include "Text.h"

#include "ffc/IR/Rank.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <string>
#include <vector>

namespace ffc::codegen {

/// Names that tables refer to by number, in the order of their first use.
class NameList {
public:
  size_t number(llvm::StringRef name);
  /// A line each.
  void print(Text &text, llvm::StringRef indent) const;

private:
  std::vector<std::string> names;
  llvm::StringMap<size_t> numbers;
};

/// Numbers of a class, a line for everything that a person may look for.
struct TableList {
  TableList(rank::FuncOp func, size_t number) : func(func), number(number) {
    for (auto [i, buffer] :
         llvm::enumerate(func.getBody().getOps<rank::BufferOp>()))
      buffers[buffer] = i;
    size_t position = 0;
    for (mlir::Operation &op : func.getBody().front())
      if (op.hasAttr("task"))
        positions[&op] = position++;
  }

  /// A new line; `what` is a comment at its front.
  void line(const llvm::Twine &what) {
    flush();
    row = "  /* " + commentable(what.str()) + " */";
  }
  /// A new line of what the last one began.
  void more() {
    flush();
    row = "   ";
  }
  void add(int64_t value) { addText(literal(value)); }
  void addText(llvm::StringRef word) {
    row += " ";
    row += word;
    row += ',';
    ++count;
  }
  /// A number with one value for each rank of the class.
  void add(llvm::ArrayRef<int64_t> byRank) {
    if (llvm::all_equal(byRank))
      return add(byRank.front());
    auto [entry, isNew] = columns.try_emplace(byRank.vec(), own.size());
    if (isNew)
      own.push_back(byRank.vec());
    addText("own(" + std::to_string(entry->second) + ")");
  }
  void add(rank::PerAttr per, size_t column) {
    llvm::SmallVector<int64_t> values;
    for (size_t i = 0; i < func.getRanks().size(); ++i)
      values.push_back(per.at(i)[column]);
    add(values);
  }
  void addAll(rank::PerAttr per) {
    for (size_t column = 0; column < per.at(0).size(); ++column)
      add(per, column);
  }
  void add(mlir::Value buffer) {
    add(static_cast<int64_t>(buffers.at(buffer.getDefiningOp())));
  }
  void flush() {
    if (!row.empty())
      lines += row + "\n";
    row.clear();
  }
  /// How many numbers were added since the last call.
  size_t takeCount() { return std::exchange(count, 0); }

  rank::FuncOp func;
  const size_t number;
  std::string lines, row;
  size_t count = 0;
  std::map<std::vector<int64_t>, size_t> columns;
  std::vector<std::vector<int64_t>> own;
  llvm::DenseMap<mlir::Operation *, size_t> buffers, positions;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TABLELIST_H
