//===- step_times.cpp - what steps wait for -------------------------------===//
#include "common/program/step_times.h"

#include "common/device/target.h"
#include "common/program/say.h"
#include "common/program/together.h"

#include <algorithm>
#include <utility>

namespace ffrt {

namespace {

constexpr double kInterval = 0.25; ///< seconds between two talks
constexpr int64_t kMostSteps = 1000;
/// Of the time that steps take; from there on it is said in a run, after so
/// many seconds, and at its end.
constexpr double kMuch = 0.2, kMuchAfter = 20, kSome = 0.1;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then)
      .count();
}

std::vector<double> predictions(const ProgramInfo &info) {
  std::vector<double> seconds;
  for (const RankInfo &rank : info.rank_info)
    seconds.push_back(rank.busy_seconds);
  return seconds;
}

} // namespace

StepTimes::StepTimes(Comm &comm, const Group &world, const ProgramInfo &info,
                     std::vector<std::string> hosts)
    : comm(comm), world(world), sees_computing(target_is_host()),
      hosts(std::move(hosts)), slow(predictions(info)),
      pace(kInterval, kWindow, kMostSteps), first_talk(Clock::now()),
      all(std::size_t(comm.size())),
      computing(std::size_t(comm.size()) * kWindow) {}

void StepTimes::begin() {
  if (pace.left() > kWindow || !sees_computing)
    return;
  comm.time_waits(true);
  waited = comm.waited();
  began = Clock::now();
}

void StepTimes::end(double data) {
  if (pace.left() <= kWindow && sees_computing) {
    comm.time_waits(false);
    mine.computing[std::size_t(kWindow - pace.left())] = std::max(
        seconds_since(began) - (comm.waited() - waited) - (data - for_data),
        0.0);
  }
  for_data = data;
  if (pace.is_due())
    talk();
}

void StepTimes::exchange() {
  finish_target(); // others may wait for what this rank has started
  // As the fastest rank sees it.
  mine.fitting = pace.fitting();
  // The first steps are not like others.
  if (!has_talked) {
    first_talk = Clock::now();
    for_data_at_first = for_data;
    left_out = 0;
  }
  mine.for_data = for_data - for_data_at_first;
  mine.seconds = seconds_since(first_talk) - left_out;
  constexpr int64_t kWords = sizeof(Told) / sizeof(double);
  comm.wait(comm.all_gather(
      "step times", world, flat(&mine, DType::f64, kWords),
      flat(all.data(), DType::f64, kWords * int64_t(all.size()))));
}

void StepTimes::talk() {
  exchange();
  double fitting = 0;
  for (const Told &told : all)
    fitting = std::max(fitting, told.fitting);
  pace.talk(fitting);
  if (!std::exchange(has_talked, true) || comm.rank() != 0)
    return;
  if (sees_computing)
    say_slow_rank();
  if (!has_said_data && mine.seconds >= kMuchAfter)
    say_data(kMuch);
}

void StepTimes::say_slow_rank() {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    std::copy(all[rank].computing.begin(), all[rank].computing.end(),
              computing.begin() + std::ptrdiff_t(rank * kWindow));
  const SlowRanks::Found found = slow.find(computing.data());
  if (found.rank < 0)
    return;
  warn("rank " + std::to_string(found.rank) + " (host " +
       hosts[std::size_t(found.rank)] +
       format("): steps compute for %.3g ms where %.3g ms is usual, as the "
              "plan and the other ranks have it, for %d steps and more; is its "
              "host busy or throttled, or its core shared (--map)?",
              found.seconds * 1e3, found.usual * 1e3, kWindow * kSlowWindows));
}

void StepTimes::say_data(double least) {
  const auto most = std::max_element(
      all.begin(), all.end(),
      [](const Told &a, const Told &b) { return a.for_data < b.for_data; });
  if (most->seconds <= 0 || most->for_data < least * most->seconds)
    return;
  has_said_data = true;
  say(format("reading data takes %.0f %% of the time: rank %d has waited %.3g "
             "s of %.3g s for its next batch; a faster disk, or .npy files in "
             "the types of the model's inputs, help",
             100 * most->for_data / most->seconds, int(most - all.begin()),
             most->for_data, most->seconds));
}

void StepTimes::finish() {
  if (!has_talked)
    return; // on any rank: steps are the same for all
  exchange();
  if (comm.rank() == 0 && !has_said_data)
    say_data(kSome);
}

} // namespace ffrt
