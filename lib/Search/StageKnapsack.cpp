//===- StageKnapsack.cpp - one option for every segment -------------------===//

#include "StageKnapsack.h"

#include <algorithm>

using namespace ffc::search;

static constexpr double kNever = std::numeric_limits<double>::infinity();
/// What is not better by so much is not worth the time to find it.
static constexpr double kEnough = 1.5e-5;

std::vector<double> Knapsack::restAt(double price) const {
  std::vector<double> rest(segments.size() + numLanes, 0);
  for (size_t s = numSegments(); s-- > 0;)
    for (size_t lane = 0; lane < numLanes; ++lane) {
      const Segment &each = segment(s, lane);
      double &cost = rest[s * numLanes + lane];
      if (each.options.empty()) {
        cost = kNever;
        continue;
      }
      // Many layers are alike.
      const bool isSame = s + 1 < numSegments() &&
                          &each == segments[(s + 1) * numLanes + lane] &&
                          numLanes == 1 && s + 2 < numSegments();
      if (isSame) {
        cost = 2 * rest[s + 1] - rest[s + 2];
        if (cost < kNever)
          continue;
      }
      const SegmentOption &option = each.cheapest(price * keptTimes);
      cost = option.time + price * memoryOf(each, option);
      if (s + 1 == numSegments())
        continue;
      double next = kNever;
      for (size_t to = 0; to < numLanes; ++to)
        next = std::min(next, change(s + 1, to, lane) +
                                  rest[(s + 1) * numLanes + to]);
      cost += next;
    }
  return rest;
}

Knapsack::Solution Knapsack::choiceAt(double price,
                                      const std::vector<double> &rest) const {
  Solution solution;
  size_t lane = 0;
  for (size_t s = 0; s < numSegments(); ++s) {
    double least = kNever;
    size_t best = 0;
    for (size_t to = 0; to < numLanes; ++to) {
      const double entry =
          s ? change(s, to, lane) : firstTime[to] + price * firstMemory[to];
      if (entry + rest[s * numLanes + to] < least) {
        least = entry + rest[s * numLanes + to];
        best = to;
      }
    }
    if (least == kNever)
      return {};
    const Segment &each = segment(s, best);
    const SegmentOption &option = each.cheapest(price * keptTimes);
    if (s == 0) {
      solution.time = firstTime[best];
      solution.memory = firstMemory[best];
    } else {
      solution.time += change(s, best, lane);
    }
    solution.time += option.time;
    solution.memory += memoryOf(each, option);
    solution.lanes.push_back(best);
    solution.options.push_back(&option);
    lane = best;
  }
  return solution;
}

double Knapsack::leastTime() const { return choiceAt(0, restAt(0)).time; }

Knapsack::Solution Knapsack::solve(double bound) const {
  if (room < 0)
    return {};
  Solution best = choiceAt(0, restAt(0));
  if (best.options.empty() || best.memory <= room)
    return best;
  // The least price at which it fits.
  double low = 0, high = 1e-3;
  std::vector<double> rest;
  for (;; low = high, high *= 8) {
    if (high > 1e9)
      return {};
    rest = restAt(high);
    best = choiceAt(high, rest);
    if (best.memory <= room)
      break;
  }
  for (int step = 0; step < 24 && high > low * (1 + 1e-7); ++step) {
    const double middle = (low + high) / 2;
    std::vector<double> restThere = restAt(middle);
    Solution there = choiceAt(middle, restThere);
    if (there.memory <= room) {
      high = middle;
      rest = std::move(restThere);
      if (there.time <= best.time)
        best = std::move(there);
    } else {
      low = middle;
    }
  }
  useRoom(best);
  double least = kNever;
  for (size_t lane = 0; lane < numLanes; ++lane)
    least = std::min(least, firstTime[lane] + rest[lane] +
                                high * (firstMemory[lane] - room));
  if (least < std::min(bound, best.time) * (1 - kEnough))
    improve(high, rest, best);
  return best;
}

/// Takes faster options while they fit, those that save most first.
void Knapsack::useRoom(Solution &solution) const {
  for (;;) {
    double most = 0;
    size_t at = 0;
    const SegmentOption *better = nullptr;
    for (size_t s = 0; s < numSegments(); ++s) {
      const SegmentOption &now = *solution.options[s];
      const double left = now.kept + (room - solution.memory) / keptTimes;
      for (const SegmentOption &option :
           segment(s, solution.lanes[s]).options) {
        if (option.time >= now.time)
          break;
        if (option.kept <= left) {
          if (now.time - option.time > most) {
            most = now.time - option.time;
            at = s;
            better = &option;
          }
          break;
        }
      }
    }
    if (!better)
      return;
    solution.time -= most;
    solution.memory += keptTimes * (better->kept - solution.options[at]->kept);
    solution.options[at] = better;
  }
}

/// The least time + price * memory of the segments up to `s`, by segment and
/// lane.
std::vector<double> Knapsack::frontAt(double price) const {
  std::vector<double> front(segments.size(), kNever);
  for (size_t s = 0; s < numSegments(); ++s)
    for (size_t lane = 0; lane < numLanes; ++lane) {
      const Segment &each = segment(s, lane);
      if (each.options.empty())
        continue;
      double &cost = front[s * numLanes + lane];
      if (s == 0)
        cost = firstTime[lane] + price * firstMemory[lane];
      else
        for (size_t from = 0; from < numLanes; ++from)
          cost = std::min(cost, change(s, lane, from) +
                                    front[(s - 1) * numLanes + from]);
      const SegmentOption &option = each.cheapest(price * keptTimes);
      cost += option.time + price * memoryOf(each, option);
    }
  return front;
}

void Knapsack::improve(double price, const std::vector<double> &rest,
                       Solution &best) const {
  struct Label {
    double time, memory, least;
    size_t lane, before;
    const SegmentOption *option;
  };
  // Long chains have many small steps to choose from, so that the relaxation is
  // nearer.
  const size_t mostLabels = std::clamp<size_t>(512 / numSegments(), 4, 64);
  constexpr size_t kMostOptions = 24;
  const double enough = best.time * (1 - kEnough);
  const std::vector<double> front = frontAt(price);
  std::vector<std::vector<Label>> labels(numSegments());
  std::vector<Label> next;
  std::vector<const SegmentOption *> options;
  for (size_t s = 0; s < numSegments(); ++s) {
    next.clear();
    for (size_t lane = 0; lane < numLanes; ++lane) {
      const Segment &each = segment(s, lane);
      if (each.options.empty())
        continue;
      double behind = s + 1 == numSegments() ? 0 : kNever;
      if (s + 1 < numSegments())
        for (size_t to = 0; to < numLanes; ++to)
          behind = std::min(behind, change(s + 1, to, lane) +
                                        rest[(s + 1) * numLanes + to]);
      // Those that can be part of a better choice at all.
      const SegmentOption &cheapest = each.cheapest(price * keptTimes);
      const double around = front[s * numLanes + lane] - cheapest.time -
                            price * memoryOf(each, cheapest) + behind -
                            price * room;
      options.clear();
      for (const SegmentOption &option : each.options)
        if (around + option.time + price * memoryOf(each, option) < enough)
          options.push_back(&option);
      if (options.size() > kMostOptions) {
        std::nth_element(options.begin(), options.begin() + kMostOptions,
                         options.end(),
                         [&](const SegmentOption *a, const SegmentOption *b) {
                           return a->time + price * keptTimes * a->kept <
                                  b->time + price * keptTimes * b->kept;
                         });
        options.resize(kMostOptions);
      }
      auto goOn = [&](double time, double memory, size_t before) {
        for (const SegmentOption *option : options) {
          Label label = {time + option->time,
                         memory + memoryOf(each, *option),
                         0,
                         lane,
                         before,
                         option};
          label.least = label.time + behind + price * (label.memory - room);
          if (label.least < enough)
            next.push_back(label);
        }
      };
      if (s == 0)
        goOn(firstTime[lane], firstMemory[lane], 0);
      else
        for (size_t i = 0; i < labels[s - 1].size(); ++i) {
          const Label &from = labels[s - 1][i];
          goOn(from.time + change(s, lane, from.lane), from.memory, i);
        }
    }
    // Of a lane only those that are faster or need less.
    std::sort(next.begin(), next.end(), [](const Label &a, const Label &b) {
      return std::tie(a.lane, a.time, a.memory) <
             std::tie(b.lane, b.time, b.memory);
    });
    std::vector<Label> &kept = labels[s];
    for (const Label &label : next)
      if (kept.empty() || kept.back().lane != label.lane ||
          label.memory < kept.back().memory - 1e-9)
        kept.push_back(label);
    if (kept.size() > mostLabels) {
      std::nth_element(
          kept.begin(), kept.begin() + mostLabels, kept.end(),
          [](const Label &a, const Label &b) { return a.least < b.least; });
      kept.resize(mostLabels);
    }
    if (kept.empty())
      return;
  }
  const Label *fastest = nullptr;
  for (const Label &label : labels.back())
    if (label.memory <= room && (!fastest || label.time < fastest->time))
      fastest = &label;
  if (!fastest || fastest->time >= best.time)
    return;
  best.time = fastest->time;
  best.memory = fastest->memory;
  for (size_t s = numSegments(); s-- > 0;) {
    best.lanes[s] = fastest->lane;
    best.options[s] = fastest->option;
    if (s > 0)
      fastest = &labels[s - 1][fastest->before];
  }
}
