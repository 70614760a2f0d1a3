//===- StageSolver.cpp - the fastest way to do one stage ------------------===//

#include "StageSolver.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ffc;
using namespace ffc::search;
using plan::OperatorSplit;
using plan::PlannedStage;
using plan::StageRow;

StageSolver::StageSolver(const plan::StageProfile &profile,
                         const plan::StageModel &model,
                         const StageSegments &segments, int microBatch,
                         int devicesPerNode, double limit)
    : profile(profile), model(model), timer(profile, model), segments(segments),
      microBatch(microBatch), devicesPerNode(devicesPerNode), limit(limit),
      work(1, 0) {
  for (int op = 0; op < model.size(); ++op) {
    double least = kNever;
    for (int samples : profile.samples())
      for (int tensor : profile.tensorDegrees())
        for (int algorithm = 0; algorithm < profile.algorithms(); ++algorithm)
          if (microBatch % samples == 0)
            if (const auto *table = profile.table(samples, tensor, algorithm)) {
              const StageRow &row = (*table)[model.ops[op].row];
              least = std::min(least, (row.forward + row.backward) * tensor *
                                          (microBatch / samples));
            }
    work.push_back(work.back() + least);
  }
}

std::vector<Lane> StageSolver::lanes(int devices, int before) const {
  std::vector<Lane> result;
  for (int tensor : profile.tensorDegrees()) {
    if (devices % tensor || microBatch % (devices / tensor))
      continue;
    bool isInNodes = true;
    for (int first = before; first < before + devices; first += tensor)
      isInNodes &=
          first / devicesPerNode == (first + tensor - 1) / devicesPerNode;
    if (!isInNodes)
      continue;
    const Lane lane = {microBatch / (devices / tensor), tensor};
    if (segments.has(lane))
      result.push_back(lane);
  }
  return result;
}

double StageSolver::transfers(const StagePlace &place, const Lane &lane) const {
  const int after = place.before + place.devices;
  return profile.link(place.before && place.before % devicesPerNode == 0)
             .asOrigin(segments.row(lane, place.first).input) +
         profile.link(after % devicesPerNode == 0)
             .asOrigin(segments.row(lane, place.end - 1).output);
}

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

int StageSolver::endOfSegment(const StagePlace &place, int begin,
                              bool isFine) const {
  return isFine ? begin + 1
                : std::min(place.end,
                           segments.parts()[segments.partOf(begin) + 1]);
}

Knapsack StageSolver::knapsackOf(const StagePlace &place,
                                 const std::vector<Lane> &lanes,
                                 const SegmentCaps &caps) const {
  Knapsack knapsack;
  knapsack.numLanes = lanes.size();
  knapsack.keptTimes = place.later + 1;
  for (const Lane &lane : lanes) {
    knapsack.firstTime.push_back(transfers(place, lane));
    knapsack.firstMemory.push_back(knapsack.keptTimes *
                                   segments.row(lane, place.first).input);
  }
  for (int begin = place.first; begin < place.end;) {
    const int end = endOfSegment(place, begin, isFine(lanes, caps));
    for (const Lane &lane : lanes) {
      knapsack.segments.push_back(
          &segments.segment(lane, begin, end, end == place.end, caps));
      for (const Lane &from : lanes) {
        double time = 0;
        if (begin > place.first && from.tensor != lane.tensor) {
          const auto [forward, backward] =
              change(begin, place.devices, from, lane);
          time = forward + backward;
        }
        knapsack.changes.push_back(time);
      }
    }
    begin = end;
  }
  return knapsack;
}

StageSolver::Choice StageSolver::solveCaps(const StagePlace &place,
                                           const std::vector<Lane> &lanes,
                                           double room, const SegmentCaps &caps,
                                           double bound) const {
  Knapsack knapsack = knapsackOf(place, lanes, caps);
  Choice found;
  auto take = [&](const Knapsack::Solution &solution) {
    found = {};
    found.time = solution.time;
    found.isFine = isFine(lanes, caps);
    for (size_t s = 0; s < solution.options.size(); ++s) {
      found.lanes.push_back(lanes[solution.lanes[s]]);
      found.options.push_back(solution.options[s]);
      found.weights +=
          knapsack.segments[s * lanes.size() + solution.lanes[s]]->weights;
    }
  };
  // What is reserved is at least as large as the weights.
  const double reserved = caps.forwardReserved + caps.backwardReserved;
  knapsack.weightTimes = parametersPerWeight();
  knapsack.room = room - caps.peak - reserved;
  take(knapsack.solve(bound));
  if (found.weights > reserved) {
    knapsack.weightTimes += 1;
    knapsack.room = room - caps.peak;
    take(knapsack.solve(bound));
  }
  return found;
}

/// Values of a member of rows that a cap may have, descending: some of those
/// between the least that any choice has and the most.
std::vector<double> StageSolver::capsOf(const std::vector<Lane> &lanes,
                                        int first, int end,
                                        double StageRow::*field) const {
  std::set<double, std::greater<>> values;
  double least = 0;
  for (int op = first; op < end; ++op) {
    double lowest = kNever;
    for (const Lane &lane : lanes)
      for (int algorithm = 0; algorithm < profile.algorithms(); ++algorithm)
        if (const auto *table =
                profile.table(lane.samples, lane.tensor, algorithm)) {
          const double value = (*table)[model.ops[op].row].*field;
          values.insert(value);
          lowest = std::min(lowest, value);
        }
    least = std::max(least, lowest);
  }
  values.insert(least);
  // Steps that hardly matter are none.
  constexpr double kStep = 0.005;
  std::vector<double> result;
  for (double value : values)
    if (value >= least && (result.empty() || value == least ||
                           result.back() - value >= kStep * limit))
      result.push_back(value);
  return result;
}

/// Lowers the caps on reserved memory while that helps, without looking for the
/// last of what is left.
StageSolver::Capped StageSolver::searchCaps(const StagePlace &place,
                                            const std::vector<Lane> &lanes,
                                            double room, double peak) const {
  const std::vector<double> forward =
      capsOf(lanes, place.first, place.end - 1, &StageRow::forwardReserved);
  const std::vector<double> backward =
      capsOf(lanes, place.first, place.end - 1, &StageRow::backwardReserved);
  auto capsAt = [&](size_t f, size_t b) {
    return SegmentCaps{peak, forward[f], backward[b]};
  };
  static constexpr size_t kJumps[] = {0, 1, 2, 4, 8};
  size_t f = 0, b = 0;
  double reached =
      solveCaps(place, lanes, room, capsAt(f, b), /*bound=*/0).time;
  for (;;) {
    double least = kNever;
    size_t nextF = f, nextB = b;
    for (size_t df : kJumps)
      for (size_t db : kJumps) {
        if ((!df && !db) || f + df >= forward.size() ||
            b + db >= backward.size())
          continue;
        const double time =
            solveCaps(place, lanes, room, capsAt(f + df, b + db), 0).time;
        if (time < least) {
          least = time;
          nextF = f + df;
          nextB = b + db;
        }
      }
    if (least >= reached - 1e-9)
      return {reached, lanes, capsAt(f, b)};
    reached = least;
    f = nextF;
    b = nextB;
  }
}

/// Caps on what is computed again at once that are worth a try on a lane,
/// ascending from none to the most in any part of the stage.
std::vector<double> StageSolver::peaksOf(const StagePlace &place,
                                         const Lane &lane) const {
  double most = 0;
  for (int begin = place.first; begin < place.end;) {
    const int end = endOfSegment(place, begin, /*isFine=*/false);
    for (const SegmentOption &option :
         segments.segment(lane, begin, end, end == place.end, {}).options)
      most = std::max(most, option.peak);
    begin = end;
  }
  std::vector<double> peaks = segments.peaks(lane);
  peaks.front() = 0;
  peaks.push_back(most);
  std::sort(peaks.begin(), peaks.end());
  peaks.erase(std::unique(peaks.begin(), peaks.end()), peaks.end());
  peaks.erase(std::upper_bound(peaks.begin(), peaks.end(), most), peaks.end());
  return peaks;
}

StageSolver::Choice StageSolver::search(const StagePlace &place,
                                        const std::vector<Lane> &lanes,
                                        double room) const {
  std::vector<Capped> all;
  std::vector<double> good = {0};
  for (const Lane &lane : lanes) {
    // Nothing is faster than nothing done again.
    const double least = knapsackOf(place, {lane}, {0}).leastTime();
    Capped best;
    for (double peak : peaksOf(place, lane)) {
      all.push_back(searchCaps(place, {lane}, room, peak));
      if (all.back().time < best.time)
        best = all.back();
      if (best.time <= least * (1 + 1e-9))
        break;
    }
    if (best.time < kNever)
      good.push_back(best.caps.peak);
  }
  // Where tables do not price changes of layout there are none.
  if (lanes.size() > 1 && model.hasLayouts) {
    std::sort(good.begin(), good.end());
    good.erase(std::unique(good.begin(), good.end()), good.end());
    for (double peak : good)
      all.push_back(searchCaps(place, lanes, room, peak));
  }
  constexpr size_t kMostSolved = 3;
  std::sort(all.begin(), all.end(),
            [](const Capped &a, const Capped &b) { return a.time < b.time; });
  Choice best;
  for (size_t i = 0; i < std::min(all.size(), kMostSolved); ++i) {
    if (all[i].time == kNever)
      break;
    Choice found = solveCaps(place, all[i].lanes, room, all[i].caps, best.time);
    if (found.time < best.time)
      best = std::move(found);
  }
  return best;
}

PlannedStage StageSolver::stageOf(const StagePlace &place,
                                  const Choice &choice) const {
  PlannedStage stage;
  stage.first = place.first;
  stage.devices = place.devices;
  size_t s = 0;
  for (int begin = place.first; begin < place.end; ++s) {
    const int end = endOfSegment(place, begin, choice.isFine);
    const SegmentOption &option = *choice.options[s];
    for (int op = begin; op < end; ++op) {
      const uint32_t bit = uint32_t(1) << (op - begin);
      stage.ops.push_back({choice.lanes[s].tensor,
                           option.algorithms & bit ? 1 : 0,
                           (option.again & bit) != 0});
    }
    begin = end;
  }
  return stage;
}

PlannedStage StageSolver::solve(const StagePlace &place, double &time) const {
  const std::vector<Lane> all = lanes(place.devices, place.before);
  time = kNever;
  double room = limit;
  // Options know nothing of what comes behind the stage; the timer judges.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Choice choice = search(place, all, room - 1e-6);
    if (choice.time == kNever)
      break;
    PlannedStage stage = stageOf(place, choice);
    const plan::StageCost cost = timer.cost(stage, microBatch, place.later,
                                            place.before, devicesPerNode);
    if (cost.memory.total() < limit) {
      time = cost.time.total();
      return stage;
    }
    room -= cost.memory.total() - limit + 0.001;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Stages that were solved before
//===----------------------------------------------------------------------===//

StageSolver::Key StageSolver::keyOf(const StagePlace &place) const {
  const int after = place.before + place.devices;
  const int crossings =
      (place.before && place.before % devicesPerNode == 0 ? 1 : 0) +
      (after % devicesPerNode == 0 ? 2 : 0);
  const int alignment = place.before ? place.before & -place.before : 1 << 20;
  return {place.first,   place.end,
          place.devices, place.later,
          crossings,     std::min(alignment, profile.tensorDegrees().back())};
}

const StageSolver::Solved &
StageSolver::solvedAt(const StagePlace &place) const {
  auto [it, isNew] = solved.try_emplace(keyOf(place));
  if (isNew)
    it->second.stage = solve(place, it->second.time);
  return it->second;
}

double StageSolver::time(const StagePlace &place) const {
  return solvedAt(place).time;
}

PlannedStage StageSolver::stage(const StagePlace &place) const {
  return solvedAt(place).stage;
}
