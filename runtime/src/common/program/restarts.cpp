//===- restarts.cpp - ranks that are started again ------------------------===//
#include "common/program/restarts.h"

#include "ffrt/error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
constexpr int kEnding[] = {SIGTERM, SIGINT, SIGUSR2};
constexpr int kBadFlags = 2;

volatile std::sig_atomic_t child = 0, asked_to_end = 0;

void pass_on(int signal) {
  const bool again = asked_to_end != 0;
  if (signal != SIGUSR1)
    asked_to_end = signal;
  if (child > 0)
    kill(child, signal == SIGUSR1 ? SIGUSR1 : again ? SIGTERM : SIGUSR2);
}

/// As a shell has it.
int status_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_once(int attempt, const std::function<void(int attempt)> &start) {
  const pid_t parent = getpid(), process = fork();
  if (process < 0)
    throw Error(std::string("--restarts: cannot start a process: ") +
                std::strerror(errno));
  if (process == 0) {
    for (int signal : kSignals)
      std::signal(signal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // Ctrl-C is for the parent alone. Away from the terminal nothing can be
    // read.
    setpgid(0, 0);
    if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0)
      dup2(nothing, STDIN_FILENO);
    if (getppid() == parent)
      try {
        start(attempt);
      } catch (const Error &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
      }
    std::_Exit(kBadFlags);
  }
  child = process;
  if (asked_to_end) // before there was anybody to pass it on to
    kill(process, SIGUSR2);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return status_of(status);
}

} // namespace

int with_restarts(int restarts, const std::function<void(int attempt)> &start) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = pass_on;
  for (int signal : kSignals)
    sigaction(signal, &action, nullptr);
  for (int attempt = 0;; ++attempt) {
    const int status = run_once(attempt, start);
    if (asked_to_end)
      return 128 + asked_to_end;
    if (status == 0 || status == kBadFlags || attempt == restarts ||
        std::find(std::begin(kEnding), std::end(kEnding), status - 128) !=
            std::end(kEnding))
      return status;
    std::fprintf(stderr,
                 "ended with status %d: restart %d of %d, from the newest "
                 "checkpoint\n",
                 status, attempt + 1, restarts);
    std::fflush(stderr);
  }
}

} // namespace ffrt
