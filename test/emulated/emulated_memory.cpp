//===- emulated_memory.cpp - memory of the device -------------------------===//
#include "emulated_memory.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace {

/// Bytes of what was allocated, by its beginning.
std::map<const char *, std::size_t> &allocations() {
  static std::map<const char *, std::size_t> all;
  return all;
}

int works = 0; ///< OpenMemory that exist

int protection() { return works > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }

void protect_all() {
  for (const auto &[begin, bytes] : allocations())
    if (mprotect(const_cast<char *>(begin), bytes, protection()) != 0)
      std::abort();
}

bool is_allocated(const char *at) {
  const auto after = allocations().upper_bound(at);
  return after != allocations().begin() &&
         at < std::prev(after)->first + std::prev(after)->second;
}

void faulted(int, siginfo_t *info, void *) {
  constexpr char kMessage[] =
      "emulated device: expected the host to leave memory of the device "
      "alone, found it reading or writing some\n";
  if (is_allocated(static_cast<const char *>(info->si_addr)) &&
      write(STDERR_FILENO, kMessage, sizeof kMessage - 1) > 0)
    _exit(1);
  // As ever, when the instruction is tried again.
  std::signal(SIGSEGV, SIG_DFL);
}

/// After libraries have set theirs.
void handle_faults() {
  static const bool done = [] {
    struct sigaction action = {};
    action.sa_sigaction = faulted;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
  }();
  if (!done)
    std::abort();
}

} // namespace

void *ffrt::emulated::allocate(std::size_t bytes) {
  handle_faults();
  bytes = std::max<std::size_t>(bytes, 1);
  void *const memory = mmap(nullptr, bytes, protection(),
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  allocations()[static_cast<const char *>(memory)] = bytes;
  return memory;
}

void ffrt::emulated::free(void *memory) {
  const auto found = allocations().find(static_cast<const char *>(memory));
  if (found == allocations().end())
    return;
  munmap(memory, found->second);
  allocations().erase(found);
}

ffrt::emulated::OpenMemory::OpenMemory() {
  if (works++ == 0)
    protect_all();
}

ffrt::emulated::OpenMemory::~OpenMemory() {
  if (--works == 0)
    protect_all();
}
