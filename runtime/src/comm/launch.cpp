//===- launch.cpp - starting ranks ----------------------------------------===//
#include "comm/launch.h"

#include "comm/local_launch.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace ffrt {

int environment_number(const char *variable, int missing) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : missing;
}

std::string this_program() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n < 0)
    throw Error("cannot find the path of this program");
  return std::string(path, std::size_t(n));
}

std::vector<std::string>
own_command(const std::vector<std::string> &arguments) {
  std::vector<std::string> words = {this_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

void exec(std::vector<std::string> words) {
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw Error("cannot start " + words[0] + ": " + std::strerror(errno));
}

const char *mpi_rank_variable() {
  if (std::getenv(kLocalRank))
    return nullptr;
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name))
      return name;
  return nullptr;
}

bool launched() {
  return std::getenv(kLocalRanks) || std::getenv("OMPI_COMM_WORLD_SIZE") ||
         std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
}

/// The first of the variables that is set, or `missing`.
static int first_of(std::initializer_list<const char *> variables,
                    int missing) {
  for (const char *variable : variables)
    if (std::getenv(variable))
      return environment_number(variable, missing);
  return missing;
}

int launched_rank() {
  return first_of({kLocalRank, "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"},
                  0);
}

int launched_local_rank() {
  return first_of({kLocalRank, "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                   "SLURM_LOCALID"},
                  0);
}

int launched_local_size() {
  return first_of({kLocalRanks, "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                   "SLURM_NTASKS_PER_NODE"},
                  1);
}

} // namespace ffrt
