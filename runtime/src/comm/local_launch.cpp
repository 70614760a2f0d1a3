//===- local_launch.cpp - starting ranks without MPI ----------------------===//
#include "comm/local_launch.h"

#include "comm/launch.h"
#include "comm/shm_segment.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ffrt {

namespace {

std::vector<pid_t> started; ///< ranks, for signals; 0 where one has ended

/// Ranks are asked as their launcher is.
void pass_on(int signal) {
  for (pid_t rank : started)
    if (rank > 0)
      kill(rank, signal);
}

/// A rank, which ends with its launcher.
pid_t start_rank(const std::vector<std::string> &command) {
  const pid_t launcher = getpid(), rank = fork();
  if (rank != 0)
    return rank;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == launcher)
    try {
      exec(command);
    } catch (const Error &error) {
      std::fprintf(stderr, "error: %s\n", error.what());
    }
  std::_Exit(1);
}

void end_all(const std::vector<pid_t> &processes) {
  for (pid_t process : processes)
    if (process > 0)
      kill(process, SIGKILL);
}

/// Waits for all. When one fails the others end, too; returns its status.
int wait_for_all(std::vector<pid_t> &processes) {
  int result = 0, status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, 0)) > 0 || errno == EINTR;) {
    for (std::size_t rank = 0; rank < processes.size(); ++rank) {
      if (processes[rank] != ended)
        continue;
      processes[rank] = 0;
      if (result != 0 || status == 0)
        continue;
      if (WIFSIGNALED(status))
        std::fprintf(stderr, "error: rank %zu: ended by signal %d (%s)\n", rank,
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
      result =
          WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      end_all(processes);
    }
  }
  return result;
}

} // namespace

void exec_local_ranks(int ranks, const std::vector<std::string> &arguments) {
  const std::vector<std::string> command = own_command(arguments);
  const SharedFile shared = make_shared_file();
  if (!shared.problem.empty())
    throw Error("--local-ranks: " + shared.problem);
  fcntl(shared.file, F_SETFD, 0); // the ranks get it
  setenv(kLocalRanks, std::to_string(ranks).c_str(), 1);
  setenv(kLocalFile, std::to_string(shared.file).c_str(), 1);
  std::vector<pid_t> &processes = started;
  processes.reserve(std::size_t(ranks)); // handlers may look at it
  for (int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2})
    std::signal(signal, pass_on);
  for (int rank = 0; rank < ranks; ++rank) {
    setenv(kLocalRank, std::to_string(rank).c_str(), 1);
    processes.push_back(start_rank(command));
    if (processes.back() < 0) {
      const std::string cause = std::strerror(errno);
      end_all(processes);
      throw Error("--local-ranks: cannot start a rank: " + cause);
    }
  }
  close(shared.file);
  std::exit(wait_for_all(processes));
}

std::string launch_command(const std::string &program, int ranks) {
  return ranks == 1 ? program
                    : program + " --local-ranks " + std::to_string(ranks);
}

} // namespace ffrt
