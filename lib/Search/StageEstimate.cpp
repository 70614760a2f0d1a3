//===- StageEstimate.cpp - about the time of a stage, quickly -------------===//

#include "StageEstimate.h"

#include <algorithm>
#include <cmath>

using namespace ffc;
using namespace ffc::search;
using plan::StageRow;

static constexpr double kNever = StageSolver::kNever;

StageEstimate::StageEstimate(const plan::StageModel &model,
                             const StageSegments &segments,
                             const StageSolver &solver, double limit)
    : model(model), segments(segments), solver(solver), limit(limit) {
  // Microseconds per MiB of a micro-batch.
  prices.push_back(0);
  for (double price = 0.05; price < 5000; price *= 1.5)
    prices.push_back(price);
}

double StageEstimate::most(const std::vector<std::vector<double>> &table,
                           int begin, int end) {
  if (begin >= end)
    return 0;
  const int power = 31 - __builtin_clz(static_cast<unsigned>(end - begin));
  return std::max(table[power][begin], table[power][end - (1 << power)]);
}

const StageEstimate::Points &StageEstimate::pointsOf(const Lane &lane,
                                                     int begin, int end,
                                                     bool isLast,
                                                     size_t peak) const {
  const Segment &segment = segments.segment(
      lane, begin, end, isLast, {segments.peaks(lane)[peak]});
  Points &result = points[&segment];
  if (result.empty())
    for (double price : prices) {
      if (segment.options.empty()) {
        result.push_back({kNever, kNever});
        continue;
      }
      const SegmentOption &option = segment.cheapest(price);
      result.push_back({option.time, option.kept});
    }
  return result;
}

const StageEstimate::LaneSums &StageEstimate::sumsOf(const Lane &lane) const {
  auto [it, isNew] = sums.try_emplace(lane);
  LaneSums &result = it->second;
  if (!isNew)
    return result;
  result.weights.push_back(0);
  result.forward.emplace_back();
  result.backward.emplace_back();
  for (int op = 0; op < model.size(); ++op) {
    const StageRow &row = segments.row(lane, op);
    result.weights.push_back(result.weights.back() + row.weights);
    result.forward[0].push_back(row.forwardReserved);
    result.backward[0].push_back(row.backwardReserved);
  }
  for (auto *table : {&result.forward, &result.backward})
    for (size_t power = 1; (size_t(1) << power) <= (*table)[0].size();
         ++power) {
      const std::vector<double> &half = (*table)[power - 1];
      std::vector<double> whole;
      for (size_t op = 0; op + (size_t(1) << power) <= (*table)[0].size(); ++op)
        whole.push_back(
            std::max(half[op], half[op + (size_t(1) << (power - 1))]));
      table->push_back(std::move(whole));
    }
  const std::vector<int> &begins = segments.parts();
  for (size_t peak = 0; peak < segments.peaks(lane).size(); ++peak) {
    std::vector<Points> &before = result.layers.emplace_back();
    before.emplace_back(prices.size());
    for (size_t layer = 0; layer + 1 < begins.size(); ++layer) {
      Points sum = before.back();
      const Points &each =
          pointsOf(lane, begins[layer], begins[layer + 1], false, peak);
      for (size_t price = 0; price < prices.size(); ++price) {
        sum[price].time += each[price].time;
        sum[price].kept += each[price].kept;
      }
      before.push_back(std::move(sum));
    }
  }
  return result;
}

double StageEstimate::timeOn(const StagePlace &place, const Lane &lane,
                             double bound) const {
  const LaneSums &sum = sumsOf(lane);
  const double weights = sum.weights[place.end] - sum.weights[place.first];
  const double reserved = std::max(
      most(sum.forward, place.first, place.end - 1) +
          most(sum.backward, place.first, place.end - 1),
      weights);
  const std::vector<double> &peaks = segments.peaks(lane);
  const double rest =
      limit - reserved - solver.parametersPerWeight() * weights;
  const double transfers = solver.transfers(place, lane);
  const double input = segments.row(lane, place.first).input;
  const std::vector<int> &begins = segments.parts();
  const int first = segments.partOf(place.first);
  const int last = segments.partOf(place.end - 1);
  double least = bound;
  // From the cap on: what is there at price `price`.
  for (size_t peak = 0; peak < peaks.size(); ++peak) {
    const double used = peak == 0 ? 0 : peaks[peak];
    const double room = (rest - used) / (place.later + 1) - input;
    if (room < 0)
      continue;
    const Points *head, *tail = nullptr;
    if (first == last) {
      head = &pointsOf(lane, place.first, place.end, true, peak);
    } else {
      head = &pointsOf(lane, place.first, begins[first + 1], false, peak);
      tail = &pointsOf(lane, begins[last], place.end, true, peak);
    }
    auto at = [&](size_t price) {
      Point point = (*head)[price];
      if (tail) {
        const std::vector<Points> &layers = sum.layers[peak];
        point.time += (*tail)[price].time + layers[last][price].time -
                      layers[first + 1][price].time;
        point.kept += (*tail)[price].kept + layers[last][price].kept -
                      layers[first + 1][price].kept;
      }
      return point;
    };
    const Point fastest = at(0);
    if (fastest.time + transfers >= least)
      continue;
    if (fastest.kept <= room) {
      least = fastest.time + transfers;
      continue;
    }
    // Without a cap nothing is said about what is computed again at once.
    if (peak == 0)
      continue;
    size_t low = 0, high = prices.size() - 1;
    if (at(high).kept > room)
      continue;
    while (high > low + 1) {
      const size_t middle = (low + high) / 2;
      (at(middle).kept <= room ? high : low) = middle;
    }
    const Point above = at(low), below = at(high);
    const double share = (above.kept - room) / (above.kept - below.kept);
    least = std::min(least, above.time + share * (below.time - above.time) +
                                transfers);
  }
  return least;
}

double StageEstimate::time(const StagePlace &place) const {
  // Times to send hardly depend on where a stage is.
  auto [it, isNew] = times.try_emplace(
      Key{place.first, place.end, place.devices, place.later,
          place.before ? place.before & -place.before : 0},
      kNever);
  if (isNew)
    for (const Lane &lane : solver.lanes(place.devices, place.before))
      it->second = timeOn(place, lane, it->second);
  return it->second;
}
