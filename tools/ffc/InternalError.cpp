//===- InternalError.cpp - faults that are ours ---------------------------===//

#include "InternalError.h"

#include "Options.h"

#include <csignal>
#include <unistd.h>

using namespace ffc;

static constexpr llvm::StringLiteral kReport =
    "please report it with the model and the command";

std::string ffc::internalError(const llvm::Twine &what, const Options &options,
                               const llvm::Twine &details) {
  std::string text = ("internal error: " + what + "; " + kReport).str();
  std::string detours;
  if (options.fuse)
    detours = "--fuse=off";
  if (options.strategy != "data-parallel")
    detours += (detours.empty() ? "" : " or ") +
               std::string("--strategy data-parallel");
  if (detours.empty())
    detours = "a single device";
  text += "; until it is mended, try " + detours;
  if (!details.isTriviallyEmpty())
    text += (" (found: " + details + ")").str();
  return text;
}

/// Nothing but write and _exit may be called here.
static void sayCrash(int signal) {
  static constexpr char text[] =
      "ffc: error: internal error: ffc crashed; please report it with the "
      "model and the command; until it is mended, try --fuse=off or "
      "--strategy data-parallel\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void ffc::reportCrashes() {
  for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    std::signal(signal, sayCrash);
}
