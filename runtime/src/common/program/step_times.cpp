//===- step_times.cpp - what steps wait for -------------------------------===//
#include "common/program/step_times.h"

#include "common/device/target.h"
#include "common/profiling/machine.h"
#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/hash.h"

#include <algorithm>
#include <map>
#include <numeric>
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

/// In shorter runs nothing could be found.
constexpr int64_t kFewSteps = (kSlowWindows + 2) * kWindow;

} // namespace

StepTimes::StepTimes(Comm &comm, const Group &world, const ProgramInfo &info,
                     const std::vector<RankPlace> &places, Instance &instance,
                     Context &context, int64_t steps)
    : comm(comm), world(world), places(places),
      sees_computing(target_is_host()), ranks(expected_of_ranks(info)),
      pace(kInterval, kWindow, kMostSteps), first_talk(Clock::now()),
      last_talk(first_talk), all(std::size_t(comm.size())),
      gathered(std::size_t(comm.size()) * kWindow) {
  if (steps < kFewSteps)
    return;
  const IdleMemory memory = instance.idle_memory(info);
  if (!sees_computing && memory.bytes >= DeviceProbe::kLeastBytes)
    device.emplace(context, memory);
  links.emplace(comm, instance.device_communication(), info, places, memory);
  if (links->any())
    links->connect();
  else
    links.reset();
}

/// Collective.
std::vector<Outliers::Expected>
StepTimes::expected_of_ranks(const ProgramInfo &info) {
  std::vector<Outliers::Expected> expected;
  if (sees_computing) {
    // One alone shares its host with whatever else there is.
    for (const RankInfo &rank : info.rank_info)
      if (comm.size() > 1)
        expected.push_back({rank.busy_seconds, 0});
    return expected;
  }
  // What is measured takes the same on GPUs of one name.
  auto name = int64_t(hash_name(machine_name()));
  std::vector<int64_t> names(std::size_t(comm.size()));
  comm.wait(
      comm.all_gather("step times", world, flat(&name, DType::i64, 1),
                      flat(names.data(), DType::i64, int64_t(names.size()))));
  std::map<int64_t, int> kinds;
  for (int64_t each : names)
    expected.push_back(
        {1, kinds.try_emplace(each, int(kinds.size())).first->second});
  return expected;
}

void StepTimes::begin() {
  if (!is_timed() || !sees_computing)
    return;
  comm.time_waits(true);
  waited = comm.waited();
  began = Clock::now();
}

void StepTimes::end(double data) {
  if (is_timed()) {
    const auto step = std::size_t(kWindow - pace.left());
    if (sees_computing) {
      comm.time_waits(false);
      mine.computing[step] = std::max(
          seconds_since(began) - (comm.waited() - waited) - (data - for_data),
          0.0);
    } else if (device) {
      mine.computing[step] = device->run();
    }
    if (links && links->is_due())
      mine.exchanging[step] = links->probe();
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
  mine.since = seconds_since(last_talk);
  constexpr int64_t kWords = sizeof(Told) / sizeof(double);
  comm.wait(comm.all_gather(
      "step times", world, flat(&mine, DType::f64, kWords),
      flat(all.data(), DType::f64, kWords * int64_t(all.size()))));
  last_talk = Clock::now();
}

void StepTimes::talk() {
  exchange();
  double fitting = 0;
  for (const Told &told : all)
    fitting = std::max(fitting, told.fitting);
  pace.talk(fitting);
  const bool first = !std::exchange(has_talked, true);
  if (!first && comm.rank() == 0) {
    say_slow_ranks();
    if (links && links->is_due())
      for (const std::string &slow :
           links->find_slow(all_of(&Told::exchanging)))
        warn(slow);
    if (!has_said_data && mine.seconds >= kMuchAfter)
      say_data(kMuch);
  }
  if (!links)
    return;
  double slowest = 0;
  for (const Told &told : all)
    slowest = std::max(slowest, std::accumulate(told.exchanging.begin(),
                                                told.exchanging.end(), 0.0));
  links->talked(slowest, all[0].since);
}

const double *StepTimes::all_of(Window Told::*window) {
  auto to = gathered.begin();
  for (const Told &told : all)
    to = std::copy((told.*window).begin(), (told.*window).end(), to);
  return gathered.data();
}

void StepTimes::say_slow_ranks() {
  if (!sees_computing && !device)
    return;
  for (const Outliers::Found &slow : ranks.find(all_of(&Told::computing)))
    warn("rank " + std::to_string(slow.number) + " (host " +
         places[slow.number].host + "): " +
         (sees_computing
              ? format("steps compute for %.3g ms where %.3g ms is usual, as "
                       "the plan and the other ranks have it, for %d steps and "
                       "more; is its host busy or throttled, or its core "
                       "shared (--map)?",
                       slow.seconds * 1e3, slow.usual * 1e3,
                       kWindow * kSlowWindows)
              : format("its GPU takes %.3g ms for what is always the same "
                       "where %.3g ms is usual, behind %d steps and more; is "
                       "it throttled, or shared (nvidia-smi)?",
                       slow.seconds * 1e3, slow.usual * 1e3,
                       kWindow * kSlowWindows)));
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
