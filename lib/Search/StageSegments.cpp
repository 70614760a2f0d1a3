//===- StageSegments.cpp - what parts of a layer can cost -----------------===//

#include "StageSegments.h"

#include <algorithm>
#include <set>

using namespace ffc;
using namespace ffc::search;
using plan::StageOperator;
using plan::StageRow;

const SegmentOption &Segment::cheapest(double price) const {
  // At which price two neighbours are equal ascends.
  const auto it = std::partition_point(
      hull.begin() + 1, hull.end(), [&](const SegmentOption *const &option) {
        const SegmentOption &before = **(&option - 1);
        return option->time - before.time <
               price * (before.kept - option->kept);
      });
  return **(it - 1);
}

/// The lower convex hull of options by ascending time and descending memory.
static std::vector<const SegmentOption *>
hullOf(const std::vector<SegmentOption> &options) {
  std::vector<const SegmentOption *> hull;
  for (const SegmentOption &option : options) {
    auto isAbove = [&](const SegmentOption &a, const SegmentOption &b) {
      return (b.time - a.time) * (b.kept - option.kept) >=
             (option.time - b.time) * (a.kept - b.kept);
    };
    while (hull.size() > 1 && isAbove(*hull[hull.size() - 2], *hull.back()))
      hull.pop_back();
    hull.push_back(&option);
  }
  return hull;
}

StageSegments::StageSegments(const plan::StageProfile &profile,
                             const plan::StageModel &model)
    : profile(profile), model(model) {
  for (int op = 0; op < model.size(); ++op) {
    if (op == 0 || model.ops[op].startsPart ||
        op - begins.back() == kMostOperators)
      begins.push_back(op);
    partOfOp.push_back(static_cast<int>(begins.size()) - 1);
  }
  partOfOp.push_back(static_cast<int>(begins.size()));
  begins.push_back(model.size());
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {

/// Makes the options of a segment, operator by operator. What is computed again
/// are stretches of at least two operators, of which all results but the last
/// one need not be kept; between two of them is an operator that is not, or the
/// start of a block.
class OptionMaker {
public:
  OptionMaker(const plan::StageModel &model, int begin, int end, bool isLast,
              const SegmentCaps &caps)
      : model(model), begin(begin), end(end), isLast(isLast), caps(caps),
        free(end - begin + 1), behindStretch(end - begin + 1) {}

  /// By algorithm, null where there is no table.
  std::vector<const plan::StageTable *> tables;

  std::vector<SegmentOption> run();

private:
  enum class Use { Kept, AgainKept, AgainFreed };
  struct Cost {
    double time, kept, forward, backward;
    int algorithm;
  };

  /// The ways to do an operator that are not worse than others.
  std::vector<Cost> costs(int op, Use use) const;
  static void append(const std::vector<SegmentOption> &from,
                     const SegmentOption &step, std::vector<SegmentOption> &to);
  static void prune(std::vector<SegmentOption> &options);
  bool mayEnd(int op) const;
  void addStretches(int op);

  const plan::StageModel &model;
  const int begin, end;
  const bool isLast;
  const SegmentCaps &caps;
  /// By operator, the options for all before it: anything may follow, or
  /// nothing that is computed again.
  std::vector<std::vector<SegmentOption>> free, behindStretch;
};

} // namespace

std::vector<OptionMaker::Cost> OptionMaker::costs(int op, Use use) const {
  std::vector<Cost> result;
  const StageOperator &info = model.ops[op];
  for (size_t algorithm = 0; algorithm < tables.size(); ++algorithm) {
    if (!tables[algorithm])
      continue;
    const StageRow &row = (*tables[algorithm])[info.row];
    const bool counts = !(isLast && op + 1 == end);
    const double forward = counts ? row.forwardReserved : 0;
    const double backward = counts ? row.backwardReserved : 0;
    if (forward > caps.forwardReserved || backward > caps.backwardReserved)
      continue;
    const Cost cost = {row.backward +
                           (use == Use::Kept ? row.forward : 2 * row.forward),
                       use == Use::AgainFreed ? 0 : info.kept * row.activations,
                       forward, backward, static_cast<int>(algorithm)};
    auto isWorse = [](const Cost &a, const Cost &b) {
      return a.time >= b.time && a.kept >= b.kept;
    };
    if (std::any_of(result.begin(), result.end(),
                    [&](const Cost &o) { return isWorse(cost, o); }))
      continue;
    result.erase(
        std::remove_if(result.begin(), result.end(),
                       [&](const Cost &o) { return isWorse(o, cost); }),
        result.end());
    result.push_back(cost);
  }
  return result;
}

void OptionMaker::append(const std::vector<SegmentOption> &from,
                         const SegmentOption &step,
                         std::vector<SegmentOption> &to) {
  for (const SegmentOption &option : from)
    to.push_back({option.time + step.time, option.kept + step.kept,
                  std::max(option.peak, step.peak),
                  std::max(option.forwardReserved, step.forwardReserved),
                  std::max(option.backwardReserved, step.backwardReserved),
                  option.again | step.again,
                  option.algorithms | step.algorithms});
}

/// Leaves those by ascending time of which each needs less memory.
void OptionMaker::prune(std::vector<SegmentOption> &options) {
  std::sort(options.begin(), options.end(),
            [](const SegmentOption &a, const SegmentOption &b) {
              return std::tie(a.time, a.kept, a.peak) <
                     std::tie(b.time, b.kept, b.peak);
            });
  size_t count = 0;
  for (const SegmentOption &option : options)
    if (count == 0 || option.kept < options[count - 1].kept - 1e-9)
      options[count++] = option;
  options.resize(count);
}

/// May a stretch end with operator `op`? Not with the last one of a part whose
/// successor could go on with it.
bool OptionMaker::mayEnd(int op) const {
  if (op + 1 < end || isLast || op + 1 == model.size() ||
      model.ops[op + 1].startsBlock)
    return true;
  // A part of one operator has no stretches.
  return op + 2 == model.size() || model.ops[op + 2].startsPart;
}

void OptionMaker::addStretches(int first) {
  const std::vector<SegmentOption> &from = free[first - begin];
  std::vector<SegmentOption> inside = {SegmentOption()};
  for (int op = first; op < end; ++op) {
    const uint32_t bit = uint32_t(1) << (op - begin);
    const StageOperator &info = model.ops[op];
    // Ends here: what it makes is kept.
    if (op > first && mayEnd(op)) {
      const bool isBoundary =
          op + 1 < model.size() && model.ops[op + 1].startsBlock;
      for (const Cost &cost : costs(op, Use::AgainKept)) {
        std::vector<SegmentOption> ended;
        append(inside,
               {cost.time, cost.kept, 0, cost.forward, cost.backward, bit,
                cost.algorithm ? bit : 0},
               ended);
        for (SegmentOption &option : ended) {
          // The next block may be computed again with it.
          if (isBoundary && !info.isShared)
            option.peak += cost.kept;
          if (option.peak <= caps.peak)
            append(from, option, behindStretch[op + 1 - begin]);
        }
      }
    }
    std::vector<Cost> freed = costs(op, Use::AgainFreed);
    if (freed.empty())
      return;
    const Cost &cost = freed.front();
    const double size =
        info.kept * (*tables[cost.algorithm])[info.row].activations;
    for (SegmentOption &option : inside) {
      option.time += cost.time;
      option.peak += size;
      option.forwardReserved = std::max(option.forwardReserved, cost.forward);
      option.backwardReserved =
          std::max(option.backwardReserved, cost.backward);
      option.again |= bit;
      option.algorithms |= cost.algorithm ? bit : 0;
    }
    if (inside.front().peak > caps.peak)
      return;
  }
}

std::vector<SegmentOption> OptionMaker::run() {
  free[0].push_back({});
  for (int op = begin; op < end; ++op) {
    const size_t at = op - begin;
    // Blocks are computed again one by one.
    if (model.ops[op].startsBlock)
      free[at].insert(free[at].end(), behindStretch[at].begin(),
                      behindStretch[at].end());
    prune(free[at]);
    prune(behindStretch[at]);
    addStretches(op);
    const uint32_t bit = uint32_t(1) << at;
    for (const Cost &cost : costs(op, Use::Kept))
      for (const auto *from : {&free[at], &behindStretch[at]})
        append(*from,
               {cost.time, cost.kept, 0, cost.forward, cost.backward, 0,
                cost.algorithm ? bit : 0},
               free[at + 1]);
  }
  std::vector<SegmentOption> &result = free.back();
  result.insert(result.end(), behindStretch.back().begin(),
                behindStretch.back().end());
  prune(result);
  return result;
}

void StageSegments::make(const Lane &lane, int begin, int end, bool isLast,
                         const SegmentCaps &caps, Segment &result) const {
  OptionMaker maker(model, begin, end, isLast, caps);
  // The algorithms of a transformer's products lie differently if devices
  // share them.
  const bool choose = !model.hasLayouts || lane.tensor == 1 ||
                      model.ops[begin].rule == plan::LayoutRule::Samples;
  for (int algorithm = 0; algorithm < (choose ? profile.algorithms() : 1);
       ++algorithm)
    maker.tables.push_back(profile.table(lane.samples, lane.tensor, algorithm));
  result.options = maker.run();
  result.hull = hullOf(result.options);
  for (int op = begin; op < end; ++op)
    result.weights += row(lane, op).weights;
}

const Segment &StageSegments::segment(const Lane &lane, int begin, int end,
                                      bool isLast,
                                      const SegmentCaps &caps) const {
  const bool endsBlock = end < model.size() && model.ops[end].startsBlock;
  std::unique_ptr<Segment> &entry = segments[{
      lane, model.ops[begin].row, model.ops[end - 1].row, isLast, endsBlock,
      caps.peak, caps.forwardReserved, caps.backwardReserved}];
  if (!entry) {
    entry = std::make_unique<Segment>();
    make(lane, begin, end, isLast, caps, *entry);
  }
  return *entry;
}

const std::vector<double> &StageSegments::peaks(const Lane &lane) const {
  std::vector<double> &result = allPeaks[lane];
  if (!result.empty())
    return result;
  std::set<double, std::greater<>> found;
  for (size_t part = 0; part + 1 < begins.size(); ++part)
    for (const SegmentOption &option :
         segment(lane, begins[part], begins[part + 1], false, {}).options)
      if (option.peak > 0)
        found.insert(option.peak);
  result = {SegmentCaps::kNone};
  // About as many, evenly, if there are more.
  constexpr size_t kMost = 12;
  size_t at = 0;
  for (double peak : found)
    if (at++ % (found.size() / kMost + 1) == 0)
      result.push_back(peak);
  return result;
}
