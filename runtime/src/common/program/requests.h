//===- requests.h - what signals and the clock ask of a run -----*- C++ -*-===//
#ifndef FFRT_COMMON_REQUESTS_H
#define FFRT_COMMON_REQUESTS_H

#include "common/program/talk_pace.h"
#include "ffrt/comm.h"

#include <chrono>

namespace ffrt {

/// What all ranks do after a step, because one of them was asked to.
struct Request {
  bool save = false;
  int signal = 0; ///< that ends the run; 0: it goes on
};

/// Signals and the clock, as ranks agree on them. SIGTERM, SIGINT and SIGUSR2
/// (which mpirun passes on) ask to save and end, SIGUSR1 to save; a second one
/// that asks to end does so at once. While one exists, it has the handlers of
/// these signals.
class Requests {
public:
  /// Collective. `seconds`: that rank 0's clock asks to save after; 0: never.
  Requests(Comm &comm, const Group &world, double seconds);
  ~Requests();
  Requests(const Requests &) = delete;
  Requests &operator=(const Requests &) = delete;

  /// Collective, after every step: what is to be done now.
  Request after_step();

private:
  Comm &comm;
  const Group &world;
  const double seconds;
  TalkPace pace;
  TalkPace::Clock::time_point saved;
};

} // namespace ffrt

#endif // FFRT_COMMON_REQUESTS_H
