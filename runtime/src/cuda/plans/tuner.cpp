//===- tuner.cpp - which plan of a library a problem takes ----------------===//
#include "cuda/plans/tuner.h"

#include "ffrt/error.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ffrt::cuda {

/// So many plans of a problem are measured: the first ones are rarely far off.
constexpr std::size_t kMeasured = 16;

/// Plans that have the same name are numbered.
static std::vector<std::string> distinct(std::vector<std::string> names) {
  const std::vector<std::string> given = names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto before =
            std::count(given.begin(), given.begin() + i, given[i]))
      names[i] += " #" + std::to_string(before + 1);
  return names;
}

void Tuner::start(const std::string &name, const PlanCache &known) {
  measures = true;
  device = name;
  all = known;
  measured = {};
}

void Tuner::stop() { *this = {}; }

void Tuner::learn(const PlanCache &plans) {
  PlanCache better = plans;
  better.add(all);
  all = better;
}

void Tuner::choose(const std::string &problem, Candidates &candidates) {
  const std::vector<std::string> names = distinct(candidates.names());
  if (!measures || names.size() == 1)
    return take_first(names, candidates);
  const std::string here = device + "; " + problem;
  if (!take_known(here, names, candidates))
    take_fastest(here, names, candidates);
}

bool Tuner::take_known(const std::string &problem,
                       const std::vector<std::string> &names,
                       Candidates &candidates) const {
  const std::string *plan = all.find(problem);
  if (!plan)
    return false;
  const auto at = std::find(names.begin(), names.end(), *plan);
  if (at == names.end())
    return false;
  try {
    candidates.take(std::size_t(at - names.begin()));
    return true;
  } catch (const Error &) {
    return false;
  }
}

void Tuner::take_first(const std::vector<std::string> &names,
                       Candidates &candidates) const {
  std::string cause = "there is no plan";
  for (std::size_t i = 0; i < names.size(); ++i)
    try {
      return candidates.take(i);
    } catch (const Error &error) {
      cause = error.what();
    }
  throw Error(cause);
}

void Tuner::take_fastest(const std::string &problem,
                         const std::vector<std::string> &names,
                         Candidates &candidates) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(most_seconds);
  std::vector<std::pair<double, std::size_t>> times;
  std::size_t last = names.size(), tried = 0;
  for (std::size_t i = 0; i < names.size() && tried < kMeasured; ++i) {
    if (tried > 0 && Clock::now() >= end)
      break;
    try {
      // Where it fails, nothing may be left of the one before.
      last = names.size();
      candidates.take(i);
      last = i;
      ++tried;
      times.emplace_back(candidates.seconds(), i);
    } catch (const Error &) {
      // It does not work, or cannot be measured.
    }
  }
  std::stable_sort(times.begin(), times.end());
  for (const auto &[time, i] : times) {
    if (i != last)
      try {
        last = names.size();
        candidates.take(i);
      } catch (const Error &) {
        continue; // It worked only once.
      }
    all.set(problem, names[i]);
    measured.set(problem, names[i]);
    if (keep)
      keep(measured);
    return;
  }
  take_first(names, candidates);
}

Tuner &tuner() {
  static Tuner only;
  return only;
}

} // namespace ffrt::cuda
