//===- Charges.cpp - who pays for what is sent ----------------------------===//

#include "Charges.h"

#include <algorithm>
#include <cmath>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// So often wishes are made less, and by how much they stay above what was
/// charged.
static constexpr int kRounds = 2;
static constexpr double kMore = 2;
/// So often states are followed from their updates to their readers.
static constexpr int kRoundsOfStates = 8;

Charges::Charges(const StepTraffic &step)
    : step(step), isLarge(step.items.size()), isVisited(step.items.size()),
      values(step.traffic.size()) {
  size_t pins = 0;
  for (const Item &item : step.items) {
    firstPin.push_back(pins);
    pins += item.pins.size();
  }
  wished.resize(pins);
  paid.resize(pins);
}

bool Charges::isState(ValueId value) const {
  return step.graph.value(value).kind == ValueKind::State;
}

bool Charges::isSum(ValueId value) const {
  return rules.count == Count::OfSums && step.traffic[value].isSummed;
}

double Charges::bytesOf(const Pin &pin) const {
  double bytes = 0;
  for (ValueId value : pin.values)
    bytes += step.traffic[value].bytes;
  return bytes;
}

/// Adds what is charged for a pin to what is for a value.
void Charges::count(double &sum, const Pin &pin, ValueId value,
                    double bytes) const {
  sum = step.traffic[value].isDivided && !pin.isResult ? std::max(sum, bytes)
                                                       : sum + bytes;
}

void Charges::reset() {
  auto forget = [&](ValueId value) { values[value] = {}; };
  for (OpId op : order) {
    isLarge[op] = isVisited[op] = false;
    for (size_t p = 0; p < step.items[op].pins.size(); ++p) {
      wished[firstPin[op] + p] = paid[firstPin[op] + p] = 0;
      for (ValueId value : step.items[op].pins[p].values)
        forget(value);
    }
    for (ValueId made : step.items[op].made)
      forget(made);
  }
  for (ValueId state : states)
    forget(state);
  order.clear();
  states.clear();
}

void Charges::readStates(OpId op) {
  for (const Pin &pin : step.items[op].pins)
    for (ValueId value : pin.values) {
      const OpId maker = step.traffic[value].maker;
      if (!isState(value) || values[value].isRead || maker == op)
        continue;
      values[value].isRead = true;
      values[value].offered = step.traffic[value].bytes;
      states.push_back(value);
      visit(maker);
    }
}

/// May an operator that is not large be charged for the pin?
bool Charges::mayPay(OpId op, const Pin &pin) const {
  return !pin.isResult &&
         (!isState(pin.values[0]) || (values[pin.values[0]].isRead &&
                                      step.traffic[pin.values[0]].maker != op));
}

void Charges::visit(OpId op) {
  if (isVisited[op] || (!isLarge[op] && others == 0))
    return;
  others -= !isLarge[op];
  isVisited[op] = true;
  next.push(op);
}

/// From the last operator back: the bytes that each would be charged for its
/// pins if there were no others. Large ones for all of them; others, but not
/// for parameters, for what they are credited with and is not their work.
void Charges::wish() {
  while (!next.empty()) {
    const OpId op = next.top();
    next.pop();
    order.push_back(op);
    const Item &item = step.items[op];
    double need = -item.time.whole / price, have = 0;
    for (ValueId made : item.made)
      need += isState(made)
                  ? values[made].offered
                  : std::min(step.traffic[made].bytes, values[made].wanted);
    for (const Pin &pin : item.pins)
      if (mayPay(op, pin))
        have += bytesOf(pin);
    for (size_t p = 0; p < item.pins.size(); ++p) {
      const Pin &pin = item.pins[p];
      double part = isLarge[op] ? 1 : 0;
      if (pin.isResult && rules.count == Count::OfReads)
        part = 0;
      if (!isLarge[op] && mayPay(op, pin) && need > 0)
        part = std::min(1.0, need / have);
      wished[firstPin[op] + p] = part * bytesOf(pin);
      if (part == 0 || (pin.isResult && isSum(pin.values[0])))
        continue;
      for (ValueId value : pin.values) {
        count(values[value].wanted, pin, value,
              part * step.traffic[value].bytes);
        if (!pin.isResult && !isState(value))
          visit(step.traffic[value].maker);
      }
    }
  }
}

void Charges::share() {
  // What states can be credited with is known after their updates.
  for (ValueId state : states)
    values[state].offered = step.traffic[state].bytes;
  for (int round = 0; round < kRoundsOfStates && offer(); ++round) {
  }
  for (ValueId state : states)
    values[state].asked = values[state].offered;
  ask();
  // No more than readers are charged.
  for (ValueId state : states)
    values[state].asked = values[state].paid;
  ask();
}

/// Nobody keeps from others what he was not charged.
void Charges::wishLess() {
  for (OpId op : order) {
    for (const Pin &pin : step.items[op].pins)
      for (ValueId value : pin.values)
        values[value].wanted = 0;
    for (ValueId made : step.items[op].made)
      values[made].wanted = 0;
  }
  for (OpId op : order)
    for (size_t p = 0; p < step.items[op].pins.size(); ++p) {
      const Pin &pin = step.items[op].pins[p];
      double &wish = wished[firstPin[op] + p];
      wish = std::min(wish, kMore * paid[firstPin[op] + p]);
      if (wish > 0 && !(pin.isResult && isSum(pin.values[0])))
        for (ValueId value : pin.values)
          count(values[value].wanted, pin, value,
                wish * step.traffic[value].bytes / bytesOf(pin));
    }
}

/// What an operator may be charged for a pin: its part of what is offered; of
/// several values the same part of each.
double Charges::offeredFor(OpId op, size_t p) const {
  const double wish = wished[firstPin[op] + p];
  double part = 1;
  for (ValueId value : step.items[op].pins[p].values)
    if (values[value].wanted > values[value].offered)
      part = std::min(part, values[value].offered / values[value].wanted);
  return part * wish;
}

/// Those of an operand, in a schedule, if bytesOf(pin) are charged; the
/// dimensions of a result of which something is known.
template <class BytesOf>
static std::pair<std::vector<Touch>, DimSet>
touchesOfOperands(const Item &item, const std::vector<EvenAccess> &accesses,
                  BytesOf bytesOf) {
  std::vector<Touch> touches;
  DimSet result = ~DimSet(0);
  for (size_t p = 0; p < item.pins.size(); ++p)
    if (!item.pins[p].isResult)
      touches.push_back({accesses[p].even * bytesOf(p), accesses[p].dims});
    else if (item.made.size() == 1)
      result = accesses[p].dims;
  return {std::move(touches), result};
}

/// What an operator is charged for all of it, in shares of at most `most`, if
/// bytesOf(pin) is charged for a pin; less what it is for partial sums of its
/// own, since it is credited with that, too.
template <class BytesOf>
double Charges::inShares(OpId op, BytesOf bytesOf) const {
  const Item &item = step.items[op];
  const double share = (*most)[op];
  const bool isAlone = isLarge[op] ? rules.count == Count::OfParty
                                   : rules.count == Count::OfSums;
  double least = HUGE_VAL;
  for (const std::vector<EvenAccess> &accesses : item.accesses) {
    if (share >= 1 || !item.isProduct || isAlone) {
      double sum = 0;
      for (size_t p = 0; p < item.pins.size(); ++p)
        if (!item.pins[p].isResult)
          sum += accesses[p].even * bytesOf(p);
      least = std::min(least, sum);
    } else if (rules.count == Count::OfSums) {
      std::vector<Touch> touches;
      double own = 0;
      for (size_t p = 0; p < item.pins.size(); ++p) {
        if (item.pins[p].isResult && isSum(item.pins[p].values[0]))
          continue;
        touches.push_back({accesses[p].even * bytesOf(p), accesses[p].dims});
        if (item.pins[p].isResult)
          own = touches.back().bytes;
      }
      least = std::min(least, LeastTouched(touches)(share) / share - own);
    } else {
      const auto [touches, result] = touchesOfOperands(item, accesses, bytesOf);
      const LeastOfComplete complete(touches, result, share);
      least = std::min(least, complete(share) / share);
    }
  }
  return least < HUGE_VAL ? least : 0;
}

double Charges::chargeOfComplete(OpId op) const {
  return inShares(op, [&](size_t p) { return paid[firstPin[op] + p]; });
}

double Charges::leastNet(OpId op) const {
  const Item &item = step.items[op];
  const double share = (*most)[op], made = credit(op);
  double net = chargeOfComplete(op) - made;
  if (share >= 1 || !item.isProduct)
    return net;
  // Where only a part is complete, operands are touched by all points: bytes in
  // proportion to the share. So the largest part costs least that is no dearer.
  for (const std::vector<EvenAccess> &accesses : item.accesses) {
    const auto [touches, result] = touchesOfOperands(
        item, accesses, [&](size_t p) { return paid[firstPin[op] + p]; });
    const LeastOfComplete complete(touches, result, share);
    double sum = 0, low = 0, high = share;
    for (const Touch &touch : touches)
      sum += touch.bytes;
    for (int step = 0; step < 30; ++step) {
      const double middle = (low + high) / 2;
      (complete(middle) < sum * share ? low : high) = middle;
    }
    net = std::min(net, sum - made * high / share);
  }
  return net;
}

/// From the first operator on: how many bytes of each value may be credited.
/// False if nothing has changed.
bool Charges::offer() {
  bool hasChanged = false;
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const Item &item = step.items[*op];
    const double bytes = item.time.whole / price + inShares(*op, [&](size_t p) {
                           return offeredFor(*op, p);
                         });
    double wanted = 0;
    for (ValueId made : item.made)
      wanted += values[made].wanted;
    for (ValueId made : item.made) {
      OfValue &value = values[made];
      if (value.wanted <= 0)
        continue;
      const double before = value.offered;
      value.offered = std::min({step.traffic[made].bytes, value.wanted,
                                bytes * value.wanted / wanted});
      hasChanged |= value.offered != before;
    }
  }
  return hasChanged;
}

/// From the last one back: what of that is.
void Charges::ask() {
  for (OpId op : order) {
    for (const Pin &pin : step.items[op].pins)
      for (ValueId value : pin.values)
        values[value].paid = 0;
    for (ValueId made : step.items[op].made)
      values[made].paid = 0;
  }
  for (OpId op : order) {
    const Item &item = step.items[op];
    double need = -item.time.whole / price;
    for (ValueId made : item.made)
      need += isState(made) ? values[made].asked : values[made].paid;
    const double have =
        isLarge[op] ? 0
                    : inShares(op, [&](size_t p) { return offeredFor(op, p); });
    const double part = isLarge[op] ? 1
                        : have > 0  ? std::min(1.0, std::max(0.0, need / have))
                                    : 0;
    for (size_t p = 0; p < item.pins.size(); ++p) {
      const Pin &pin = item.pins[p];
      double &bytes = paid[firstPin[op] + p];
      if (pin.isResult && isSum(pin.values[0])) {
        bytes = values[pin.values[0]].paid;
      } else if (pin.isResult) {
        bytes = isLarge[op] ? offeredFor(op, p) : 0;
        values[pin.values[0]].ofParts = bytes;
      } else {
        bytes = part * offeredFor(op, p);
        for (ValueId value : pin.values)
          if (bytes > 0)
            count(values[value].paid, pin, value,
                  bytes * step.traffic[value].bytes / bytesOf(pin));
      }
    }
  }
}

void Charges::choose(double bytePrice, const std::vector<OpId> &large,
                     Rules chosen, const std::vector<double> &mostShares) {
  price = bytePrice;
  rules = chosen;
  most = &mostShares;
  // Updates come last, so which parameters are read is found out first.
  std::vector<OpId> readers = large;
  for (int round = 0; round < 2; ++round) {
    reset();
    others = rules.mostOthers;
    for (OpId op : large)
      isLarge[op] = true;
    for (OpId op : rules.othersPay ? readers : large)
      readStates(op);
    for (OpId op : large) {
      visit(op);
      for (const Pin &pin : step.items[op].pins)
        if (!pin.isResult)
          for (ValueId value : pin.values)
            visit(step.traffic[value].maker);
    }
    wish();
    readers = order;
  }
  share();
  for (int round = 0; round < kRounds; ++round) {
    wishLess();
    share();
  }
}

double Charges::credit(OpId op) const {
  double bytes = 0;
  for (ValueId made : step.items[op].made)
    bytes += isSum(made) ? 2 * values[made].paid
                         : values[made].paid + values[made].ofParts;
  return bytes;
}

std::vector<std::vector<Touch>> Charges::touches(OpId op) const {
  const Item &item = step.items[op];
  std::vector<std::vector<Touch>> all;
  for (const std::vector<EvenAccess> &accesses : item.accesses) {
    std::vector<Touch> touches;
    for (size_t p = 0; p < item.pins.size(); ++p)
      touches.push_back(
          {paid[firstPin[op] + p] * accesses[p].even, accesses[p].dims});
    all.push_back(std::move(touches));
  }
  return all;
}

double Charges::excess() const {
  double bytes = 0;
  for (OpId op : order)
    for (size_t p = 0; p < step.items[op].pins.size(); ++p)
      if (const Pin &pin = step.items[op].pins[p]; pin.free > 0)
        bytes += paid[firstPin[op] + p] * pin.free / (1 - pin.free);
  return bytes;
}
