//===- emulated_block.cpp - the threads of a block as fibers --------------===//
#include "emulated_block.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ffrt::emulated {

namespace {

using boost::context::fiber;

/// What a thread waits for.
enum class At { start, warp, block, end };

struct Lane {
  Thread thread;
  fiber here;       ///< of the thread while it waits
  fiber *scheduler; ///< of who let it run
  At at = At::start;
  alignas(kLargest) char slot[kLargest];
};

std::vector<Lane> lanes;
Lane *running = nullptr;

boost::context::pooled_fixedsize_stack &stacks() {
  static boost::context::pooled_fixedsize_stack all(64 << 10);
  return all;
}

[[noreturn]] void diverged(const char *who) {
  std::fprintf(stderr,
               "error: block %u: expected all threads of a %s at the same "
               "meeting, found some elsewhere\n",
               running->thread.block.x, who);
  std::abort();
}

/// Runs a thread until it waits or ends.
void resume(Lane &lane) {
  running = &lane;
  lane.here = std::move(lane.here).resume();
}

void wait(At at) {
  Lane &lane = *running;
  lane.at = at;
  *lane.scheduler = std::move(*lane.scheduler).resume();
}

/// Runs the threads of a warp until all wait for the block or have ended.
void run_warp(Lane *first, Lane *last) {
  for (;;) {
    for (Lane *lane = first; lane != last; ++lane)
      if (lane->at != At::end)
        resume(*lane);
    const auto is_at = [&](At at) {
      return [at](const Lane &lane) { return lane.at == at; };
    };
    if (std::none_of(first, last, is_at(At::warp)))
      return;
    if (std::any_of(first, last, is_at(At::block)))
      diverged("warp");
  }
}

void run_block(const std::function<void()> &body) {
  std::vector<fiber> schedulers(lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Lane &lane = lanes[i];
    lane.at = At::start;
    lane.scheduler = &schedulers[i];
    lane.here = fiber(std::allocator_arg, stacks(), [&](fiber &&from) {
      *lane.scheduler = std::move(from);
      body();
      lane.at = At::end;
      return std::move(*lane.scheduler);
    });
  }
  Lane *const end = lanes.data() + lanes.size();
  for (;;) {
    for (Lane *warp = lanes.data(); warp < end; warp += kWarp)
      run_warp(warp, std::min(warp + kWarp, end));
    if (std::all_of(lanes.data(), end,
                    [](const Lane &lane) { return lane.at == At::end; }))
      return;
  }
}

} // namespace

const Thread &current() { return running->thread; }

void *slot(int lane) {
  const std::ptrdiff_t warp = (running - lanes.data()) / kWarp * kWarp;
  const std::ptrdiff_t other = warp + lane;
  const bool exists =
      lane >= 0 && lane < kWarp && other < std::ptrdiff_t(lanes.size());
  return exists ? lanes[std::size_t(other)].slot : running->slot;
}

void meet_block() { wait(At::block); }
void meet_warp() { wait(At::warp); }

void run(dim3 grid, dim3 block, const std::function<void()> &body) {
  const std::size_t threads = std::size_t(block.x) * block.y * block.z;
  std::vector<Lane> outer(threads);
  outer.swap(lanes);
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        for (std::size_t i = 0; i < threads; ++i) {
          Thread &thread = lanes[i].thread;
          thread.block = {x, y, z};
          thread.block_extent = block;
          thread.grid_extent = grid;
          thread.thread = {unsigned(i % block.x),
                           unsigned(i / block.x % block.y),
                           unsigned(i / block.x / block.y)};
          thread.lane = int(i % kWarp);
        }
        run_block(body);
      }
  outer.swap(lanes);
}

} // namespace ffrt::emulated
