//===- on_ranks.cpp - from main to the ranks ------------------------------===//
#include "common/program/on_ranks.h"

#include "comm/launch.h"
#include "common/program/flags.h"
#include "common/program/together.h"
#include "ffrt/error.h"
#include "ffrt/mpi.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace ffrt {

namespace {

/// Ends all ranks with status 2 after rank 0 has printed why; this one was
/// launched as `rank`. Under a launcher the ranks meet first: it would
/// kill rank 0 before it has printed when another one exits.
int reject(const std::string &cause, int rank, Comm *comm = nullptr) {
  std::unique_ptr<Comm> own;
  if (!comm && launched()) {
    own = make_mpi_comm();
    comm = own.get();
  }
  if (rank == 0 && (!comm || comm->rank() == 0)) {
    std::fprintf(stderr, "error: %s\n", cause.c_str());
    std::fflush(stderr);
  }
  if (comm)
    comm->barrier();
  return 2;
}

/// Where `srun` has started processes that MPI takes for runs of their own: it
/// was told of none, or of another one.
const char *missing_of_srun(int ranks) {
  return ranks == 1 && environment_number("SLURM_NTASKS", 1) > 1 &&
                 std::getenv("SLURM_PROCID") &&
                 !std::getenv("OMPI_COMM_WORLD_SIZE")
             ? "; srun starts ranks of one run with --mpi=pmix (Open MPI) or "
               "--mpi=pmi2 (MPICH)"
             : "";
}

} // namespace

int on_ranks(const char *program, int ranks, const char *task,
             const std::function<Start()> &parse,
             const std::function<void(Comm &)> &body) {
  // MPI that was told of no other ranks overwrites it.
  const int rank = launched_rank();
  Start start;
  Transport transport = Transport::automatic;
  try {
    start = parse();
    if (!start.text.empty()) {
      if (rank == 0)
        std::fputs(start.text.c_str(), stdout);
      return 0;
    }
    transport = chosen_transport();
  } catch (const Error &error) {
    return reject(error.what(), rank);
  }
  const std::unique_ptr<Comm> comm = make_comm(transport, start.deadline);
  if (comm->size() != ranks)
    return reject("expected '" + launch_command(program, ranks) + "', found " +
                      std::to_string(comm->size()) +
                      (comm->size() == 1 ? " rank" : " ranks") +
                      missing_of_srun(comm->size()),
                  rank, comm.get());
  try {
    body(*comm);
    return 0;
  } catch (const Stop &stop) {
    return stop.status;
  } catch (const std::exception &error) {
    comm->fail(task, error.what());
  }
  return 1;
}

void check_local_ranks(int asked, int ranks) {
  if (asked != ranks)
    expected("--local-ranks",
             std::to_string(ranks) + ", the number of ranks compiled in",
             std::to_string(asked));
}

void start_local_ranks(int ranks, const std::vector<std::string> &arguments) {
  if (launched())
    throw Error("--local-ranks: expected a start without mpirun, found one "
                "under it");
  exec_local_ranks(ranks, arguments);
}

Group make_world(Comm &comm) {
  std::vector<int> everyone(static_cast<std::size_t>(comm.size()));
  std::iota(everyone.begin(), everyone.end(), 0);
  return comm.make_group(everyone);
}

Context make_context(Comm &comm) {
  Context context;
  context.rank = comm.rank();
  context.ranks = comm.size();
  context.threads = set_threads(comm);
  return context;
}

} // namespace ffrt
