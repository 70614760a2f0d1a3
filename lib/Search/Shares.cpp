//===- Shares.cpp - what a share of an operator needs ---------------------===//

#include "Shares.h"

#include <cmath>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

bool search::isPresent(const Graph &graph, OpId id, int slot) {
  const Op &op = graph.op(id);
  const int visible = static_cast<int>(op.operands.size() + op.results.size());
  return slot >= visible || graph.slotValue(id, slot) >= 0;
}

double BestDevice::flops(const Graph &graph, OpId id,
                         const Phase &phase) const {
  const Op &op = graph.op(id);
  double best = 0;
  for (const SlotRead &read : phase.reads)
    if (isPresent(graph, id, read.slot))
      if (ElementType type = graph.slotType(id, read.slot).type;
          decidesArithmetic(type))
        best = std::max(best, flops(arithmeticOf(op, type), phase));
  for (const SlotWrite &write : phase.writes)
    if (isPresent(graph, id, write.slot))
      best = std::max(
          best,
          flops(arithmeticOf(op, graph.slotType(id, write.slot).type), phase));
  return best > 0 ? best : flops(arithmeticOf(op, ElementType::F32), phase);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The part of a tensor dimension of `extent` that all `points` touch, in
/// pieces that each belong to one of them; 0 if there are no such pieces.
static double piecesOfWindows(const DimMap &map, int64_t points,
                              int64_t extent) {
  // Pieces as long as the stride, or else of one element, at the same place in
  // every window, which must be within the tensor in the first and the last.
  for (int64_t length : {std::min(map.stride, map.reach), int64_t(1)}) {
    if (length < 1)
      return 0;
    const int64_t at =
        std::min(std::max<int64_t>(map.pad, 0), map.reach - length);
    const int64_t first = at - map.pad;
    if (first >= 0 && first + (points - 1) * map.stride + length <= extent)
      return static_cast<double>(points * length) / static_cast<double>(extent);
  }
  return 0;
}

/// The same for the positions whose windows touch a point, each of which
/// belongs to at most as many points as the stride.
static double piecesOfInverse(const DimMap &map, int64_t points,
                              int64_t extent) {
  if (map.stride < 1 || map.reach < map.stride || map.pad < 0)
    return 0;
  const int64_t at = std::min(map.pad, map.reach - map.stride);
  if ((points - 1 + map.pad - at) / map.stride >= extent)
    return 0;
  return std::min(1.0, static_cast<double>(points) /
                           static_cast<double>(map.stride * extent));
}

EvenAccess search::evenAccess(const Access &access,
                              const std::vector<IterDim> &dims,
                              const Shape &shape) {
  if (!access.onlyAtStart.empty())
    return {};
  EvenAccess found{1, 0};
  DimSet seen = 0;
  for (size_t d = 0; d < access.dims.size(); ++d) {
    const DimMap &map = access.dims[d];
    int64_t points = 1;
    for (int dim : map.dims) {
      const DimSet bit = DimSet(1) << dim;
      // Of a diagonal, pieces are not products.
      if (seen & bit)
        return {};
      seen |= bit;
      if (dims[dim].extent > 1)
        found.dims |= bit;
      points *= dims[dim].extent;
    }
    switch (map.kind) {
    case DimMap::Kind::Full:
      break;
    case DimMap::Kind::Window:
      found.even *= piecesOfWindows(map, points, shape[d]);
      break;
    case DimMap::Kind::Inverse:
      found.even *= piecesOfInverse(map, points, shape[d]);
      break;
    case DimMap::Kind::Digits:
      if (points != shape[d])
        return {};
      break;
    }
  }
  return found.even > 0 ? found : EvenAccess();
}

static bool isIn(const std::vector<int> &list, int item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Does `phase` wait for sums over `dim` that an earlier one of its schedule
/// made parts of, each of an element of the result that `write` writes?
static bool waitsForSums(const Schedule &schedule, const Phase &phase,
                         const EvenAccess &written, int dim, const Graph &graph,
                         OpId id) {
  for (const Phase &before : schedule.phases) {
    if (&before == &phase)
      return false;
    for (const SlotWrite &sum : before.writes) {
      const bool isRead = std::any_of(
          phase.reads.begin(), phase.reads.end(),
          [&](const SlotRead &read) { return read.slot == sum.slot; });
      const EvenAccess access = evenAccess(sum.access, graph.op(id).rules.dims,
                                           graph.slotType(id, sum.slot).shape);
      if (isRead && sum.isPartialAlong(dim) && access.even == 1 &&
          written.even == 1 && access.dims == written.dims)
        return true;
    }
  }
  return false;
}

Making search::makingOf(const Graph &graph, OpId id, int result) {
  const Op &op = graph.op(id);
  const int slot = static_cast<int>(op.operands.size()) + result;
  const Shape &shape = graph.slotType(id, slot).shape;
  Making making;
  for (const Schedule &schedule : op.rules.schedules) {
    const Phase *writer = nullptr;
    const SlotWrite *write = nullptr;
    for (const Phase &phase : schedule.phases)
      for (const SlotWrite &each : phase.writes)
        if (each.slot == slot) {
          if (write)
            return {};
          writer = &phase;
          write = &each;
        }
    if (!write)
      return {};
    const EvenAccess access = evenAccess(write->access, op.rules.dims, shape);
    // Every element of the tensor, and the same one by the same points only.
    if (access.even != 1 ||
        (making.access.even > 0 && access.dims != making.access.dims))
      return {};
    making.access = access;
    for (const DimMap &map : write->access.dims)
      if (map.kind == DimMap::Kind::Inverse ||
          (map.kind == DimMap::Kind::Window &&
           (map.stride != 1 || map.reach != 1)))
        return {};
    for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d) {
      if (op.rules.dims[d].extent == 1 || isIn(schedule.unsplit, d) ||
          making.access.dims & (DimSet(1) << d))
        continue;
      if (!write->isPartialAlong(d) &&
          !waitsForSums(schedule, *writer, making.access, d, graph, id))
        return {};
      making.isPartial = true;
    }
  }
  making.isEven = !op.rules.schedules.empty();
  return making;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// Bytes that kernels move of what they touch evenly; shares move their part.
static double evenBytes(const Graph &graph, OpId id, int slot,
                        const Access &access, double touchedPerPoint,
                        const Tile &whole) {
  if (!isPresent(graph, id, slot))
    return 0;
  const TensorType &type = graph.slotType(id, slot);
  const EvenAccess found =
      evenAccess(access, graph.op(id).rules.dims, type.shape);
  const double all = found.even * static_cast<double>(type.bytes());
  return static_cast<double>(touchedBytes(touchedPerPoint, whole, type.type,
                                          static_cast<int64_t>(all)));
}

ShareTime search::timeOfShares(const Graph &graph, OpId id,
                               const BestDevice &best) {
  const Op &op = graph.op(id);
  const Tile whole = Configuration::onDevice(0).tileOf(op.rules, 0);
  ShareTime least{HUGE_VAL, HUGE_VAL};
  for (const Schedule &schedule : op.rules.schedules) {
    ShareTime time;
    for (const Phase &phase : schedule.phases) {
      double bytes = 0;
      for (const SlotRead &read : phase.reads)
        bytes += evenBytes(graph, id, read.slot, read.access,
                           read.touchedPerPoint, whole);
      for (const SlotWrite &write : phase.writes)
        bytes += evenBytes(graph, id, write.slot, write.access,
                           write.touchedPerPoint, whole);
      time.starts += best.startTime(phase);
      time.whole += best.busy(
          phase, 1e12 * flopsOf(phase, whole) / best.flops(graph, id, phase),
          1e12 * bytes / best.bandwidth(phase));
    }
    least.starts = std::min(least.starts, time.starts);
    least.whole = std::min(least.whole, time.whole);
  }
  return op.rules.schedules.empty() ? ShareTime() : least;
}

//===----------------------------------------------------------------------===//
// What is touched together
//===----------------------------------------------------------------------===//

/// Calls visit(a, b, c) for the triples that have no dimension in common and of
/// which each has some.
template <class Visitor>
static void eachThree(const std::vector<Touch> &touches, Visitor visit) {
  for (size_t a = 0; a < touches.size(); ++a)
    for (size_t b = a + 1; b < touches.size(); ++b)
      for (size_t c = b + 1; c < touches.size(); ++c)
        if (!(touches[a].dims & touches[b].dims & touches[c].dims))
          visit(touches[a], touches[b], touches[c]);
}

/// The least of two touches whose product is at least the share.
static double leastOfTwo(double a, double b, double share) {
  if (a <= 0 || b <= 0)
    return (a + b) * share;
  const double part = std::min(1.0, std::max(share, std::sqrt(share * b / a)));
  return a * part + b * share / part;
}

LeastOfComplete::LeastOfComplete(const std::vector<Touch> &operands,
                                 DimSet result, double share) {
  double most = 0;
  for (size_t a = 0; a < operands.size(); ++a) {
    others += operands[a].bytes;
    for (size_t b = a + 1; b < operands.size(); ++b) {
      const double x = operands[a].bytes, y = operands[b].bytes;
      if (result & ~(operands[a].dims | operands[b].dims))
        continue;
      if (const double more = leastOfTwo(x, y, share) - (x + y) * share;
          more > most) {
        most = more;
        two[0] = x;
        two[1] = y;
      }
    }
  }
  others = std::max(0.0, others - two[0] - two[1]);
}

double LeastOfComplete::operator()(double share) const {
  return others * share + leastOfTwo(two[0], two[1], share);
}

bool search::hasThree(const std::vector<Touch> &touches) {
  bool found = false;
  eachThree(touches, [&](const Touch &a, const Touch &b, const Touch &c) {
    found |= a.bytes > 0 && b.bytes > 0 && c.bytes > 0;
  });
  return found;
}

LeastTouched::LeastTouched(const std::vector<Touch> &touches) {
  double most = 0;
  eachThree(touches, [&](const Touch &a, const Touch &b, const Touch &c) {
    const double product = a.bytes * b.bytes * c.bytes;
    if (product > most) {
      most = product;
      three[0] = a.bytes;
      three[1] = b.bytes;
      three[2] = c.bytes;
    }
  });
  for (const Touch &touch : touches)
    others += touch.bytes;
  others = std::max(0.0, others - three[0] - three[1] - three[2]);
}

double LeastTouched::operator()(double share) const {
  const double sum = others * share;
  if (three[0] == 0 || share <= 0)
    return sum;
  // The least sum of three with a given product has them in inverse proportion
  // to their bytes, as far as each lies between the share and 1.
  const double most = std::max({three[0], three[1], three[2]});
  double low = 0, high = most;
  auto part = [&](double level, int i) {
    return std::min(1.0, std::max(share, level / three[i]));
  };
  while (high - low > 1e-10 * low && high > 1e-12 * most) {
    const double level = (low + high) / 2;
    (part(level, 0) * part(level, 1) * part(level, 2) < share * share ? low
                                                                      : high) =
        level;
  }
  return sum + three[0] * part(low, 0) + three[1] * part(low, 1) +
         three[2] * part(low, 2);
}
