//===- shm_segment.cpp - memory that the ranks of a node share ------------===//
#include "comm/shm_segment.h"

#include "ffrt/error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ffrt {

namespace {

constexpr int64_t kLength = kSharedFileEnd + Segment::kPage;

/// Growing a file past the limit of the process would end it.
bool may_be_long() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
         limit.rlim_cur >= rlim_t(kLength);
}

} // namespace

SharedFile make_shared_file() {
  if (!may_be_long())
    return {-1, "cannot make shared memory: the size of files is limited"};
  const int file = memfd_create("ffrt", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, kLength) == 0)
    return {file, ""};
  const std::string cause = std::strerror(errno);
  if (file >= 0)
    close(file);
  return {-1, "cannot make shared memory: " + cause};
}

Segment::~Segment() {
  if (file >= 0)
    close(file);
}

std::byte *Segment::map(int64_t offset, int64_t bytes) {
  void *at = mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, file, offset);
  if (at == MAP_FAILED)
    throw Error(std::string("cannot map shared memory: ") +
                std::strerror(errno));
  return static_cast<std::byte *>(at);
}

} // namespace ffrt
