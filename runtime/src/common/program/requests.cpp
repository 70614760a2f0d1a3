//===- requests.cpp - what signals and the clock ask of a run -------------===//
#include "common/program/requests.h"

#include "common/program/together.h"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace ffrt {

namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
constexpr double kInterval = 0.05; ///< seconds between two talks
constexpr int64_t kMostSteps = 1000;

volatile std::sig_atomic_t ending = 0, saving = 0;

void handle(int signal) {
  if (signal == SIGUSR1) {
    saving = 1;
    return;
  }
  if (ending) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  ending = signal;
}

} // namespace

Requests::Requests(Comm &comm, const Group &world, double seconds)
    : comm(comm), world(world), seconds(seconds), saved(Clock::now()),
      talked(saved) {
  ending = saving = 0;
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART; // what waits for a file or a rank goes on
  for (int signal : kSignals)
    sigaction(signal, &action, nullptr);
}

Requests::~Requests() {
  for (int signal : kSignals)
    std::signal(signal, SIG_DFL);
}

Request Requests::after_step() {
  if (++steps < wait)
    return {};
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  // The largest of all ranks: the signal that ends, whether to save, and how
  // many steps fit into an interval, as the fastest rank sees it.
  const int64_t fitting = int64_t(double(steps) * kInterval /
                                  std::max(since(talked), kInterval / 1e4));
  int64_t asked[3] = {ending, saving, fitting};
  saving = 0;
  if (seconds > 0 && comm.rank() == 0 && since(saved) >= seconds)
    asked[1] = 1;
  comm.wait(comm.all_reduce("requests", world, flat(asked, DType::i64, 3),
                            ReduceOp::max));
  steps = 0;
  talked = now;
  wait = std::clamp<int64_t>(asked[2], 1, kMostSteps);
  const Request request = {asked[1] != 0 || asked[0] != 0, int(asked[0])};
  if (request.save)
    saved = now;
  return request;
}

} // namespace ffrt
