//===- SearchProgress.cpp - what a user sees of a search ------------------===//

#include "SearchProgress.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <unistd.h>

using namespace ffc;
using llvm::StringRef;

static std::atomic<bool> interrupted{false};
/// What a SIGINT does while no search runs.
static struct sigaction previous;

std::string ffc::milliseconds(plan::Picoseconds time) {
  return llvm::formatv("{0:f3} ms", static_cast<double>(time) * 1e-9).str();
}

namespace {
/// Says how far the search is: on a terminal in a line that is written anew
/// several times a second, else in a line every few seconds.
class ProgressLine {
public:
  explicit ProgressLine(bool isTerminal) : isTerminal(isTerminal) {}

  void show(const search::Progress &progress) {
    using Seconds = std::chrono::duration<double>;
    const auto now = std::chrono::steady_clock::now();
    if (now < next)
      return;
    next = now + std::chrono::milliseconds(isTerminal ? 200 : 10000);
    const double elapsed = std::max(Seconds(now - start).count(), 1e-3);
    llvm::errs() << (isTerminal ? "\r\033[K" : "") << textOf(progress, elapsed)
                 << (isTerminal ? "" : "\n");
  }

private:
  static std::string textOf(const search::Progress &progress, double elapsed) {
    if (progress.proposals == 0)
      return llvm::formatv("ffc: search: {0}, best {1}, {2:f0} s",
                           progress.phase, milliseconds(progress.best), elapsed)
          .str();
    const auto proposals = static_cast<double>(progress.proposals);
    return llvm::formatv(
               "ffc: search {0:f0} %: best {1}, current {2}, {3} proposals, "
               "{4:f0} a second, {5:f0} % accepted, {6:f0} s left",
               100 * progress.share, milliseconds(progress.best),
               milliseconds(progress.current), progress.proposals,
               proposals / elapsed,
               100.0 * static_cast<double>(progress.accepted) / proposals,
               elapsed * (1 / progress.share - 1))
        .str();
  }

  bool isTerminal;
  std::chrono::steady_clock::time_point start =
                                            std::chrono::steady_clock::now(),
                                        next = start;
};
} // namespace

SearchWatch::SearchWatch(search::Options &searching, const Options &options)
    : isTerminal(!options.quiet && isatty(STDERR_FILENO)) {
  if (isTerminal || (options.verbose && !options.quiet))
    searching.progress = [line = ProgressLine(isTerminal)](
                             const search::Progress &progress) mutable {
      line.show(progress);
    };
  interrupted = false;
  searching.stop = &interrupted;
  struct sigaction action {};
  // A second one ends the process.
  action.sa_handler = [](int) {
    interrupted = true;
    sigaction(SIGINT, &previous, nullptr);
  };
  sigaction(SIGINT, &action, &previous);
}

SearchWatch::~SearchWatch() { sigaction(SIGINT, &previous, nullptr); }

void SearchWatch::clear() const {
  if (isTerminal)
    llvm::errs() << "\r\033[K";
}
