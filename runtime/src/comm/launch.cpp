//===- launch.cpp - starting ranks ----------------------------------------===//
#include "comm/launch.h"

#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>

namespace ffrt {

namespace {

/// A number from the environment, or `missing`.
int number(const char *variable, int missing) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : missing;
}

void set_default(const char *variable, const char *value) {
  setenv(variable, value, 0);
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return CPU_COUNT(&set);
}

std::string this_program() {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n < 0)
    throw Error("cannot find the path of this program");
  return std::string(path, std::size_t(n));
}

} // namespace

bool launched() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK") ||
         std::getenv("PMI_RANK");
}

int launched_rank() {
  return number("OMPI_COMM_WORLD_RANK",
                number("PMIX_RANK", number("PMI_RANK", 0)));
}

int launched_local_rank() {
  return number("OMPI_COMM_WORLD_LOCAL_RANK",
                number("MPI_LOCALRANKID", number("SLURM_LOCALID", 0)));
}

int launched_local_size() {
  return number("OMPI_COMM_WORLD_LOCAL_SIZE",
                number("MPI_LOCALNRANKS", number("SLURM_NTASKS_PER_NODE", 1)));
}

void prepare_mpi_environment() {
  if (!launched()) {
    // One process: no daemon, no network, and no session folder: all programs
    // of one process would share it, and one that ends removes it under others.
    set_default("OMPI_MCA_orte_create_session_dirs", "false");
    set_default("OMPI_MCA_ess_singleton_isolated", "1");
    set_default("OMPI_MCA_pml", "ob1");
    set_default("OMPI_MCA_btl", "self");
    return;
  }
  int size = number("OMPI_COMM_WORLD_SIZE", 0);
  int local = number("OMPI_COMM_WORLD_LOCAL_SIZE", 0);
  if (size > 0 && size == local) {
    set_default("OMPI_MCA_pml", "ob1");
    set_default("OMPI_MCA_btl", "self,vader");
  }
  if (local > available_cores())
    set_default("OMPI_MCA_mpi_yield_when_idle", "1");
}

void exec_local_ranks(int ranks, const std::vector<std::string> &arguments) {
  set_default("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set_default("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  // The ranks share a node and divide its cores themselves.
  std::vector<std::string> words = {
      "mpirun",    "-n",   std::to_string(ranks), "--oversubscribe",
      "--bind-to", "none", this_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp("mpirun", pointers.data());
  throw Error(std::string("cannot start mpirun: ") + std::strerror(errno));
}

} // namespace ffrt
