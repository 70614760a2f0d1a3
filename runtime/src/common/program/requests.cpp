//===- requests.cpp - what signals and the clock ask of a run -------------===//
#include "common/program/requests.h"

#include "common/device/target.h"
#include "common/program/together.h"

#include <csignal>
#include <cstring>

namespace ffrt {

namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

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
    : comm(comm), world(world), seconds(seconds),
      saved(TalkPace::Clock::now()) {
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
  if (!pace.is_due())
    return {};
  finish_target(); // others may wait for what this rank has started
  // The largest of all ranks: the signal that ends, whether to save, and how
  // many steps fit into an interval, as the fastest rank sees it.
  int64_t asked[3] = {ending, saving, int64_t(pace.fitting())};
  saving = 0;
  const TalkPace::Clock::time_point now = TalkPace::Clock::now();
  if (seconds > 0 && comm.rank() == 0 &&
      std::chrono::duration<double>(now - saved).count() >= seconds)
    asked[1] = 1;
  comm.wait(comm.all_reduce("requests", world, flat(asked, DType::i64, 3),
                            ReduceOp::max));
  pace.talk(double(asked[2]));
  const Request request = {asked[1] != 0 || asked[0] != 0, int(asked[0])};
  if (request.save)
    saved = now;
  return request;
}

} // namespace ffrt
