//===- EarlyStart.h - collectives that run beside kernels -------*- C++ -*-===//
//
// Internal to Plan. What starts at the entries Start of a step (StepOrder.h).
// Collectives that nobody waits for before the updates start in batches
// (docs/decisions/0019), which pay latencies once: a collective waits for
// others of the same shape until the batch is full, or until there are no more.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_EARLYSTART_H
#define FFC_LIB_PLAN_EARLYSTART_H

#include "OpPlanner.h"
#include "Order/StepOrder.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace ffc::plan {

/// The collectives with which a reshard begins; nothing if it does not.
std::optional<PlannedReshard> planEarly(TaskSink &sink, const CostModel &cost,
                                        Placement &where, ValueId value,
                                        const TensorType &type,
                                        const std::string &name,
                                        const std::vector<Need> &needed);

/// The collectives of a reshard but for their sizes. Those of equal shapes may
/// start as one.
struct BatchShape {
  struct Collective {
    CollectiveKind kind;
    Reduction combine;
    std::vector<DeviceId> members;
    bool operator==(const Collective &o) const {
      return kind == o.kind && combine == o.combine && members == o.members;
    }
  };
  ElementType type;
  std::vector<Collective> all;
  bool operator==(const BatchShape &o) const {
    return type == o.type && all == o.all;
  }
};
using BatchBytes = std::vector<int64_t>; ///< by collective of the shape

BatchShape shapeOf(const ReshardPlan &plan, const Placement &where,
                   const TensorType &type);
BatchBytes bytesOf(const ReshardPlan &plan);

/// How long the collectives of a shape take.
class BatchTimes {
public:
  BatchTimes(const BatchShape &shape, const CostModel &cost);

  /// Of collective number `index`.
  Picoseconds of(size_t index, int64_t bytes) const {
    return choose(index, bytes).time;
  }
  CostModel::Choice choose(size_t index, int64_t bytes) const {
    return CostModel::choose(kinds[index], (*paths)[index], bytes);
  }
  /// True if latencies are at most a fifth of the time (kLatencies).
  bool isFull(const BatchBytes &bytes) const;

private:
  std::vector<CollectiveKind> kinds;
  std::shared_ptr<const std::vector<CostModel::Paths>> paths;
  Picoseconds latencies = 0;
};

/// Batches that are not full, in the order in which they were begun. `Shape`
/// says whether collectives may start as one, `Bytes` how much they send,
/// `Member` is what joins.
template <class Shape, class Bytes, class Member> class OpenBatches {
public:
  struct Batch {
    Shape shape;
    Bytes bytes;                 ///< of all
    std::vector<Member> members; ///< in the order in which they came
  };

  /// `inOrder`: they are waited for in the order in which they come, so that
  /// none may start before what came earlier, and only neighbours join.
  explicit OpenBatches(bool inOrder) : inOrder(inOrder) {}

  /// Calls start(batch) for what is to start: a batch for which
  /// rules.isFull(bytes) holds now. What is full by itself starts alone, since
  /// others would wait for it. rules.add(bytes, more) adds up.
  template <class Rules, class Start>
  void join(const Shape &shape, const Bytes &bytes, Member member,
            const Rules &rules, Start start) {
    const bool isAlone = rules.isFull(bytes);
    if (inOrder && numOpen > 0 && (isAlone || !(open[0].shape == shape)))
      startAll(start);
    size_t at = isAlone ? numOpen : 0;
    while (at < numOpen && !(open[at].shape == shape))
      ++at;
    if (at < numOpen) {
      rules.add(open[at].bytes, bytes);
    } else {
      if (numOpen++ == open.size())
        open.emplace_back();
      open[at].shape = shape;
      open[at].bytes = bytes;
      open[at].members.clear();
    }
    open[at].members.push_back(std::move(member));
    if (!isAlone && !rules.isFull(open[at].bytes))
      return;
    start(open[at]);
    const auto taken = open.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(taken, taken + 1,
                open.begin() + static_cast<std::ptrdiff_t>(numOpen--));
  }

  template <class Start> void startAll(Start start) {
    for (size_t b = 0; b < numOpen; ++b)
      start(open[b]);
    numOpen = 0;
  }
  void clear() { numOpen = 0; }

private:
  bool inOrder;
  std::vector<Batch> open; ///< the first `numOpen`; others keep their memory
  size_t numOpen = 0;
};

/// What starts in the course of a step.
template <class Shape, class Bytes, class Member> class BatchedStarts {
public:
  using Batch = typename OpenBatches<Shape, Bytes, Member>::Batch;

  explicit BatchedStarts(const StepOrder &order) : order(order) {}

  /// Calls start(batch) for all that starts at `place`, which comes after those
  /// before. offer(value, join) calls join(shape, bytes, member, rules) if the
  /// first reshard of the value begins with collectives.
  template <class Offer, class Start>
  void at(const StartPlace &place, Offer offer, Start start) {
    for (ValueId value : place.values) {
      const StartKind kind = order.startKind(value);
      offer(value, [&](const Shape &shape, const Bytes &bytes, Member member,
                       const auto &rules) {
        if (kind != StartKind::Alone)
          return (kind == StartKind::State ? states : gradients)
              .join(shape, bytes, std::move(member), rules, start);
        alone.shape = shape;
        alone.bytes = bytes;
        alone.members.clear();
        alone.members.push_back(std::move(member));
        start(alone);
      });
    }
    states.startAll(start);
    if (place.isLast)
      gradients.startAll(start);
  }
  /// Another step begins.
  void clear() { gradients.clear(); }

private:
  const StepOrder &order;
  OpenBatches<Shape, Bytes, Member> states{/*inOrder=*/true};
  OpenBatches<Shape, Bytes, Member> gradients{/*inOrder=*/false};
  Batch alone;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_EARLYSTART_H
