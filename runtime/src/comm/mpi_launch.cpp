//===- mpi_launch.cpp - starting ranks with MPI ---------------------------===//
#include "comm/mpi_launch.h"

#include "comm/launch.h"
#include "ffrt/mpi.h"

#include <cstdlib>
#include <mpi.h>
#include <sched.h>

namespace ffrt {

namespace {

#ifdef OPEN_MPI
constexpr bool kIsOpenMpi = true;
constexpr const char *kLauncher = "mpirun";
#else
constexpr bool kIsOpenMpi = false;
constexpr const char *kLauncher = "mpiexec"; // as the standard has it
#endif

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

} // namespace

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
  int size = environment_number("OMPI_COMM_WORLD_SIZE", 0);
  int local = environment_number("OMPI_COMM_WORLD_LOCAL_SIZE", 0);
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
  std::vector<std::string> words = {kLauncher, "-n", std::to_string(ranks),
                                    "-bind-to", "none"};
  if (kIsOpenMpi)
    words.push_back("--oversubscribe");
  for (std::string &word : own_command(arguments))
    words.push_back(std::move(word));
  exec(std::move(words));
}

std::string launch_command(const std::string &program, int ranks) {
  return "mpirun -n " + std::to_string(ranks) + " " + program;
}

} // namespace ffrt
