//===- emulated_block.cpp - the threads of a block as fibers --------------===//
#include "emulated_block.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ffrt::emulated {

namespace {

using boost::context::fiber;

/// What a thread waits for.
enum class At { start, warp, block, cluster, end };

struct Copy {
  void *to;
  const void *from; ///< or null
  std::size_t bytes;
};

struct Lane {
  Thread thread;
  fiber here;       ///< of the thread while it waits
  fiber *scheduler; ///< of who let it run
  At at = At::start;
  void *self = nullptr; ///< as races know it
  /// How often it has passed the barriers of its warp, block and cluster.
  unsigned warps = 0, blocks = 0, clusters = 0;
  alignas(kLargest) char slot[kLargest];
  std::vector<Copy> copies; ///< that it has begun
};

/// Blocks that run at the same time, one after the other in `lanes`.
struct Cluster {
  std::size_t threads; ///< of a block
  std::size_t shared;  ///< bytes of a block
  std::vector<Lane> lanes;
  std::vector<char> memory; ///< of all blocks
  /// Places of barriers: of the cluster, its blocks, its warps; two of each,
  /// since some threads are at the next one before all have left the last.
  struct Places {
    char of[2];
  };
  std::vector<Places> places;
  char begin = 0, end = 0; ///< of its threads

  std::size_t warps() const { return (threads + kWarp - 1) / kWarp; }
  std::size_t blocks() const { return lanes.size() / threads; }
};

Cluster *cluster = nullptr;
Lane *running = nullptr;
void *host = nullptr; ///< as races know it

boost::context::pooled_fixedsize_stack &stacks() {
  static boost::context::pooled_fixedsize_stack all(64 << 10);
  return all;
}

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "error: block %u: %s\n", running->thread.block.x,
               what.c_str());
  std::abort();
}

[[noreturn]] void diverged(const char *who) {
  fail("expected all threads of a " + std::string(who) +
       " at the same barrier, found some elsewhere");
}

enum class Order { forward, backward, shuffled };

Order order() {
  static const Order chosen = [] {
    const char *text = std::getenv("FFRT_EMULATED_ORDER");
    const std::string name = text ? text : "forward";
    if (name == "forward")
      return Order::forward;
    if (name == "backward")
      return Order::backward;
    if (name == "shuffled")
      return Order::shuffled;
    std::fputs("emulated device: expected FFRT_EMULATED_ORDER to be forward, "
               "backward or shuffled\n",
               stderr);
    std::exit(1);
  }();
  return chosen;
}

/// Calls `visit` with the numbers below `end`, in the order of this run.
template <class Visit> void for_each(std::size_t end, Visit visit) {
  if (order() == Order::forward) {
    for (std::size_t i = 0; i < end; ++i)
      visit(i);
    return;
  }
  std::vector<std::size_t> numbers(end);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  static std::minstd_rand random;
  if (order() == Order::shuffled)
    std::shuffle(numbers.begin(), numbers.end(), random);
  for (std::size_t i : numbers)
    visit(i);
}

/// Runs a thread until it waits or ends.
void resume(Lane &lane) {
  running = &lane;
  races::go_on_as(lane.self);
  lane.here = std::move(lane.here).resume();
}

void wait(At at) {
  Lane &lane = *running;
  lane.at = at;
  races::go_on_as(host);
  *lane.scheduler = std::move(*lane.scheduler).resume();
}

/// The place of the barrier that a lane comes to next.
void *next_place(const Lane &lane, At at) {
  const std::size_t n = std::size_t(&lane - cluster->lanes.data()),
                    block = n / cluster->threads;
  if (at == At::cluster)
    return &cluster->places[0].of[lane.clusters % 2];
  if (at == At::block)
    return &cluster->places[1 + block].of[lane.blocks % 2];
  const std::size_t warp =
      block * cluster->warps() + n % cluster->threads / kWarp;
  return &cluster->places[1 + cluster->blocks() + warp].of[lane.warps % 2];
}

bool all_are(const Lane *first, const Lane *last, At at) {
  return std::all_of(first, last, [at](const Lane &lane) {
    return lane.at == at || lane.at == At::end;
  });
}

/// Runs the threads of a warp until all wait for others or have ended.
void run_warp(Lane *first, Lane *last) {
  do {
    for_each(std::size_t(last - first), [&](std::size_t i) {
      if (first[i].at != At::end)
        resume(first[i]);
    });
    if (!all_are(first, last, At::warp) && !all_are(first, last, At::block) &&
        !all_are(first, last, At::cluster))
      diverged("warp");
  } while (std::any_of(first, last,
                       [](const Lane &lane) { return lane.at == At::warp; }));
}

/// Runs the threads of a block until all wait for the cluster or have ended.
void run_block(Lane *first, Lane *last) {
  do {
    for_each((std::size_t(last - first) + kWarp - 1) / kWarp,
             [&](std::size_t i) {
               Lane *const warp = first + i * kWarp;
               run_warp(warp, std::min(warp + kWarp, last));
             });
    if (!all_are(first, last, At::block) && !all_are(first, last, At::cluster))
      diverged("block");
  } while (std::any_of(first, last,
                       [](const Lane &lane) { return lane.at == At::block; }));
}

void run_cluster(const std::function<void()> &body) {
  std::vector<Lane> &lanes = cluster->lanes;
  std::vector<fiber> schedulers(lanes.size());
  host = races::this_thread();
  races::arrive(&cluster->begin);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Lane &lane = lanes[i];
    lane.at = At::start;
    lane.warps = lane.blocks = lane.clusters = 0;
    lane.scheduler = &schedulers[i];
    lane.here = fiber(std::allocator_arg, stacks(), [&](fiber &&from) {
      *lane.scheduler = std::move(from);
      races::leave(&cluster->begin);
      body();
      if (!lane.copies.empty())
        fail("expected threads to wait for their copies, found one that ends "
             "before");
      lane.at = At::end;
      races::arrive(&cluster->end);
      races::go_on_as(host);
      return std::move(*lane.scheduler);
    });
  }
  Lane *const first = lanes.data(), *const last = first + lanes.size();
  while (!std::all_of(first, last,
                      [](const Lane &lane) { return lane.at == At::end; })) {
    for_each(lanes.size() / cluster->threads, [&](std::size_t i) {
      Lane *const block = first + i * cluster->threads;
      run_block(block, block + cluster->threads);
    });
    if (!all_are(first, last, At::cluster))
      diverged("cluster");
  }
  races::leave(&cluster->end);
}

/// As races know the threads of all kernels.
void *thread_of(std::size_t lane) {
  static std::vector<void *> threads;
  while (threads.size() <= lane)
    threads.push_back(races::new_thread());
  return threads[lane];
}

/// Runs a grid in clusters of `blocks` neighbours along x.
void run_grid(dim3 grid, dim3 block, unsigned blocks, std::size_t shared,
              const std::function<void()> &body) {
  const std::size_t threads = std::size_t(block.x) * block.y * block.z;
  Cluster here{threads,
               shared,
               std::vector<Lane>(blocks * threads),
               std::vector<char>(blocks * shared, char(0xff)),
               {}};
  here.places.resize(1 + blocks * (1 + here.warps()));
  for (std::size_t i = 0; i < here.lanes.size(); ++i)
    here.lanes[i].self = thread_of(i);
  Cluster *const outer = std::exchange(cluster, &here);
  const std::size_t columns = grid.x / blocks;
  for_each(columns * grid.y * grid.z, [&](std::size_t n) {
    const unsigned x = unsigned(n % columns) * blocks,
                   y = unsigned(n / columns % grid.y),
                   z = unsigned(n / columns / grid.y);
    for (std::size_t i = 0; i < here.lanes.size(); ++i) {
      const std::size_t at = i % threads;
      Thread &thread = here.lanes[i].thread;
      thread.rank = unsigned(i / threads);
      thread.block = {x + thread.rank, y, z};
      thread.block_extent = block;
      thread.grid_extent = grid;
      thread.thread = {unsigned(at % block.x), unsigned(at / block.x % block.y),
                       unsigned(at / block.x / block.y)};
      thread.lane = int(at % kWarp);
    }
    run_cluster(body);
  });
  cluster = outer;
}

} // namespace

const Thread &current() { return running->thread; }

void *slot(int lane) {
  const std::size_t at = std::size_t(running - cluster->lanes.data()),
                    begin = at - at % cluster->threads;
  const std::size_t warp = begin + (at - begin) / kWarp * kWarp;
  const bool exists = lane >= 0 && lane < kWarp &&
                      warp + std::size_t(lane) < begin + cluster->threads;
  return exists ? cluster->lanes[warp + std::size_t(lane)].slot : running->slot;
}

void arrive_at_cluster() { races::arrive(next_place(*running, At::cluster)); }
void sync_cluster() {
  void *const place = next_place(*running, At::cluster);
  ++running->clusters;
  wait(At::cluster);
  races::leave(place);
}

namespace {
void arrive_and_wait(At at, unsigned Lane::*passed) {
  void *const place = next_place(*running, at);
  ++(running->*passed);
  races::arrive(place);
  wait(at);
  races::leave(place);
}
} // namespace

void sync_block() { arrive_and_wait(At::block, &Lane::blocks); }
void sync_warp() { arrive_and_wait(At::warp, &Lane::warps); }

void meet_warp() { wait(At::warp); }

namespace {
void finish(const Copy &copy) {
  if (copy.from)
    std::memcpy(copy.to, copy.from, copy.bytes);
  else
    std::memset(copy.to, 0, copy.bytes);
}
} // namespace

uint32_t load_word(uintptr_t at) {
  uint32_t word;
  std::memcpy(&word, reinterpret_cast<const void *>(at), sizeof word);
  return word;
}

void copy_async(uintptr_t to, const void *from, std::size_t bytes) {
  if ((to | reinterpret_cast<uintptr_t>(from)) % bytes != 0)
    fail("cp.async: expected places at multiples of " + std::to_string(bytes) +
         " bytes, found others");
  const Copy copy{reinterpret_cast<void *>(to), from, bytes};
  if (running->thread.lane % 2 == 0)
    finish(copy);
  else
    running->copies.push_back(copy);
}

void wait_for_copies() {
  for (const Copy &copy : running->copies)
    finish(copy);
  running->copies.clear();
}

void *added_memory() {
  return cluster->memory.data() + running->thread.rank * cluster->shared;
}

void *added_memory_of(unsigned rank, const void *own) {
  const auto offset = static_cast<const char *>(own) -
                      static_cast<const char *>(added_memory());
  return cluster->memory.data() + rank * cluster->shared + offset;
}

void run(dim3 grid, dim3 block, const std::function<void()> &body) {
  run_grid(grid, block, 1, 0, body);
}

void run_clusters(unsigned clusters, unsigned blocks, unsigned threads,
                  std::size_t shared, const std::function<void()> &body) {
  run_grid(clusters * blocks, threads, blocks, shared, body);
}

} // namespace ffrt::emulated
