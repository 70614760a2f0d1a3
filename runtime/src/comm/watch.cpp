//===- watch.cpp - no wait without an end ---------------------------------===//
#include "comm/watch.h"

#include "common/program/terminal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace ffrt {

namespace {

using Seconds = std::chrono::duration<double>;

/// Ranks that a message lists.
constexpr std::size_t kListed = 8;

/// How often it looks.
double period(double deadline) { return std::clamp(deadline / 20, 0.01, 1.0); }

/// Ranks that wait for each other do not begin to wait at the same time. The
/// first one that is late gives the others so long to be late, too.
double grace(double deadline) { return std::max(1.0, deadline / 10); }

template <class... Values>
std::string format(const char *pattern, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// "ranks 0, 2".
std::string others(std::vector<int> ranks, int rank) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  ranks.erase(std::remove(ranks.begin(), ranks.end(), rank), ranks.end());
  if (ranks.empty())
    return "the other ranks";
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), kListed); ++i)
    text += (i ? ", " : " ") + std::to_string(ranks[i]);
  if (ranks.size() > kListed)
    text += " and " + std::to_string(ranks.size() - kListed) + " more";
  return text;
}

} // namespace

const Watch::Operation Watch::kLate;

Watch::Watch(int rank, double deadline_seconds)
    : seconds(deadline_seconds), rank(rank), thread([this] { run(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    stop = true;
  }
  stopped.notify_all();
  thread.join();
}

void Watch::set_comm(Comm &used) {
  rank = used.rank();
  comm = &used;
}

void Watch::forget(Comm &used) {
  Comm *expected = &used;
  comm.compare_exchange_strong(expected, nullptr);
}

void Watch::rest() {
  for (;;)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

void Watch::run() {
  using Clock = std::chrono::steady_clock;
  const Seconds between(period(seconds));
  const Operation *last = nullptr;
  uint64_t last_entered = 0;
  Seconds waited(0);
  Clock::time_point looked = Clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopped.wait_for(lock, between, [this] { return stop; })) {
    const Clock::time_point time = Clock::now();
    const Operation *operation = now.load(std::memory_order_acquire);
    const uint64_t number = entered.load(std::memory_order_relaxed);
    if (operation != last || number != last_entered)
      waited = Seconds(0);
    else // The time in which the whole process was stopped does not count.
      waited += std::min<Seconds>(time - looked, 2 * between);
    last = operation;
    last_entered = number;
    looked = time;
    if (operation && waited.count() >= seconds &&
        now.compare_exchange_strong(operation, &kLate))
      end_late(*operation, waited.count());
  }
}

void Watch::end_late(const Operation &operation, double waited) {
  std::string what = "waits for " + others(operation.ranks, rank);
  if (operation.kind)
    what += std::string(" (") + operation.kind + ")";
  end_late(operation.task, what + format(" since %.1f s: ", waited));
}

void Watch::end_late(const char *task, const std::string &what) {
  const std::string line =
      "error: rank " + std::to_string(rank) + ": " + task + ": " + what +
      format("expected an end within --deadline %g, found none", seconds);
  print_error(line);
  ending.lock();
  std::this_thread::sleep_for(Seconds(grace(seconds)));
  if (Comm *used = comm)
    used->end();
  std::_Exit(1);
}

} // namespace ffrt
