//===- shm_group.cpp - collectives in shared memory -----------------------===//
#include "comm/shm_group.h"

#include "comm/shm_combine.h"
#include "ffrt/error.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace ffrt {

namespace {

/// Bytes of a member's part of a slot. Smaller ones take more barriers, larger
/// ones leave the caches.
constexpr int64_t kMostChunk = 512 << 10, kLeastChunk = 64 << 10;
constexpr int64_t kSlotBytes = 4 << 20;
constexpr int64_t kLeastPiece = 16 << 10; ///< of a broadcast
constexpr int kSlots = 3;
/// Bytes that are worth a second thread.
constexpr int64_t kGrain = 128 << 10;

void copy_bytes(char *to, const char *from, int64_t n) {
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, std::size_t(end - begin));
  });
}

/// Combines n elements of `size` bytes.
void combine_all(Combine combine, int64_t size, const char *const *sources,
                 int count, int64_t n, char *to, char *copy) {
  parallel_for(n, kGrain / size, [&](int64_t begin, int64_t end) {
    combine(sources, count, begin, end - begin, to, copy);
  });
}

int64_t bytes_of(const Tensor &t) {
  return t.span() * int64_t(size_of(t.type));
}

/// Calls f(begin, bytes) for the chunk's range of a buffer of `total` bytes, if
/// it has such a chunk.
template <class F>
void with_chunk(int64_t chunk, int64_t most, int64_t total, F &&f) {
  const int64_t begin = chunk * most;
  if (chunk >= 0 && begin < total)
    f(begin, std::min(most, total - begin));
}

/// Start of part `i` of `parts` of n bytes: a multiple of a cache line.
int64_t part_begin(int64_t n, int parts, int i) {
  return i == parts ? n : n * i / parts / 64 * 64;
}

int64_t chunk_for(std::size_t members) {
  return std::clamp(kSlotBytes / int64_t(members), kLeastChunk, kMostChunk) /
         64 * 64;
}

int64_t chunks_of(int64_t n, int64_t most) { return (n + most - 1) / most; }

} // namespace

/// The last member to arrive starts the next generation.
struct SharedGroup::Barrier {
  alignas(128) std::atomic<uint32_t> arrived;
  alignas(128) std::atomic<uint32_t> generation;
};

int64_t SharedGroup::bytes_for(std::size_t members) {
  return Segment::kPage + kSlots * int64_t(members) * chunk_for(members);
}

SharedGroup::SharedGroup(Node &node, std::vector<int> members, int me,
                         int64_t offset)
    : node(node), members(std::move(members)), me(me),
      chunk_bytes(chunk_for(this->members.size())),
      sources(this->members.size()) {
  std::byte *memory = node.map(offset, bytes_for(this->members.size()));
  shared_barrier = reinterpret_cast<Barrier *>(memory);
  slots = reinterpret_cast<char *>(memory) + Segment::kPage;
}

char *SharedGroup::slot(int64_t chunk, int i) const {
  return slots + ((used + chunk) % kSlots * count() + i) * chunk_bytes;
}

const char *const *SharedGroup::sources_of(int64_t chunk, const char *own,
                                           int64_t offset) {
  for (int i = 0; i < count(); ++i)
    sources[std::size_t(i)] = i == me ? own : slot(chunk, i) + offset;
  return sources.data();
}

int SharedGroup::barrier() {
  const uint32_t mine = generation++;
  if (shared_barrier->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      uint32_t(count())) {
    shared_barrier->arrived.store(0, std::memory_order_relaxed);
    shared_barrier->generation.store(mine + 1, std::memory_order_release);
    for (int i = 0; i < count(); ++i)
      if (i != me)
        node.notify(members[std::size_t(i)]);
    return -1;
  }
  return node.wait_until([&] {
    return shared_barrier->generation.load(std::memory_order_acquire) != mine;
  });
}

template <class F>
int SharedGroup::run(int64_t phases, int64_t chunks, F &&phase) {
  for (int64_t i = 0; i < phases; ++i) {
    if (i > 0)
      if (int dead = barrier(); dead >= 0)
        return dead;
    phase(i);
  }
  used += chunks;
  return -1;
}

int SharedGroup::all_reduce(const Tensor &data, ReduceOp op,
                            CollectiveAlgorithm algorithm) {
  const int64_t size = int64_t(size_of(data.type)), total = bytes_of(data);
  const Combine combine = combine_of(data.type, op);
  char *own = data.as<char>();
  if (count() == 1 || total == 0)
    return -1;
  const bool is_small = total * count() <= kOneShotBytes;
  if (algorithm == CollectiveAlgorithm::one_shot && !is_small)
    throw Error("expected at most " + std::to_string(kOneShotBytes) +
                " bytes of all ranks for an all-reduce in one shot, found " +
                std::to_string(total * count()) + " (an internal fault)");
  if (is_small && algorithm != CollectiveAlgorithm::two_shot)
    return run(2, 1, [&](int64_t phase) {
      if (phase == 0)
        std::memcpy(slot(0, me), own, std::size_t(total));
      else
        combine(sources_of(0, own, 0), count(), 0, data.span(), own, nullptr);
    });

  // Two shots: every member reduces a part of the chunk. Its slot holds its
  // values of the other parts, and the result of its own part.
  auto put = [&](int64_t chunk) {
    with_chunk(chunk, chunk_bytes, total, [&](int64_t at, int64_t n) {
      const int64_t begin = part_begin(n, count(), me);
      const int64_t end = part_begin(n, count(), me + 1);
      copy_bytes(slot(chunk, me), own + at, begin);
      copy_bytes(slot(chunk, me) + end, own + at + end, n - end);
    });
  };
  auto reduce = [&](int64_t chunk) {
    with_chunk(chunk, chunk_bytes, total, [&](int64_t at, int64_t n) {
      const int64_t begin = part_begin(n, count(), me);
      const int64_t end = part_begin(n, count(), me + 1);
      char *to = own + at + begin;
      combine_all(combine, size, sources_of(chunk, to, begin), count(),
                  (end - begin) / size, to, slot(chunk, me) + begin);
    });
  };
  auto take = [&](int64_t chunk) {
    with_chunk(chunk, chunk_bytes, total, [&](int64_t at, int64_t n) {
      for (int i = 0; i < count(); ++i) {
        const int64_t begin = part_begin(n, count(), i);
        const int64_t end = part_begin(n, count(), i + 1);
        if (i != me)
          copy_bytes(own + at + begin, slot(chunk, i) + begin, end - begin);
      }
    });
  };
  const int64_t chunks = chunks_of(total, chunk_bytes);
  return run(chunks + 2, chunks, [&](int64_t phase) {
    put(phase);
    reduce(phase - 1);
    take(phase - 2);
  });
}

int SharedGroup::all_gather(const Tensor &part, const Tensor &whole) {
  const int64_t block = bytes_of(part);
  const char *own = part.as<char>();
  char *to = whole.as<char>();
  if (own != to + me * block)
    copy_bytes(to + me * block, own, block);
  if (count() == 1)
    return -1;
  const int64_t chunks = chunks_of(block, chunk_bytes);
  return run(chunks + 1, chunks, [&](int64_t phase) {
    with_chunk(phase, chunk_bytes, block, [&](int64_t at, int64_t n) {
      copy_bytes(slot(phase, me), own + at, n);
    });
    with_chunk(phase - 1, chunk_bytes, block, [&](int64_t at, int64_t n) {
      for (int i = 0; i < count(); ++i)
        if (i != me)
          copy_bytes(to + i * block + at, slot(phase - 1, i), n);
    });
  });
}

int SharedGroup::reduce_scatter(const Tensor &whole, const Tensor &part,
                                ReduceOp op) {
  const int64_t size = int64_t(size_of(part.type)), block = bytes_of(part);
  const Combine combine = combine_of(part.type, op);
  const char *from = whole.as<char>();
  char *to = part.as<char>();
  if (count() == 1) {
    if (to != from)
      copy_bytes(to, from, block);
    return -1;
  }
  // A slot holds a piece of every block.
  const int64_t most = std::max<int64_t>(chunk_bytes / count() / 64 * 64, 64);
  const int64_t chunks = chunks_of(block, most);
  return run(chunks + 1, chunks, [&](int64_t phase) {
    with_chunk(phase, most, block, [&](int64_t at, int64_t n) {
      for (int i = 0; i < count(); ++i)
        if (i != me)
          copy_bytes(slot(phase, me) + i * most, from + i * block + at, n);
    });
    with_chunk(phase - 1, most, block, [&](int64_t at, int64_t n) {
      const char *const *sources =
          sources_of(phase - 1, from + me * block + at, me * most);
      combine_all(combine, size, sources, count(), n / size, to + at, nullptr);
    });
  });
}

int SharedGroup::broadcast(int root, const Tensor &data) {
  const int64_t total = bytes_of(data);
  char *own = data.as<char>();
  if (count() == 1)
    return -1;
  // The root puts one chunk in while the others take the one before out: more
  // chunks than space asks for.
  const int64_t most =
      std::clamp((total / 4 + 63) / 64 * 64, kLeastPiece, chunk_bytes);
  const int64_t chunks = chunks_of(total, most);
  return run(chunks + 1, chunks, [&](int64_t phase) {
    if (me == root)
      with_chunk(phase, most, total, [&](int64_t at, int64_t n) {
        copy_bytes(slot(phase, me), own + at, n);
      });
    else
      with_chunk(phase - 1, most, total, [&](int64_t at, int64_t n) {
        copy_bytes(own + at, slot(phase - 1, root), n);
      });
  });
}

} // namespace ffrt
