//===- CommunicationBound.cpp - least time with communication -------------===//

#include "ffc/Search/CommunicationBound.h"

#include "Charges.h"
#include "Parties.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// By what a bound is worth to be looked for, and how closely.
static constexpr double kLeastGain = 1.001;
static constexpr double kCloseEnough = 1.004;

namespace {

/// Picoseconds for a byte that are tried, from the highest on where kernels and
/// messages take turns.
std::vector<double> pricesOf(const Parties &parties, bool overlaps,
                             double highest) {
  std::vector<double> prices;
  const double each = parties.devices / parties.bandwidth;
  // Where communication takes the time of kernels, bytes have a highest price.
  for (double price = overlaps ? 8 * each : highest; price > each / 24;
       price /= 2)
    prices.push_back(price);
  return prices;
}

/// How much of an operator that is a product a party can compute in a time,
/// from what it would have to receive or to make.
class Reach {
public:
  Reach(const StepTraffic &step, const Charges &charges, OpId op, double price)
      : time(step.items[op].time), price(price), credit(charges.credit(op)),
        excess(charges.excess()) {
    for (const auto &touches : charges.touches(op))
      schedules.emplace_back(touches);
  }

  /// The most, if kernels and bytes cost at most `limit` together.
  double most(double limit) const {
    limit += price * excess;
    if (costOf(1) <= limit)
      return 1;
    // Concave, so that no larger share costs less than the limit again.
    double low = 0, high = 1;
    for (int step = 0; step < 40; ++step) {
      const double middle = (low + high) / 2;
      (costOf(middle) <= limit ? low : high) = middle;
    }
    return high;
  }

private:
  double costOf(double share) const {
    double least = HUGE_VAL;
    for (const LeastTouched &schedule : schedules)
      least = std::min(least, schedule(share));
    return time.starts + (time.whole - price * credit) * share + price * least;
  }

  ShareTime time;
  double price, credit, excess;
  std::vector<LeastTouched> schedules;
};

/// What parties of one kind can do.
class Bound {
public:
  Bound(const StepTraffic &step, const Parties &parties, bool overlaps)
      : step(step), parties(parties), overlaps(overlaps), charges(step) {}

  /// Is a step that takes at most `limit` impossible?
  bool isImpossible(double limit) {
    std::vector<double> most;
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op) {
      most.push_back(mostInTime(op, limit));
      if (most.back() <= 0)
        return true;
    }
    for (int round = 0; round < kRounds; ++round)
      shareLess(limit, most);
    std::vector<OpId> large;
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op) {
      // Not even its part is possible for each.
      if (most[op] * parties.count < 1)
        return true;
      if (step.items[op].isProduct && most[op] < 1)
        large.push_back(op);
    }
    if (kernelsOf(most) > limit * parties.devices)
      return true;
    // All of them, or those that make gradients of parameters, or the others:
    // fewer have more of what they touch for themselves.
    std::vector<std::vector<OpId>> choices = {large, {}, {}};
    for (OpId op : large)
      choices[makesSum(op) ? 1 : 2].push_back(op);
    for (size_t choice = 0; choice < choices.size(); ++choice) {
      const std::vector<OpId> &charged = choices[choice];
      if (charged.empty() || (choice > 0 && charged == large))
        continue;
      for (double price : pricesOf(parties, overlaps, 1 / parties.fastest))
        for (bool othersPay : {false, true})
          for (Charges::Count count :
               {Charges::Count::OfSums, Charges::Count::OfReads})
            if (isTooLittle(limit, most, charged, price, count, othersPay))
              return true;
    }
    return false;
  }

private:
  /// Operators that are looked at for the sake of one.
  static constexpr size_t kOthers = 256;
  /// So often the shares of all make those of each less.
  static constexpr int kRounds = 2;

  bool makesSum(OpId op) const {
    const std::vector<ValueId> &made = step.items[op].made;
    return std::any_of(made.begin(), made.end(), [&](ValueId value) {
      return step.traffic[value].isSummed;
    });
  }

  /// Do all prices together take more than all parties have?
  bool isTooLittle(double limit, const std::vector<double> &most,
                   const std::vector<OpId> &charged, double price,
                   Charges::Count count, bool othersPay) {
    charges.choose(price, charged, {count, othersPay, SIZE_MAX}, most);
    const double have =
        limit * (parties.devices + (overlaps ? price * parties.bandwidth : 0)) +
        parties.count * price * charges.excess();
    return sum(most, price, count) > have;
  }

  /// If a party has at most `most` of each operator; nothing if it would gain
  /// by doing more of another than that is charged for.
  std::optional<Reach> reachOf(OpId op, double price, Charges::Count count,
                               const std::vector<double> &most) {
    charges.choose(price, {op}, {count, /*othersPay=*/true, kOthers}, most);
    const std::vector<OpId> &ops = charges.ops();
    const bool areBalanced =
        std::all_of(ops.begin(), ops.end(), [&](OpId other) {
          const double work = step.items[other].time.whole;
          const double credit = price * charges.credit(other);
          return other == op ||
                 work + price * charges.chargeOfComplete(other) - credit >=
                     -1e-9 * (work + credit);
        });
    return areBalanced ? std::make_optional<Reach>(step, charges, op, price)
                       : std::nullopt;
  }

  /// What kernels and bytes of one party can cost in `limit`.
  double costIn(double limit, double price, Charges::Count count) const {
    const int ways = count == Charges::Count::OfReads ? 1 : 2;
    return limit * parties.largest +
           (overlaps ? ways * price * limit * parties.most : 0);
  }

  /// May a party compute all of a product and receive all that it takes, if
  /// that is beside kernels, or costs `highest` a byte in place of them? Then
  /// none of its shares is too large.
  bool mayDoAll(OpId op, double limit, double highest) const {
    double bytes = 0;
    for (const Pin &pin : step.items[op].pins)
      for (ValueId value : pin.values)
        bytes += step.traffic[value].bytes;
    const ShareTime &time = step.items[op].time;
    return (!overlaps || bytes <= limit * parties.most) &&
           time.starts + time.whole + (overlaps ? 0 : highest * bytes) <=
               limit * parties.largest;
  }

  /// From what all parties have at most of other operators, what they have of
  /// each.
  void shareLess(double limit, std::vector<double> &most) {
    // A message takes time where it is sent and where it is received.
    const double highest = 1 / (2 * parties.fastest);
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op)
      if (step.items[op].isProduct && !mayDoAll(op, limit, highest))
        for (double price : pricesOf(parties, overlaps, highest))
          for (Charges::Count count :
               {Charges::Count::OfParty, Charges::Count::OfReads})
            if (const auto reach = reachOf(op, price, count, most))
              most[op] =
                  std::min(most[op], reach->most(costIn(limit, price, count)));
  }

  /// The share for which a party has the time; none if not even for a start.
  double mostInTime(OpId op, double limit) const {
    const ShareTime &time = step.items[op].time;
    const double kernels = limit * parties.largest;
    return time.starts + time.whole <= kernels ? 1
           : time.starts >= kernels            ? 0
                                    : (kernels - time.starts) / time.whole;
  }

  /// What all operators take without their bytes.
  double kernelsOf(const std::vector<double> &most) const {
    double sum = 0;
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op) {
      const ShareTime &time = step.items[op].time;
      sum += time.starts / most[op] + time.whole;
    }
    return sum;
  }

  /// Of what all operators are worth. Each party may do as much as it can of
  /// one that is worth less than nothing.
  double sum(const std::vector<double> &most, double price,
             Charges::Count count) const {
    double sum = kernelsOf(most);
    for (OpId op : charges.ops()) {
      const ShareTime &time = step.items[op].time;
      const double alone = time.starts / most[op] + time.whole;
      const double net =
          count == Charges::Count::OfReads
              ? charges.leastNet(op)
              : leastCharged(op, most[op]) / most[op] - charges.credit(op);
      const double worth = alone + price * net;
      sum += worth * (worth < 0 ? parties.count * most[op] : 1) - alone;
    }
    return sum;
  }

  double leastCharged(OpId op, double share) const {
    double least = HUGE_VAL;
    for (const std::vector<Touch> &touches : charges.touches(op))
      least = std::min(least, LeastTouched(touches)(share));
    return least < HUGE_VAL ? least : 0;
  }

  const StepTraffic &step;
  const Parties parties;
  bool overlaps;
  Charges charges;
};

} // namespace

Picoseconds search::communicationBound(const Graph &graph,
                                       const Topology &topology,
                                       Picoseconds least) {
  if (topology.numDevices() == 1 || least <= 0)
    return least;
  const StepTraffic step(graph, topology);
  const bool overlaps =
      std::all_of(topology.kinds().begin(), topology.kinds().end(),
                  [](const DeviceKind &kind) { return kind.overlap; });
  std::vector<Parties> all = {partiesOf(topology, /*areNodes=*/false)};
  if (topology.nodes().size() > 1 &&
      topology.nodes().size() < static_cast<size_t>(topology.numDevices()))
    all.push_back(partiesOf(topology, /*areNodes=*/true));
  auto bound = static_cast<double>(least);
  for (const Parties &parties : all) {
    if (parties.bandwidth <= 0)
      continue;
    Bound known(step, parties, overlaps);
    // Mostly there is nothing to be had.
    if (!known.isImpossible(kLeastGain * bound))
      continue;
    double low = kLeastGain * bound, high = 2 * bound;
    while (high < static_cast<double>(kMaxCost) && known.isImpossible(high)) {
      low = high;
      high *= 2;
    }
    while (high > kCloseEnough * low) {
      const double middle = std::sqrt(low * high);
      (known.isImpossible(middle) ? low : high) = middle;
    }
    bound = std::max(bound, low);
  }
  return std::max(least, static_cast<Picoseconds>((1 - 1e-9) * bound));
}
