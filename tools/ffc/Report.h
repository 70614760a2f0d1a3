//===- Report.h - what ffc says on standard error ---------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_REPORT_H
#define FFC_TOOLS_FFC_REPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <chrono>
#include <string>
#include <vector>

namespace ffc {

/// Lines of the report and the time of every phase.
class Report {
public:
  explicit Report(bool quiet) : quiet(quiet) {}

  /// Ends the phase before and starts the next one.
  void phase(llvm::StringRef name);
  /// "ffc: text", unless quiet.
  void say(const llvm::Twine &text) const;
  /// "ffc: import 0.12 s, plan 0.03 s".
  void sayTimes();

private:
  using Clock = std::chrono::steady_clock;
  void finish();

  bool quiet;
  std::string current;
  Clock::time_point start;
  std::vector<std::string> times;
};

/// Prints "ffc: error: text" on standard error.
void printError(const llvm::Twine &text);

/// "12.3 MB", "1.2 GB".
std::string bytesText(int64_t bytes);

} // namespace ffc

#endif // FFC_TOOLS_FFC_REPORT_H
