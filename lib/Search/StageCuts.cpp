//===- StageCuts.cpp - where a chain is cut into stages -------------------===//

#include "StageCuts.h"

#include <algorithm>
#include <set>

using namespace ffc;
using namespace ffc::search;

static constexpr double kNever = StageSolver::kNever;
/// How much longer than solved times estimates are at most, about: on one lane,
/// and where lanes may change.
static constexpr double kFarOff = 1.01, kFarOffMixed = 1.06;
/// Solved stages of chains of so many operators may begin anywhere, of more
/// where little is sent, and beyond that where divisions may.
static constexpr int kMostAnywhere = 900, kMostSolved = 2500;

StageCuts::StageCuts(const plan::StageModel &model,
                     const StageSegments &segments, const StageSolver &solver,
                     StageEstimate &estimate, const StageSearchOptions &options,
                     int microBatches)
    : model(model), segments(segments), solver(solver), estimate(estimate),
      options(options), microBatches(microBatches), places(fewPositions()),
      allPlaces(model.size() <= kMostSolved ? positions(kMostAnywhere)
                                            : places),
      within(least() / microBatches) {}

double StageCuts::least() const {
  return microBatches * solver.workBefore(model.size()) / options.devices;
}

/// All places of a chain of at most `mostOps` operators; of longer ones those
/// over which not much more is sent than elsewhere in the same part of a layer.
std::vector<int> StageCuts::positions(int mostOps) const {
  constexpr double kManyTimes = 4;
  const std::vector<int> &parts = segments.parts();
  std::vector<int> result;
  int devices = 1;
  while (devices < options.devices && solver.lanes(devices, 0).empty())
    ++devices;
  // Any lane will do to compare.
  const std::vector<Lane> lanes = solver.lanes(devices, 0);
  if (lanes.empty())
    return {0, model.size()};
  auto inputOf = [&](int op) { return segments.row(lanes[0], op).input; };
  for (size_t part = 0; part + 1 < parts.size(); ++part) {
    double least = kNever;
    for (int op = parts[part]; op < parts[part + 1]; ++op)
      least = std::min(least, inputOf(op));
    for (int op = parts[part]; op < parts[part + 1]; ++op)
      if (op > 0 &&
          (model.size() <= mostOps || inputOf(op) <= kManyTimes * least))
        result.push_back(op);
  }
  result.insert(result.begin(), 0);
  result.push_back(model.size());
  return result;
}

/// As many of these as divisions are made of: if they are too many, the
/// beginnings of some parts.
std::vector<int> StageCuts::fewPositions() const {
  constexpr int kMost = 400;
  std::vector<int> result = positions(kMost);
  if (result.size() <= kMost + 2)
    return result;
  const std::vector<int> &parts = segments.parts();
  const size_t step = parts.size() / kMost + 1;
  result = {0};
  for (size_t part = 1; part + 1 < parts.size(); part += step)
    result.push_back(parts[part]);
  result.push_back(model.size());
  return result;
}

//===----------------------------------------------------------------------===//
// Divisions with estimated times
//===----------------------------------------------------------------------===//

/// Keeps those of which none is better in both, at most a few.
void StageCuts::add(std::vector<Label> &labels, const Label &label) const {
  constexpr size_t kMostLabels = 6;
  for (const Label &other : labels)
    if (other.slowest <= label.slowest && other.sum <= label.sum)
      return;
  labels.erase(std::remove_if(labels.begin(), labels.end(),
                              [&](const Label &other) {
                                return label.slowest <= other.slowest &&
                                       label.sum <= other.sum;
                              }),
               labels.end());
  labels.push_back(label);
  if (labels.size() > kMostLabels)
    labels.erase(std::max_element(labels.begin(), labels.end(),
                                  [&](const Label &a, const Label &b) {
                                    return iterationOf(a) < iterationOf(b);
                                  }));
}

/// Adds a stage in front of those of `behind`, which have so many devices.
void StageCuts::addStages(int later, int devices, const Labels &behind,
                          double slowest, double bound,
                          std::vector<Labels> &to) const {
  constexpr int kMostFailures = 8;
  for (size_t b = 0; b < places.size(); ++b) {
    if (behind[b].empty())
      continue;
    for (int width = 1; devices + width <= options.devices; ++width) {
      const int before = options.devices - devices - width;
      if (solver.lanes(width, before).empty())
        continue;
      int failures = 0;
      for (size_t a = b; a-- > 0 && failures < kMostFailures;) {
        const StagePlace place = {places[a], places[b], width, later, before};
        // What is in front has to be done, too.
        if ((places[a] == 0) != (before == 0)) {
          if (places[a] == 0)
            break;
          continue;
        }
        const double front = solver.workBefore(places[a]);
        if (front > before * slowest)
          continue;
        const double time = estimate.time(place);
        if (time > slowest) {
          ++failures;
          continue;
        }
        failures = 0;
        for (size_t i = 0; i < behind[b].size(); ++i) {
          const Label &next = behind[b][i];
          const Label label = {std::max(next.slowest, time), next.sum + time,
                               static_cast<int>(b), width, i};
          const double rest = before ? front / before : 0;
          if ((microBatches - 1) * std::max(label.slowest, rest) + label.sum +
                  rest <
              bound)
            add(to[devices + width][a], label);
        }
      }
    }
  }
}

std::vector<StageDivision> StageCuts::divisionsWithin(double slowest,
                                                      double bound) {
  estimate.reach(slowest);
  const Labels none(places.size());
  std::vector<std::vector<Labels>> byStages; ///< and devices
  byStages.emplace_back(options.devices + 1, none);
  byStages[0][0].back().push_back({});
  std::vector<StageDivision> result;
  const int most = options.stages ? options.stages : options.devices;
  for (int count = 1; count <= most; ++count) {
    std::vector<Labels> &now = byStages.emplace_back(options.devices + 1, none);
    for (int devices = count - 1; devices < options.devices; ++devices)
      addStages(count - 1, devices, byStages[count - 1][devices], slowest,
                bound, now);
    if (options.stages && count != options.stages)
      continue;
    for (const Label &each : now[options.devices][0]) {
      StageDivision division;
      division.iteration = iterationOf(each);
      division.slowest = each.slowest;
      const Label *label = &each;
      int first = 0, before = 0;
      for (int stage = count; stage > 0; --stage) {
        const int end = places[label->end];
        division.places.push_back(
            {first, end, label->devices, stage - 1, before});
        first = end;
        before += label->devices;
        label = &byStages[stage - 1][options.devices - before][label->end]
                         [label->behind];
      }
      result.push_back(std::move(division));
    }
  }
  return result;
}

void StageCuts::widen(double bound) {
  constexpr double kWider = 1.12;
  // Of long chains fewer: they take longer.
  const size_t most = std::clamp(12000 / model.size(), 3, 24);
  constexpr double kNear = 1.04;
  // A slower stage alone takes longer than the bound.
  within = std::min(within * kWider, bound / microBatches);
  std::vector<StageDivision> all = divisionsWithin(within, bound);
  all.insert(all.end(), found.begin(), found.end());
  found.clear();
  std::sort(all.begin(), all.end(),
            [](const StageDivision &a, const StageDivision &b) {
              return a.iteration < b.iteration;
            });
  std::set<std::vector<int>> seen;
  for (StageDivision &division : all) {
    std::vector<int> devices;
    for (const StagePlace &place : division.places)
      devices.push_back(place.devices);
    if (division.iteration > all.front().iteration * kNear ||
        found.size() == most)
      break;
    if (seen.insert(devices).second)
      found.push_back(std::move(division));
  }
}

//===----------------------------------------------------------------------===//
// Cuts with solved times
//===----------------------------------------------------------------------===//

/// The fastest division with these devices of which no stage takes longer, as
/// far as stages are about as long as they can be.
StageDivision StageCuts::reach(const StageDivision &division, double slowest) {
  estimate.reach(slowest * kFarOffMixed);
  struct State {
    double slowest = 0, sum = 0;
    int end = 0;
  };
  const std::vector<int> &parts = segments.parts();
  int window = 1;
  for (size_t part = 0; part + 1 < parts.size(); ++part)
    window = std::max(window, parts[part + 1] - parts[part] + 1);
  const size_t count = division.places.size();
  std::vector<std::map<int, State>> states(count + 1);
  states[count][model.size()] = {};
  for (size_t s = count; s-- > 0;) {
    for (const auto &[end, behind] : states[s + 1]) {
      StagePlace place = division.places[s];
      place.end = end;
      const double estimated =
          slowest * (solver.lanes(place.devices, place.before).size() > 1
                         ? kFarOffMixed
                         : kFarOff);
      auto takes = [&](int first, bool isSolved) {
        place.first = first;
        return isSolved ? solver.time(place) : estimate.time(place);
      };
      auto note = [&](int first, double time) {
        const State state = {std::max(behind.slowest, time), behind.sum + time,
                             end};
        auto [it, isNew] = states[s].try_emplace(first, state);
        if (!isNew && std::tie(state.sum, state.slowest) <
                          std::tie(it->second.sum, it->second.slowest))
          it->second = state;
      };
      if (s == 0) {
        if (const double time = takes(0, true); time <= slowest)
          note(0, time);
        continue;
      }
      // The first part of a layer from which on it may be about in time.
      int low = 0, high = segments.partOf(end - 1);
      while (low < high) {
        const int middle = (low + high) / 2;
        if (takes(parts[middle], false) <= estimated)
          high = middle;
        else
          low = middle + 1;
      }
      int last = end - 1;
      for (auto it = std::lower_bound(allPlaces.begin() + 1, allPlaces.end(),
                                      parts[std::max(low - 1, 0)]);
           *it <= last; ++it) {
        if (solver.workBefore(*it) > place.before * slowest)
          break;
        if (takes(*it, false) > estimated)
          continue;
        const double time = takes(*it, true);
        if (time > slowest)
          continue;
        note(*it, time);
        last = std::min(last, *it + window);
      }
    }
    // What is cut late leaves more to those in front.
    if (!states[s].empty())
      states[s].erase(states[s].upper_bound(states[s].begin()->first + window),
                      states[s].end());
  }
  StageDivision result;
  auto it = states[0].find(0);
  if (it == states[0].end())
    return result;
  result.slowest = it->second.slowest;
  result.iteration = (microBatches - 1) * it->second.slowest + it->second.sum;
  int first = 0;
  for (size_t s = 0; s < count; ++s) {
    StagePlace place = division.places[s];
    place.first = first;
    place.end = first = states[s].at(first).end;
    result.places.push_back(place);
  }
  return result;
}

StageDivision StageCuts::refine(const StageDivision &division, double bound) {
  StageDivision best;
  double low = division.slowest * 0.95, high = division.slowest;
  for (int attempt = 0; attempt < 6 && best.places.empty(); ++attempt) {
    best = reach(division, high);
    if (best.places.empty()) {
      low = high;
      high *= 1.004 + 0.006 * attempt;
      if ((microBatches - 1) * low > bound)
        return best;
    }
  }
  if (best.places.empty())
    return best;
  high = best.slowest;
  for (int step = 0; step < 14 && high - low > 1e-5 * high; ++step) {
    const double middle = (low + high) / 2;
    StageDivision there = reach(division, middle);
    if (there.places.empty()) {
      low = middle;
      continue;
    }
    high = std::min(there.slowest, middle);
    if (there.iteration < best.iteration)
      best = std::move(there);
  }
  return best;
}
