//===- count_allocations.cpp - what a program allocates itself ------------===//
//
// Preloaded, it prints at the end how often the program has called operator
// new. What libraries allocate for themselves does not count.
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <new>

namespace {

/// The code of the executable.
struct Code {
  const char *begin = nullptr, *end = nullptr;
  Code() { dl_iterate_phdr(add, this); }

  static int add(dl_phdr_info *info, size_t, void *self) {
    auto *code = static_cast<Code *>(self);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto &part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || !(part.p_flags & PF_X))
        continue;
      code->begin =
          reinterpret_cast<const char *>(info->dlpi_addr + part.p_vaddr);
      code->end = code->begin + part.p_memsz;
    }
    return 1; // the executable is the first one
  }
};

std::atomic<long> calls{0};

void *allocate(std::size_t bytes, const void *caller) {
  static const Code code;
  const auto *at = static_cast<const char *>(caller);
  calls += at >= code.begin && at < code.end;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}

__attribute__((destructor)) void print() {
  std::fprintf(stderr, "allocations: %ld\n", calls.load());
}

} // namespace

void *operator new(std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
void *operator new[](std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept {
  std::free(memory);
}
