//===- CommunicationBound.cpp - least time with communication -------------===//

#include "ffc/Search/CommunicationBound.h"

#include "Charges.h"
#include "Parties.h"

#include <cmath>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

/// Picoseconds for a byte that are tried.
std::vector<double> pricesOf(const Parties &parties, bool overlaps,
                             double highest) {
  std::vector<double> prices;
  const double each = parties.devices / parties.bandwidth;
  // Where communication takes the time of kernels, bytes have a highest price.
  for (double price = overlaps ? 16 * each : highest; price > each / 64;
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
      : step(step), parties(parties), overlaps(overlaps), charges(step),
        reaches(step.items.size()) {
    // A message takes time where it is sent and where it is received.
    const double highest = 1 / (2 * parties.fastest);
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op)
      if (step.items[op].isProduct)
        for (double price : pricesOf(parties, overlaps, highest))
          for (bool othersPay : {false, true}) {
            charges.choose(price, {op},
                           {/*areSummed=*/false, othersPay, kOthers});
            if (areBalanced(op, price))
              reaches[op].emplace_back(price, Reach(step, charges, op, price));
          }
  }

  /// Is a step that takes at most `limit` impossible?
  bool isImpossible(double limit) {
    std::vector<double> most;
    std::vector<OpId> large;
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op) {
      most.push_back(mostOf(op, limit));
      // Not even a part of it is possible.
      if (most.back() <= 0)
        return true;
      if (step.items[op].isProduct && most.back() < 1)
        large.push_back(op);
    }
    // All of them, or those that make gradients of parameters, or the others:
    // fewer have more of what they touch for themselves.
    std::vector<std::vector<OpId>> choices = {large, {}, {}};
    for (OpId op : large)
      choices[makesSum(op) ? 1 : 2].push_back(op);
    for (const std::vector<OpId> &charged : choices)
      for (double price : pricesOf(parties, overlaps, 1 / parties.fastest))
        for (bool othersPay : {false, true})
          if (isTooLittle(limit, most, charged, price, othersPay))
            return true;
    return false;
  }

private:
  /// Operators that are looked at for the sake of one.
  static constexpr size_t kOthers = 64;

  bool makesSum(OpId op) const {
    const std::vector<ValueId> &made = step.items[op].made;
    return std::any_of(made.begin(), made.end(), [&](ValueId value) {
      return step.traffic[value].isSummed;
    });
  }

  /// Do all prices together take more than all parties have?
  bool isTooLittle(double limit, const std::vector<double> &most,
                   const std::vector<OpId> &charged, double price,
                   bool othersPay) {
    charges.choose(price, charged, {/*areSummed=*/true, othersPay});
    const double have =
        limit * (parties.devices + (overlaps ? price * parties.bandwidth : 0)) +
        parties.count * price * charges.excess();
    return sum(most, price) > have;
  }

  /// Does nobody but `op` gain by doing more than he is charged for?
  bool areBalanced(OpId op, double price) const {
    const std::vector<OpId> &ops = charges.ops();
    return std::all_of(ops.begin(), ops.end(), [&](OpId other) {
      const double work = step.items[other].time.whole;
      const double credit = price * charges.credit(other);
      return other == op || work + price * leastCharged(other, 1) - credit >=
                                -1e-9 * (work + credit);
    });
  }

  double mostOf(OpId op, double limit) const {
    const ShareTime &time = step.items[op].time;
    const double kernels = limit * parties.largest;
    double most = time.starts + time.whole <= kernels ? 1
                  : time.starts >= kernels
                      ? 0
                      : (kernels - time.starts) / time.whole;
    for (const auto &[price, reach] : reaches[op])
      most = std::min(
          most, reach.most(kernels +
                           (overlaps ? 2 * price * limit * parties.most : 0)));
    return most;
  }

  /// Of all prices; nothing if some would be below zero.
  double sum(const std::vector<double> &most, double price) const {
    double sum = 0;
    for (OpId op = 0; op < static_cast<OpId>(step.items.size()); ++op) {
      const ShareTime &time = step.items[op].time;
      sum += time.starts / most[op] + time.whole;
    }
    for (OpId op : charges.ops()) {
      const ShareTime &time = step.items[op].time;
      const double credit = price * charges.credit(op);
      const double charge = price * leastCharged(op, most[op]) / most[op];
      if (time.starts / most[op] + time.whole + charge - credit <
          -1e-9 * (time.whole + credit))
        return 0;
      sum += charge - credit;
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
  /// By operator, with the price of a byte.
  std::vector<std::vector<std::pair<double, Reach>>> reaches;
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
    double low = bound, high = 2 * bound;
    while (high < static_cast<double>(kMaxCost) && known.isImpossible(high)) {
      low = high;
      high *= 2;
    }
    while (high > 1.001 * low) {
      const double middle = std::sqrt(low * high);
      (known.isImpossible(middle) ? low : high) = middle;
    }
    bound = std::max(bound, low);
  }
  return std::max(least, static_cast<Picoseconds>((1 - 1e-9) * bound));
}
