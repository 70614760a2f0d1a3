//===- mpi_nodes.cpp - shared memory within nodes, MPI between them -------===//
#include "comm/mpi_comm.h"
#include "comm/shm_comm.h"
#include "comm/watched_comm.h"
#include "ffrt/mpi.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

namespace ffrt {

namespace {

/// Ranks of one node, for tests of several nodes on one machine: 0: all.
int ranks_per_node() {
  const char *text = std::getenv("FFRT_RANKS_PER_NODE");
  return text ? std::atoi(text) : 0;
}

/// The node of every rank, by its lowest rank.
class Nodes {
public:
  Nodes(int rank, int ranks) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                        MPI_INFO_NULL, &comm);
    if (const int most = ranks_per_node(); most > 0) {
      MPI_Comm whole = comm;
      MPI_Comm_split(whole, rank / most, rank, &comm);
      MPI_Comm_free(&whole);
    }
    int lowest = rank;
    MPI_Bcast(&lowest, 1, MPI_INT, 0, comm);
    leader.resize(std::size_t(ranks));
    MPI_Allgather(&lowest, 1, MPI_INT, leader.data(), 1, MPI_INT,
                  MPI_COMM_WORLD);
    for (int other = 0; other < ranks; ++other)
      if (leader[std::size_t(other)] == lowest)
        members.push_back(other);
  }
  ~Nodes() { MPI_Comm_free(&comm); }
  Nodes(const Nodes &) = delete;
  Nodes &operator=(const Nodes &) = delete;

  MPI_Comm comm;
  std::vector<int> leader;  ///< per rank
  std::vector<int> members; ///< of this rank's node
};

/// What rank 0 of the node tells the others. Ranks in different containers may
/// call different files by the same path: the token tells them apart.
struct Address {
  int64_t process, file, token;
};

/// Makes the file on rank 0 of the node; the others open it through /proc.
/// Collective over `node`.
SharedFile share_file(MPI_Comm node) {
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  Address address{getpid(), -1, 0};
  SharedFile shared;
  if (rank == 0) {
    address.token =
        std::chrono::steady_clock::now().time_since_epoch().count() ^
        address.process << 40;
    shared = make_shared_file();
    if (shared.problem.empty() &&
        pwrite(shared.file, &address.token, sizeof address.token,
               kSharedFileEnd) != ssize_t(sizeof address.token))
      shared.problem =
          std::string("cannot make shared memory: ") + std::strerror(errno);
    address.file = shared.problem.empty() ? shared.file : -1;
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, node);
  if (rank == 0)
    return shared;
  if (address.file < 0)
    return {-1, "the first rank of the node could not make shared memory"};
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" +
                           std::to_string(address.file);
  shared.file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  int64_t token = 0;
  if (shared.file < 0)
    shared.problem = "cannot open '" + path + "': " + std::strerror(errno);
  else if (pread(shared.file, &token, sizeof token, kSharedFileEnd) !=
               ssize_t(sizeof token) ||
           token != address.token)
    shared.problem =
        "'" + path + "': expected memory of this program, found other";
  return shared;
}

} // namespace

std::unique_ptr<Comm> make_unwatched_comm(Transport transport) {
  std::unique_ptr<Network> mpi = make_mpi_network();
  if (transport == Transport::mpi || mpi->size() == 1)
    return mpi;
  const Nodes nodes(mpi->rank(), mpi->size());
  auto node = std::make_unique<Node>(share_file(nodes.comm), nodes.members,
                                     mpi->rank());
  // All ranks do the same: shared memory everywhere, or nowhere.
  struct {
    int good, rank;
  } vote{node->problem().empty(), mpi->rank()}, lowest;
  MPI_Allreduce(&vote, &lowest, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  if (lowest.good)
    return make_shm_comm(std::move(mpi), nodes.leader, std::move(node));
  if (transport == Transport::shared) {
    if (lowest.rank == mpi->rank())
      mpi->fail("FFRT_COMM=shm", node->problem().c_str());
    mpi->barrier();
  }
  return mpi;
}

} // namespace ffrt
