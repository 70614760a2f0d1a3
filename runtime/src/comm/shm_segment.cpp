//===- shm_segment.cpp - memory that the ranks of a node share ------------===//
#include "comm/shm_segment.h"

#include "ffrt/error.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ffrt {

namespace {

/// What rank 0 of the node tells the others. Ranks in different containers may
/// call different files by the same path: the mark tells them apart.
struct Address {
  int64_t process, file, mark;
};

constexpr int64_t kLength = int64_t(1) << 42;
constexpr int64_t kMarkAt = kLength - Segment::kPage;

/// Growing a file past the limit of the process would end it.
bool may_be_long() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
         limit.rlim_cur >= rlim_t(kLength);
}

std::string cause_of(const char *what) {
  return std::string(what) + ": " + std::strerror(errno);
}

} // namespace

Segment::Segment(MPI_Comm node) {
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  Address address{getpid(), -1, 0};
  if (rank == 0) {
    address.mark = std::chrono::steady_clock::now().time_since_epoch().count() ^
                   address.process << 40;
    file = memfd_create("ffrt", MFD_CLOEXEC);
    if (!may_be_long())
      problem = "cannot make shared memory: the size of files is limited";
    else if (file < 0 || ftruncate(file, kLength) != 0 ||
             pwrite(file, &address.mark, sizeof address.mark, kMarkAt) !=
                 ssize_t(sizeof address.mark))
      problem = cause_of("cannot make shared memory");
    address.file = problem.empty() ? file : -1;
  }
  MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, node);
  if (rank == 0)
    return;
  if (address.file < 0) {
    problem = "the first rank of the node could not make shared memory";
    return;
  }
  const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" +
                           std::to_string(address.file);
  file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  int64_t mark = 0;
  if (file < 0)
    problem = cause_of(("cannot open '" + path + "'").c_str());
  else if (pread(file, &mark, sizeof mark, kMarkAt) != ssize_t(sizeof mark) ||
           mark != address.mark)
    problem = "'" + path + "': expected memory of this program, found other";
}

Segment::~Segment() {
  if (file >= 0)
    close(file);
}

std::byte *Segment::map(int64_t offset, int64_t bytes) {
  void *at = mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, file, offset);
  if (at == MAP_FAILED)
    throw Error(cause_of("cannot map shared memory"));
  return static_cast<std::byte *>(at);
}

} // namespace ffrt
