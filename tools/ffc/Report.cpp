//===- Report.cpp - what ffc says on standard error -----------------------===//

#include "Report.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ffc;

void Report::finish() {
  if (current.empty())
    return;
  std::chrono::duration<double> seconds = Clock::now() - start;
  times.push_back(current + formatv(" {0:f2} s", seconds.count()).str());
  current.clear();
}

void Report::phase(StringRef name) {
  finish();
  current = name.str();
  start = Clock::now();
}

void Report::say(const Twine &text) const {
  if (!quiet)
    errs() << "ffc: " << text << '\n';
}

void Report::sayTimes() {
  finish();
  say(join(times, ", "));
}

void ffc::printError(const Twine &text) {
  errs() << "ffc: error: " << text << '\n';
}

std::string ffc::bytesText(int64_t bytes) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return formatv(unit == 0 ? "{0:f0} {1}" : "{0:f1} {1}", value, units[unit])
      .str();
}
