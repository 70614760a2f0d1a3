//===- mapped_range.cpp - files that are cut off while mapped -------------===//
#include "common/data/mapped_range.h"

#include "ffrt/mpi.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace ffrt {

/// In a list that grows only, since a handler may read it at any time. Entries
/// are used again.
struct MappedRange::Entry {
  std::atomic<uintptr_t> begin{0};
  std::atomic<std::size_t> bytes{0}; ///< 0: not in use
  std::string path;
  Entry *next = nullptr;
};

struct MappedRanges {
  using Entry = MappedRange::Entry;

  static Entry *add(const void *begin, std::size_t bytes,
                    const std::string &path) {
    const std::lock_guard<std::mutex> lock(mutex());
    Entry *entry = first.load();
    while (entry && entry->bytes != 0)
      entry = entry->next;
    const bool fresh = !entry;
    if (fresh)
      entry = new Entry;
    entry->path = path;
    entry->begin = reinterpret_cast<uintptr_t>(begin);
    entry->bytes = bytes;
    if (fresh) {
      entry->next = first;
      first = entry;
    }
    if (!installed)
      install();
    return entry;
  }

private:
  static std::mutex &mutex() {
    static std::mutex one;
    return one;
  }

  static void install() {
    rank = launched_rank();
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &before);
    installed = true;
  }

  /// Text without anything that a handler may not call.
  struct Line {
    char text[4096];
    std::size_t size = 0;
    void add(const char *more) {
      while (*more && size < sizeof text)
        text[size++] = *more++;
    }
    void add(uint64_t number) {
      char digits[21];
      char *at = digits + 20;
      *at = '\0';
      do
        *--at = char('0' + number % 10);
      while (number /= 10);
      add(at);
    }
  };

  static void handle(int, siginfo_t *info, void *) {
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    for (Entry *entry = first; entry; entry = entry->next) {
      const uintptr_t begin = entry->begin;
      if (at < begin || at - begin >= entry->bytes)
        continue;
      Line line;
      line.add("error: rank ");
      line.add(uint64_t(rank));
      line.add(": data: '");
      line.add(entry->path.c_str());
      line.add("': expected all of the ");
      line.add(uint64_t(entry->bytes));
      line.add(" bytes that it had when the run began, found none at byte ");
      line.add(uint64_t(at - begin));
      line.add(": it was cut off, or the disk can not read it\n");
      for (std::size_t done = 0; done < line.size;) {
        const ssize_t n =
            write(STDERR_FILENO, line.text + done, line.size - done);
        if (n <= 0)
          break;
        done += std::size_t(n);
      }
      _exit(1);
    }
    sigaction(SIGBUS, &before, nullptr); // which the access gets again
  }

  inline static std::atomic<Entry *> first{nullptr};
  inline static bool installed = false;
  inline static int rank = 0;
  inline static struct sigaction before;
};

MappedRange::MappedRange(const void *begin, std::size_t bytes,
                         const std::string &path)
    : entry(MappedRanges::add(begin, bytes, path)) {}

MappedRange::~MappedRange() { entry->bytes = 0; }

} // namespace ffrt
