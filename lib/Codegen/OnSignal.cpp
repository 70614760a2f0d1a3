//===- OnSignal.cpp - what a signal that ends ffc leaves behind -----------===//

#include "ffc/Codegen/OnSignal.h"

#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

using namespace ffc::codegen;

// A handler can call little, and neither allocates nor locks: what it needs is
// in arrays. More entries than these are not looked after.
static constexpr int kPaths = 16, kGroups = 16;
static constexpr size_t kPathBytes = 4096;

namespace {
enum State : int { Unused, BeingMade, Used };
struct Path {
  std::atomic<int> state{Unused};
  char text[kPathBytes];
};
} // namespace

static Path paths[kPaths];
static std::atomic<pid_t> groups[kGroups];

static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[std::size(kSignals)];

/// Ends a group of processes, and waits for that.
static void end(pid_t group) {
  constexpr int kTurns = 200;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Compilers remove their own temporary files, unless they hang.
    if (kill(-group, turn == 0           ? SIGTERM
                     : turn < kTurns / 2 ? 0
                                         : SIGKILL) != 0)
      return;
    waitpid(group, nullptr, WNOHANG);
    const timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

static void handle(int signal) {
  static constexpr char kText[] =
      "ffc: error: ended by a signal; what was begun is removed\n";
  const int cause = errno;
  if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0)
    errno = 0; // there is nobody to tell
  for (std::atomic<pid_t> &group : groups)
    if (const pid_t process = group; process > 0)
      end(process);
  for (Path &path : paths) {
    if (path.state != Used || access(path.text, F_OK) != 0)
      continue;
    const pid_t remover = fork();
    if (remover == 0) {
      execl("/bin/rm", "rm", "-rf", "--", path.text, nullptr);
      _exit(1);
    }
    while (remover > 0 && waitpid(remover, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal)
      sigaction(signal, &before[i], nullptr);
  raise(signal); // when this returns
  errno = cause;
}

static void install() {
  static const bool installed = [] {
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], nullptr, &before[i]);
      // What is to be ignored stays so.
      if (before[i].sa_handler != SIG_IGN)
        sigaction(kSignals[i], &action, nullptr);
    }
    return true;
  }();
  (void)installed;
}

RemovedOnSignal::RemovedOnSignal(llvm::StringRef path) : entry(-1) {
  install();
  if (path.size() >= kPathBytes)
    return;
  for (int i = 0; i < kPaths && entry < 0; ++i)
    if (int unused = Unused;
        paths[i].state.compare_exchange_strong(unused, BeingMade)) {
      std::memcpy(paths[i].text, path.data(), path.size());
      paths[i].text[path.size()] = '\0';
      paths[i].state = Used;
      entry = i;
    }
}

RemovedOnSignal::~RemovedOnSignal() {
  if (entry >= 0)
    paths[entry].state = Unused;
}

EndedOnSignal::EndedOnSignal(int process) : entry(-1) {
  install();
  for (int i = 0; process > 0 && i < kGroups && entry < 0; ++i)
    if (pid_t none = 0; groups[i].compare_exchange_strong(none, process))
      entry = i;
}

EndedOnSignal::~EndedOnSignal() {
  if (entry >= 0)
    groups[entry] = 0;
}
