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
                                                     double peak) const {
  const Segment &segment = segments.segment(lane, begin, end, isLast, {peak});
  Points &result = points[&segment];
  if (result.empty())
    for (double price : prices) {
      if (segment.options.empty()) {
        result.push_back({kNever, kNever});
        continue;
      }
      const SegmentOption &option = segment.cheapest(price);
      result.push_back({option.time, option.kept, option.forwardReserved,
                        option.backwardReserved});
    }
  return result;
}

StageEstimate::LaneSums &StageEstimate::sumsOf(const Lane &lane) const {
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
    std::vector<Points> &before = result.parts.emplace_back();
    before.emplace_back(prices.size());
    for (size_t part = 0; part + 1 < begins.size(); ++part) {
      Points sum = before.back();
      const Points &each = pointsOf(lane, begins[part], begins[part + 1], false,
                                    segments.peaks(lane)[peak]);
      for (size_t price = 0; price < prices.size(); ++price) {
        sum[price].time += each[price].time;
        sum[price].kept += each[price].kept;
      }
      before.push_back(std::move(sum));
    }
  }
  return result;
}

const StageEstimate::Points &StageEstimate::headOf(const Lane &lane,
                                                   LaneSums &sum, int begin,
                                                   double peak) const {
  std::vector<const Points *> &heads = sum.heads[peak];
  if (heads.empty())
    heads.resize(model.size(), nullptr);
  if (!heads[begin])
    heads[begin] = &pointsOf(
        lane, begin, segments.parts()[segments.partOf(begin) + 1], false, peak);
  return *heads[begin];
}

const StageEstimate::Points &StageEstimate::tailOf(const Lane &lane,
                                                   LaneSums &sum, int end,
                                                   double peak) const {
  std::vector<const Points *> &tails = sum.tails[peak];
  if (tails.empty())
    tails.resize(model.size() + 1, nullptr);
  if (!tails[end])
    tails[end] = &pointsOf(lane, segments.parts()[segments.partOf(end - 1)],
                           end, true, peak);
  return *tails[end];
}

double StageEstimate::timeOn(const StagePlace &place, const Lane &lane,
                             double bound) const {
  LaneSums &sum = sumsOf(lane);
  const double weights = sum.weights[place.end] - sum.weights[place.first];
  const double reserved =
      std::max(most(sum.forward, place.first, place.end - 1) +
                   most(sum.backward, place.first, place.end - 1),
               weights);
  const std::vector<double> &peaks = segments.peaks(lane);
  const double rest = limit - reserved - solver.parametersPerWeight() * weights;
  const double transfers = solver.transfers(place, lane);
  const double input = segments.row(lane, place.first).input;
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
      head = &pointsOf(lane, place.first, place.end, true, peaks[peak]);
    } else {
      head = &headOf(lane, sum, place.first, peaks[peak]);
      tail = &tailOf(lane, sum, place.end, peaks[peak]);
    }
    auto at = [&](size_t price) {
      Point point = (*head)[price];
      if (tail) {
        const std::vector<Points> &parts = sum.parts[peak];
        point.time += (*tail)[price].time + parts[last][price].time -
                      parts[first + 1][price].time;
        point.kept += (*tail)[price].kept + parts[last][price].kept -
                      parts[first + 1][price].kept;
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

//===----------------------------------------------------------------------===//
// Several lanes
//===----------------------------------------------------------------------===//

/// A stage that begins anywhere, on its way backwards.
struct StageEstimate::Sweep {
  /// What is the same at all prices.
  StagePlace place; ///< with the end of the stage
  std::vector<Lane> lanes;
  std::vector<LaneSums *> sums;  ///< by lane
  std::vector<double> transfers; ///< by first operator and lane
  std::vector<double> changes;   ///< by part, lane before its end and behind
  /// By operator and lane, of what is left of its part in the stage.
  std::vector<const Points *> heads;

  std::vector<double> times; ///< by first operator, the least so far
};

/// At one price, with one cap, on lanes from number `without` on. Does it fit
/// wherever the stage begins?
bool StageEstimate::sweepAt(Sweep &sweep, size_t without, size_t price,
                            double peak) const {
  struct State {
    double cost = kNever; ///< time + price * memory
    double time = 0, weights = 0, kept = 0, forward = 0, backward = 0;
  };
  const size_t numLanes = sweep.lanes.size();
  const double keptTimes = sweep.place.later + 1;
  const double perWeight =
      solver.parametersPerWeight() * prices[price] / keptTimes;
  std::vector<State> behind(numLanes), now(numLanes);
  bool fits = true;
  const int last = segments.partOf(sweep.place.end - 1);
  for (int part = last; part >= 0; --part) {
    const int begin = segments.parts()[part];
    const int end = part == last ? sweep.place.end : segments.parts()[part + 1];
    double fastest = kNever;
    for (size_t lane = without; lane < numLanes; ++lane) {
      // What follows, if this lane stands before it.
      State next;
      if (part == last)
        next.cost = 0;
      else
        for (size_t to = without; to < numLanes; ++to) {
          const double change =
              sweep.changes[(part * numLanes + lane) * numLanes + to];
          if (behind[to].cost + change < next.cost) {
            next = behind[to];
            next.cost += change;
            next.time += change;
          }
        }
      const std::vector<double> &weightsBefore = sweep.sums[lane]->weights;
      for (int first = end; first-- > begin;) {
        const Point &point = (*sweep.heads[first * numLanes + lane])[price];
        State each = next;
        const double weights = weightsBefore[end] - weightsBefore[first];
        each.cost +=
            point.time + prices[price] * point.kept + perWeight * weights;
        each.time += point.time;
        each.kept += point.kept;
        each.weights += weights;
        each.forward = std::max(each.forward, point.forwardReserved);
        each.backward = std::max(each.backward, point.backwardReserved);
        if (first == begin)
          now[lane] = each;
        fastest = std::min(fastest, each.time);
        const double time =
            each.time + sweep.transfers[first * numLanes + lane];
        if (time >= sweep.times[first] || time > longest)
          continue;
        const double memory =
            solver.parametersPerWeight() * each.weights +
            keptTimes *
                (each.kept + segments.row(sweep.lanes[lane], first).input) +
            peak + std::max(each.forward + each.backward, each.weights);
        if (memory < limit)
          sweep.times[first] = time;
        else
          fits = false;
      }
    }
    if (fastest > longest)
      break;
    std::swap(behind, now);
  }
  return fits;
}

std::vector<double> StageEstimate::sweep(const StagePlace &place,
                                         const std::vector<Lane> &lanes) const {
  Sweep sweep;
  sweep.place = place;
  sweep.lanes = lanes;
  for (const Lane &lane : lanes)
    sweep.sums.push_back(&sumsOf(lane));
  const int last = segments.partOf(place.end - 1);
  for (int part = 0; part < last; ++part)
    for (const Lane &from : lanes)
      for (const Lane &to : lanes) {
        const auto [forward, backward] =
            solver.change(segments.parts()[part + 1], place.devices, from, to);
        sweep.changes.push_back(from.tensor == to.tensor ? 0
                                                         : forward + backward);
      }
  StagePlace each = place;
  for (each.first = 0; each.first < place.end; ++each.first)
    for (const Lane &lane : lanes)
      sweep.transfers.push_back(solver.transfers(each, lane));
  sweep.times.assign(place.end, kNever);
  std::vector<double> caps = {0};
  const std::vector<double> &peaks = segments.peaks(lanes[0]);
  if (peaks.size() > 1)
    for (size_t at : {size_t(1), peaks.size() / 2, peaks.size() - 1})
      caps.push_back(peaks[at]);
  for (double cap : caps) {
    sweep.heads.clear();
    for (int first = 0; first < place.end; ++first)
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        sweep.heads.push_back(
            segments.partOf(first) == last
                ? &pointsOf(lanes[lane], first, place.end, true, cap)
                : &headOf(lanes[lane], *sweep.sums[lane], first, cap));
    // Without those that need most memory there is more for the others.
    for (size_t without = 0; without < lanes.size(); ++without)
      for (size_t price = 0;
           price < prices.size() && !sweepAt(sweep, without, price, cap);)
        price += 3;
  }
  return std::move(sweep.times);
}

void StageEstimate::reach(double time) {
  if (time <= longest)
    return;
  longest = 2 * time;
  times.clear();
  sweeps.clear();
}

double StageEstimate::time(const StagePlace &place) const {
  // Where a stage is matters by its lanes, and little by what it sends.
  const std::vector<Lane> lanes = solver.lanes(place.devices, place.before);
  if (lanes.empty())
    return kNever;
  const int set = StageSolver::laneSet(lanes);
  auto [it, isNew] = times.try_emplace(
      Key{place.first, place.end, place.devices, place.later, set}, kNever);
  if (!isNew)
    return it->second;
  constexpr int kMostSwept = 450;
  if (lanes.size() > 1 && model.hasLayouts && model.size() <= kMostSwept) {
    auto [swept, isFirst] =
        sweeps.try_emplace(Key{place.end, place.devices, place.later, set, 0});
    if (isFirst)
      swept->second = sweep(place, lanes);
    it->second = swept->second[place.first];
  }
  for (const Lane &lane : lanes)
    it->second = timeOn(place, lane, it->second);
  return it->second;
}
