//===- RankTable.h - numbers in which the ranks of a class differ -*- C++
//-*-===//
#ifndef FFC_LIB_CODEGEN_RANKTABLE_H
#define FFC_LIB_CODEGEN_RANKTABLE_H

#include "Text.h"

#include "ffc/Codegen/Identifiers.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <string>
#include <vector>

namespace ffc::codegen {

/// The rows behind `my` in the emitted text: a struct with a field for every
/// number that is not a constant, and a row per rank of the class.
///
/// Numbers of one meaning with equal values on all ranks share a field: where a
/// hundred tensors start at the same sample, the table has one column.
class RankTable {
public:
  /// The type of a field: `int` for ranks and groups.
  enum class Type { Int, Int64 };

  /// Text for a number with one value per rank of the class: a literal, or
  /// "my.<owner>_<meaning>".
  std::string number(llvm::ArrayRef<int64_t> values, llvm::StringRef owner,
                     const llvm::Twine &meaning, Type type = Type::Int64);

  bool empty() const { return fields.empty(); }
  void printStruct(Text &text, llvm::StringRef name) const;
  /// One line per rank.
  void printRows(Text &text, llvm::StringRef structName,
                 llvm::StringRef tableName,
                 llvm::ArrayRef<int64_t> ranks) const;

private:
  struct Field {
    std::string name;
    Type type;
    std::vector<int64_t> values;
    std::vector<std::string> users; ///< without repetitions in a row
  };
  NameScope names;
  std::vector<Field> fields;
  std::map<std::pair<std::string, std::vector<int64_t>>, size_t> byValues;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_RANKTABLE_H
