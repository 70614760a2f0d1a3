//===- NamePatterns.h - --train and --freeze --------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_NAMEPATTERNS_H
#define FFC_LIB_IMPORT_NAMEPATTERNS_H

#include "ffc/Import/Import.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>

namespace ffc::importer {

/// What the user says of names. The last pattern that matches one counts.
class NamePatterns {
public:
  struct Answer {
    bool isTrained;
    std::string flag; ///< "--train '*.bias'"
  };

  static llvm::Expected<NamePatterns> create(llvm::ArrayRef<TrainRule> rules);

  /// Of a value with these names; empty ones are left out.
  std::optional<Answer> match(llvm::ArrayRef<std::string> names);
  /// Of a value that only its whole name is taken for.
  std::optional<Answer> matchWhole(llvm::StringRef name);
  /// Notes a value that cannot be trained, and the reason.
  void addOther(llvm::StringRef name, const std::string &why);

  /// An error for the first pattern that matched nothing.
  llvm::Error checkUsed() const;

private:
  struct Rule {
    TrainRule given;
    llvm::GlobPattern glob;
    bool isUsed = false;

    std::string flag() const;
  };
  std::vector<Rule> rules;
  std::vector<std::string> seen;
  llvm::StringMap<std::string> others;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_NAMEPATTERNS_H
