//===- FlexFlowMachine.h - the text of a machine model ----------*- C++ -*-===//
//
// Private to the library. The lines KEY = VALUE that FlexFlow takes with
// --machine-model-file, checked one by one.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_FLEXFLOWMACHINE_H
#define FFC_LIB_PLAN_FLEXFLOWMACHINE_H

#include "TopologyPattern.h"

#include <map>
#include <string>
#include <vector>

namespace ffc::plan {

/// All functions throw Malformed (Text.h).
class FlexFlowMachine {
public:
  struct Entry {
    std::vector<std::string> words; ///< at least one
    int line = 0;
  };

  /// Reads the lines and checks what each of them says by itself.
  explicit FlexFlowMachine(const std::string &text);

  bool has(const std::string &key) const { return entries.count(key) != 0; }
  /// What the file says about `key`, which it has to.
  const Entry &entry(const std::string &key) const;
  /// Its only word.
  const std::string &value(const std::string &key) const;
  int number(const std::string &key, int least, int most) const;
  /// Of a component such as "upi".
  LinkFigures figures(const std::string &component) const;

private:
  double decimal(const std::string &key, double most) const;
  void checkPath(const std::string &key) const;

  std::map<std::string, Entry> entries;
  int lastLine = 1;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXFLOWMACHINE_H
