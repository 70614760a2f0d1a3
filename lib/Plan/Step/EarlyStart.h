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
/// says whether collectives may start as one, `Member` is what joins.
template <class Shape, class Member> class OpenBatches {
public:
  struct Batch {
    Shape shape;
    BatchBytes bytes;
    std::vector<Member> members; ///< in the order in which they came
  };

  /// `inOrder`: they are waited for in the order in which they come, so that
  /// none may start before what came earlier, and only neighbours join.
  explicit OpenBatches(bool inOrder) : inOrder(inOrder) {}

  /// Returns what is to start: a batch for which isFull(bytes) holds now. What
  /// is full by itself starts alone, since others would wait for it.
  template <class IsFull>
  std::vector<Batch> join(const Shape &shape, const BatchBytes &bytes,
                          Member member, IsFull isFull) {
    std::vector<Batch> ready;
    const bool isAlone = isFull(bytes);
    if (inOrder && !open.empty() && (isAlone || !(open[0].shape == shape)))
      ready = takeAll();
    auto batch =
        isAlone ? open.end()
                : std::find_if(open.begin(), open.end(), [&](const Batch &b) {
                    return b.shape == shape;
                  });
    if (batch == open.end())
      batch = open.insert(batch, {shape, BatchBytes(bytes.size()), {}});
    for (size_t c = 0; c < bytes.size(); ++c)
      batch->bytes[c] += bytes[c];
    batch->members.push_back(std::move(member));
    if (isAlone || isFull(batch->bytes)) {
      ready.push_back(std::move(*batch));
      open.erase(batch);
    }
    return ready;
  }

  std::vector<Batch> takeAll() { return std::exchange(open, {}); }

private:
  bool inOrder;
  std::vector<Batch> open;
};

/// What starts in the course of a step.
template <class Shape, class Member> class BatchedStarts {
public:
  using Batch = typename OpenBatches<Shape, Member>::Batch;

  explicit BatchedStarts(const StepOrder &order) : order(order) {}

  /// Calls start(batch) for all that starts at `place`, which comes after those
  /// before. offer(value, join) calls join(shape, bytes, member, isFull) if the
  /// first reshard of the value begins with collectives.
  template <class Offer, class Start>
  void at(const StartPlace &place, Offer offer, Start start) {
    OpenBatches<Shape, Member> states(/*inOrder=*/true);
    auto startAll = [&](const std::vector<Batch> &batches) {
      for (const Batch &batch : batches)
        start(batch);
    };
    for (ValueId value : place.values) {
      const StartKind kind = order.startKind(value);
      offer(value, [&](const Shape &shape, const BatchBytes &bytes,
                       Member member, auto isFull) {
        if (kind != StartKind::Alone)
          return startAll((kind == StartKind::State ? states : gradients)
                              .join(shape, bytes, std::move(member), isFull));
        Batch alone{shape, bytes, {}};
        alone.members.push_back(std::move(member));
        start(alone);
      });
    }
    startAll(states.takeAll());
    if (place.isLast)
      startAll(gradients.takeAll());
  }

private:
  const StepOrder &order;
  OpenBatches<Shape, Member> gradients{/*inOrder=*/false};
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_EARLYSTART_H
