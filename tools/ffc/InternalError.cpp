//===- InternalError.cpp - faults that are ours ---------------------------===//

#include "InternalError.h"

#include "Options.h"

#include <atomic>
#include <csignal>
#include <new>
#include <unistd.h>

using namespace ffc;

/// A literal, since a handler of signals joins it to others.
#define FFC_REPORT "please report it with the model and the command"

std::string ffc::internalError(const llvm::Twine &what, const Options &options,
                               const llvm::Twine &details) {
  std::string text = ("internal error: " + what + "; " FFC_REPORT).str();
  std::string detours;
  if (options.fuse.value_or(true))
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

/// The thread that says that it crashed; 0: none does so far.
static std::atomic<pid_t> reporter = 0;

/// Nothing but what signals allow may be called here. Another thread may crash
/// meanwhile, or get a signal that was sent to all; it must not end the program
/// before this one has said so.
static void sayCrash(int signal) {
  const pid_t self = gettid();
  pid_t other = 0;
  if (!reporter.compare_exchange_strong(other, self) && other != self)
    for (;;)
      pause();
  static constexpr char text[] =
      "ffc: error: internal error: ffc crashed; " FFC_REPORT
      "; until it is mended, --fuse=off or --strategy data-parallel may get "
      "around it\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

static void sayNoMemory() {
  static constexpr char text[] =
      "ffc: error: out of memory while compiling, expected a machine with "
      "more, or a smaller model or batch\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(1);
}

void ffc::reportCrashes() {
  std::set_new_handler(sayNoMemory);
  // Where the stack has overflowed there is none left for the handler.
  static char memory[1 << 16];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = sayCrash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    sigaction(signal, &action, nullptr);
}
