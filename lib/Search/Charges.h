//===- Charges.h - who pays for what is sent --------------------*- C++ -*-===//
//
// Internal to Search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_CHARGES_H
#define FFC_LIB_SEARCH_CHARGES_H

#include "StepTraffic.h"

#include <queue>

namespace ffc::search {

/// What operators are charged and credited for, in bytes of a certain price.
/// All of it is a choice. Those on a list, the *large* ones, are charged as
/// much as possible. Nobody is credited with more than he is charged and the
/// price of his work, since a party could always do that instead of receiving
/// the result; so credits are passed on, from the results to the operands, down
/// to work or to inputs.
class Charges {
public:
  explicit Charges(const StepTraffic &step);

  /// Which messages are counted (CommunicationBound.h, 3).
  enum class Count {
    /// Those of all parties, with partial sums. Sums count twice where they do
    /// (Traffic::isSummed).
    OfSums,
    /// Those of all parties for what they read. Only complete results count as
    /// made.
    OfReads,
    /// Those of one party. Large operators are charged for partial sums; of
    /// others only complete results count as made.
    OfParty
  };
  struct Rules {
    Count count = Count::OfSums;
    /// Operators that are not large are charged for states, too, which leaves
    /// less for those that are.
    bool othersPay = false;
    /// How many operators besides the large ones at most.
    size_t mostOthers = SIZE_MAX;
  };
  /// If a byte has this price, in picoseconds, and a party has at most a share
  /// `most` of each operator, which is asked for until the next choice.
  void choose(double price, const std::vector<plan::OpId> &large, Rules rules,
              const std::vector<double> &most);

  /// Those that are charged or credited at all, the last one first.
  const std::vector<plan::OpId> &ops() const { return order; }
  /// Bytes for which an operator is credited.
  double credit(plan::OpId op) const;
  /// What an operator is charged for, by schedule.
  std::vector<std::vector<Touch>> touches(plan::OpId op) const;
  /// The least bytes that an operator is charged for all of it, in shares of at
  /// most `most` of which all is complete.
  double chargeOfComplete(plan::OpId op) const;
  /// The same less its credit, whatever part of a share is complete.
  double leastNet(plan::OpId op) const;
  /// By how many bytes a party is charged too much at most: for points that
  /// touch nothing (Pin::free).
  double excess() const;

private:
  struct OfValue {
    bool isRead = false; ///< a state that operators are charged for
    /// Bytes that readers want to be charged, that may be credited, and that
    /// readers are charged; and those that makers of partial sums are.
    double wanted = 0, offered = 0, paid = 0, ofParts = 0;
    /// Of a state, what readers are charged at most.
    double asked = 0;
  };

  bool isState(plan::ValueId value) const;
  bool isSum(plan::ValueId value) const;
  bool mayPay(plan::OpId op, const Pin &pin) const;
  double bytesOf(const Pin &pin) const;
  void count(double &sum, const Pin &pin, plan::ValueId value,
             double bytes) const;
  double offeredFor(plan::OpId op, size_t pin) const;
  template <class BytesOf>
  double inShares(plan::OpId op, BytesOf bytesOf) const;

  void reset();
  void visit(plan::OpId op);
  void readStates(plan::OpId op);
  void wish();
  void wishLess();
  void share();
  bool offer();
  void ask();

  const StepTraffic &step;
  Rules rules;
  double price = 0;
  const std::vector<double> *most = nullptr;
  size_t others = 0; ///< that may still be visited
  std::vector<char> isLarge, isVisited;
  std::priority_queue<plan::OpId> next;
  std::vector<plan::OpId> order;     ///< that were visited, the last one first
  std::vector<plan::ValueId> states; ///< that operators are charged for
  /// By pin, of which an operator has some from `firstPin` on.
  std::vector<double> wished, paid;
  std::vector<size_t> firstPin;
  std::vector<OfValue> values;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_CHARGES_H
