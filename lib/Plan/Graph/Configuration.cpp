//===- Configuration.cpp - which splits are legal, and who takes them over ===//

#include "ffc/Plan/Configuration.h"

#include "ffc/Plan/Following.h"
#include "ffc/Plan/SampleDims.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static const Schedule *findSchedule(const OpRules &rules,
                                    const Configuration &config) {
  for (const Schedule &schedule : rules.schedules)
    if (std::all_of(schedule.unsplit.begin(), schedule.unsplit.end(),
                    [&](int d) { return config.degreeOf(d) == 1; }))
      return &schedule;
  return nullptr;
}

/// `isStored`: a value of a forward operator.
template <class IsStored>
static bool canBeAgain(const Graph &graph, OpId id, IsStored isStored) {
  const Op &op = graph.op(id);
  if (op.role == OpRole::Update)
    return true;
  return op.role == OpRole::Forward &&
         std::none_of(op.results.begin(), op.results.end(), [&](ValueId value) {
           return value >= 0 && (value == graph.loss || isStored(value) ||
                                 graph.isAccumulated(value));
         });
}

bool ffc::plan::canBeAgain(const Graph &graph, OpId id) {
  return ::canBeAgain(graph, id, [&](ValueId value) {
    return std::any_of(
        graph.states.begin(), graph.states.end(),
        [&](const State &state) { return state.written == value; });
  });
}

std::vector<bool> ffc::plan::canBeAgain(const Graph &graph) {
  std::vector<bool> isStored(graph.values.size()), can(graph.ops.size());
  for (const State &state : graph.states)
    if (state.written >= 0)
      isStored[state.written] = true;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    can[id] =
        ::canBeAgain(graph, id, [&](ValueId value) { return isStored[value]; });
  return can;
}

bool ffc::plan::isPartial(const Configuration &config, const SlotWrite &write) {
  return std::any_of(config.axes.begin(), config.axes.end(),
                     [&](const GridAxis &axis) {
                       return axis.degree > 1 && write.isPartialAlong(axis.dim);
                     });
}

const Schedule &ffc::plan::scheduleFor(const OpRules &rules,
                                       const Configuration &config) {
  const Schedule *schedule = findSchedule(rules, config);
  assert(schedule && "no schedule fits the configuration");
  return *schedule;
}

/// True if every tile's part is one box, whatever the tile: each dimension of
/// the tensor is all of it or a dimension of the iteration space.
static bool isAlwaysBox(const Access &access, const std::vector<IterDim> &dims,
                        const Shape &shape) {
  for (size_t d = 0; d < access.dims.size(); ++d) {
    const DimMap &map = access.dims[d];
    bool same = map.kind == DimMap::Kind::Window && map.stride == 1 &&
                map.reach == 1 && map.pad == 0 &&
                dims[map.dims[0]].extent == shape[d];
    if (!same && map.kind != DimMap::Kind::Full)
      return false;
  }
  return access.onlyAtStart.empty();
}

/// True if some tile's part may be several boxes: numbers of several digits.
static bool mayBeApart(const Access &access) {
  return std::any_of(
      access.dims.begin(), access.dims.end(),
      [](const DimMap &map) { return map.kind == DimMap::Kind::Digits; });
}

/// The slot that is not one box for some tile, as results must be, and as what
/// is loaded must, or -1. Results must not be empty either.
static int slotNotBox(const Graph &graph, OpId op,
                      const Configuration &config) {
  const OpRules &rules = graph.op(op).rules;
  const int visible = static_cast<int>(graph.op(op).operands.size() +
                                       graph.op(op).results.size());
  struct Checked {
    int slot;
    const Access &access;
    bool mayBeEmpty;
  };
  std::vector<Checked> slots;
  for (const Phase &phase : scheduleFor(rules, config).phases) {
    for (const SlotRead &read : phase.reads)
      if (ValueId value = graph.slotValue(op, read.slot);
          value >= 0 && graph.isLoaded(value) && mayBeApart(read.access))
        slots.push_back({read.slot, read.access, true});
    for (const SlotWrite &write : phase.writes)
      if ((write.slot >= visible || graph.slotValue(op, write.slot) >= 0) &&
          !isAlwaysBox(write.access, rules.dims,
                       graph.slotType(op, write.slot).shape))
        slots.push_back({write.slot, write.access, false});
  }
  for (int64_t point = 0, e = config.numPoints(); !slots.empty() && point < e;
       ++point) {
    Tile tile = config.tileOf(rules, point);
    for (const auto &[slot, access, mayBeEmpty] : slots)
      if (const Region region = regionOf(access, rules.dims, tile,
                                         graph.slotType(op, slot).shape);
          !region.isBox() && !(mayBeEmpty && region.empty()))
        return slot;
  }
  return -1;
}

static std::optional<std::string> checkShares(const GridAxis &axis) {
  if (axis.shares.empty())
    return std::nullopt;
  if (axis.dim == kReplica)
    return "expected the number of copies, found shares " + axis.str();
  if (static_cast<int64_t>(axis.shares.size()) != axis.degree)
    return "expected " + std::to_string(axis.degree) + " shares, found " +
           axis.str();
  int64_t all = 0;
  for (int64_t share : axis.shares) {
    if (share < 1 || share > kMaxShares - all)
      return "expected shares of at least 1, and of at most " +
             std::to_string(kMaxShares) + " together, found " + axis.str();
    all += share;
  }
  return std::nullopt;
}

std::optional<std::string>
ffc::plan::checkConfiguration(const Graph &graph, OpId id,
                              const Configuration &config, int numDevices) {
  const Op &op = graph.op(id);
  auto quoted = [&] { return "'" + op.name + "'"; };
  std::set<int> seen;
  for (const GridAxis &axis : config.axes) {
    if (axis.degree < 1)
      return "expected a positive degree for " + quoted() + ", found " +
             std::to_string(axis.degree);
    if (auto reason = checkShares(axis))
      return *reason + " of " + quoted();
    if (axis.dim == kReplica)
      continue;
    const IterDim &dim = op.rules.dims[axis.dim];
    if (!seen.insert(axis.dim).second)
      return "dimension '" + dim.name + "' of " + quoted() + " is split twice";
    if (axis.degree > maxDegree(dim))
      return "degree " + std::to_string(axis.degree) + " of dimension '" +
             dim.name + "' of " + quoted() + ": expected at most " +
             std::to_string(maxDegree(dim));
    if (axis.degree > 1 && !op.rules.splittable(axis.dim))
      return "dimension '" + dim.name + "' of " + quoted() + " cannot be split";
  }
  int64_t found = static_cast<int64_t>(config.devices.size());
  if (found != config.numPoints())
    return "expected " + std::to_string(config.numPoints()) + " devices for " +
           quoted() + ", one per grid point, found " + std::to_string(found);
  for (DeviceId device : config.devices)
    if (device < 0 || device >= numDevices)
      return "device " + std::to_string(device) + " of " + quoted() +
             ": expected 0 to " + std::to_string(numDevices - 1);
  if (!findSchedule(op.rules, config))
    return "no kernel computes " + quoted() + " split as " +
           config.str(op.rules);
  if (int slot = slotNotBox(graph, id, config); slot >= 0)
    return "split " + config.str(op.rules) + " of " + quoted() + ": a tile's " +
           (slot < static_cast<int>(op.operands.size())
                ? "part of '" + graph.value(op.operands[slot]).name + "'"
                : "result") +
           " is not one box; split a leading dimension fully first";
  if (config.again && !canBeAgain(graph, id))
    return quoted() + " cannot be done again, as updates and forward operators "
                      "can whose results are not stored: leave out 'again'";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Carrying a configuration over to a neighbour
//===----------------------------------------------------------------------===//

/// How `op` touches the tensor in `slot`, from its most fused schedule.
static const Access *accessOf(const Op &op, int slot) {
  for (const Schedule &schedule : op.rules.schedules)
    for (const Phase &phase : schedule.phases) {
      for (const SlotRead &read : phase.reads)
        if (read.slot == slot)
          return &read.access;
      for (const SlotWrite &write : phase.writes)
        if (write.slot == slot)
          return &write.access;
    }
  return nullptr;
}

namespace {
/// The target dimension of one source axis, and its significance among the axes
/// that share the target (digits of one tensor dimension).
struct AxisTarget {
  int dim = kReplica;
  int significance = 0;
};
} // namespace

/// The shares of an axis that stands for `members`, the most significant one
/// first; none if they are equal, or too many to count.
static std::vector<int64_t> sharesOf(const std::vector<GridAxis> &axes,
                                     const std::vector<size_t> &members) {
  std::vector<int64_t> shares = {1};
  int64_t all = 1;
  for (size_t member : members) {
    std::vector<int64_t> own = axes[member].shares;
    if (own.empty())
      own.assign(static_cast<size_t>(axes[member].degree), 1);
    const int64_t sum = std::accumulate(own.begin(), own.end(), int64_t(0));
    if (sum > kMaxShares / all)
      return {};
    all *= sum;
    std::vector<int64_t> products;
    for (int64_t outer : shares)
      for (int64_t inner : own)
        products.push_back(outer * inner);
    shares = std::move(products);
  }
  return GridAxis::withShares(0, std::move(shares)).shares;
}

/// Builds the configuration whose axes are `targets` of the axes of `config`;
/// axes with a common target become one, the most significant digit first.
static Configuration regrid(const Configuration &config,
                            const std::vector<AxisTarget> &targets) {
  std::vector<std::vector<size_t>> members; // source axes of each new axis
  const bool hasShares =
      std::any_of(config.axes.begin(), config.axes.end(),
                  [](const GridAxis &axis) { return !axis.shares.empty(); });
  Configuration result;
  for (size_t i = 0; i < targets.size(); ++i) {
    int dim = targets[i].dim;
    auto same = [&](const GridAxis &axis) { return axis.dim == dim; };
    auto it = std::find_if(result.axes.begin(), result.axes.end(), same);
    // Copies of copies are copies, but only of neighbours.
    if (dim == kReplica && it != result.axes.end())
      it = result.axes.back().dim == kReplica ? std::prev(result.axes.end())
                                              : result.axes.end();
    if (it == result.axes.end()) {
      result.axes.push_back({dim, config.axes[i].degree});
      members.push_back({i});
      continue;
    }
    it->degree *= config.axes[i].degree;
    members[it - result.axes.begin()].push_back(i);
  }
  for (size_t axis = 0; axis < members.size(); ++axis) {
    std::stable_sort(members[axis].begin(), members[axis].end(),
                     [&](size_t a, size_t b) {
                       return targets[a].significance < targets[b].significance;
                     });
    if (hasShares && result.axes[axis].dim != kReplica)
      result.axes[axis].shares = sharesOf(config.axes, members[axis]);
  }
  if (result.axes.size() == config.axes.size()) { // the same points, in order
    result.devices = config.devices;
    return result;
  }
  for (int64_t point = 0, e = result.numPoints(); point < e; ++point) {
    std::vector<int64_t> index = result.coordinates(point);
    std::vector<int64_t> source(config.axes.size());
    for (size_t axis = 0; axis < members.size(); ++axis)
      for (size_t m = members[axis].size(); m-- > 0;) {
        int64_t degree = config.axes[members[axis][m]].degree;
        source[members[axis][m]] = index[axis] % degree;
        index[axis] /= degree;
      }
    int64_t flat = 0;
    for (size_t i = 0; i < source.size(); ++i)
      flat = flat * config.axes[i].degree + source[i];
    result.devices.push_back(config.devices[flat]);
  }
  return result;
}

/// The most significant digit, of more than one value, of a result dimension
/// that has `dim` as one of its digits; -1 if there is none.
static int leadingDigit(const OpRules &rules, int dim) {
  for (const Phase &phase : rules.schedules.front().phases)
    for (const SlotWrite &write : phase.writes)
      for (const DimMap &map : write.access.dims)
        if (map.kind == DimMap::Kind::Digits && map.involves(dim))
          for (int digit : map.dims)
            if (rules.dims[digit].extent > 1)
              return digit;
  return -1;
}

/// Makes the configuration legal. Axes over the extent or not splittable become
/// replicas. Where a result is no box since an axis splits a lesser digit of
/// it, the axis splits the leading one instead, so that the work stays divided;
/// else it becomes a replica; last of all, axes do from the last one on.
static Configuration legalise(const Graph &graph, OpId to,
                              const Configuration &config,
                              std::vector<AxisTarget> targets) {
  const OpRules &rules = graph.op(to).rules;
  auto degreeOf = [&](int dim) {
    int64_t degree = 1;
    for (size_t i = 0; i < targets.size(); ++i)
      if (targets[i].dim == dim)
        degree *= config.axes[i].degree;
    return degree;
  };
  for (AxisTarget &target : targets)
    if (int dim = target.dim;
        dim != kReplica &&
        (degreeOf(dim) > maxDegree(rules.dims[dim]) || !rules.splittable(dim)))
      for (AxisTarget &other : targets)
        if (other.dim == dim)
          other.dim = kReplica;
  Configuration result = regrid(config, targets);
  auto isLegal = [&] {
    return findSchedule(rules, result) && slotNotBox(graph, to, result) < 0;
  };
  if (isLegal())
    return result;
  for (bool moves : {true, false})
    for (AxisTarget &target : targets) {
      const AxisTarget before = target;
      if (target.dim == kReplica)
        continue;
      int dim = moves ? leadingDigit(rules, target.dim) : kReplica;
      if (moves && (dim < 0 || dim == target.dim || !rules.splittable(dim)))
        continue;
      target = {dim, 0};
      if (!moves || degreeOf(dim) <= maxDegree(rules.dims[dim])) {
        result = regrid(config, targets);
        if (isLegal())
          return result;
      }
      target = before;
    }
  for (size_t last = targets.size(); last > 0; --last) {
    targets[last - 1].dim = kReplica;
    result = regrid(config, targets);
    if (isLegal())
      break;
  }
  return result;
}

/// The same points with axes that divide what becomes several dimensions into
/// more parts than the first of these has: they become two, of which the first
/// takes it whole. Sixty parts of 5 x 100 are 5 x 12.
static Configuration byDigits(const Configuration &config, const Access &source,
                              const Access &sink, const OpRules &rules) {
  Configuration result;
  result.devices = config.devices;
  for (const GridAxis &axis : config.axes) {
    GridAxis rest = axis;
    for (size_t d = 0; d < source.dims.size() && d < sink.dims.size(); ++d) {
      if (axis.dim == kReplica || !axis.shares.empty() ||
          source.dims[d].dims != std::vector<int>{axis.dim})
        continue;
      for (int digit : sink.dims[d].dims) {
        const int64_t extent = rules.dims[digit].extent;
        if (digit == sink.dims[d].dims.back() || rest.degree <= extent ||
            rest.degree % extent != 0)
          break;
        if (extent > 1)
          result.axes.push_back({axis.dim, extent});
        rest.degree /= extent;
      }
      break;
    }
    result.axes.push_back(rest);
  }
  return result;
}

/// The first of `digits` that has more than one value, or for the second axis
/// of a dimension (byDigits()) the second one.
static int digitFor(const Configuration &config, size_t axis,
                    const std::vector<int> &digits, const OpRules &rules) {
  auto before = std::count_if(
      config.axes.begin(), config.axes.begin() + static_cast<ptrdiff_t>(axis),
      [&](const GridAxis &a) { return a.dim == config.axes[axis].dim; });
  for (int digit : digits)
    if (rules.dims[digit].extent > 1 && before-- == 0)
      return digit;
  return digits.front();
}

Configuration ffc::plan::carryOver(const Graph &graph, OpId from,
                                   const Configuration &given, int fromSlot,
                                   OpId to, int toSlot) {
  const Op &target = graph.op(to);
  const Access *source = accessOf(graph.op(from), fromSlot);
  const Access *sink = accessOf(target, toSlot);
  const Configuration config =
      source && sink ? byDigits(given, *source, *sink, target.rules) : given;
  std::vector<AxisTarget> targets(config.axes.size());
  for (size_t i = 0; source && sink && i < config.axes.size(); ++i) {
    int dim = config.axes[i].dim;
    if (dim == kReplica)
      continue;
    for (size_t d = 0; d < source->dims.size() && d < sink->dims.size(); ++d) {
      if (!source->dims[d].involves(dim) || sink->dims[d].dims.empty())
        continue;
      const auto &digits = source->dims[d].dims;
      int significance = static_cast<int>(
          std::find(digits.begin(), digits.end(), dim) - digits.begin());
      // Of several digits on the other side, the same digit if the extents
      // agree, else one that has more than one value.
      const auto &candidates = sink->dims[d].dims;
      int chosen = candidates.front();
      bool sameDigits = digits.size() == candidates.size();
      for (size_t k = 0; sameDigits && k < digits.size(); ++k)
        sameDigits = graph.op(from).rules.dims[digits[k]].extent ==
                     target.rules.dims[candidates[k]].extent;
      if (sameDigits)
        chosen = candidates[significance];
      else
        chosen = digitFor(config, i, candidates, target.rules);
      targets[i] = {chosen, significance};
      break;
    }
  }
  return legalise(graph, to, config, std::move(targets));
}

Configuration ffc::plan::carryOverByName(const Graph &graph, OpId from,
                                         const Configuration &config, OpId to) {
  std::vector<AxisTarget> targets(config.axes.size());
  for (size_t i = 0; i < config.axes.size(); ++i)
    if (config.axes[i].dim != kReplica)
      targets[i].dim = graph.op(to).rules.findDim(
          graph.op(from).rules.dims[config.axes[i].dim].name);
  return legalise(graph, to, config, std::move(targets));
}

//===----------------------------------------------------------------------===//
// Whole strategies
//===----------------------------------------------------------------------===//

std::optional<std::vector<std::optional<Configuration>>>
ffc::plan::dataParallel(const Graph &graph, int numDevices,
                        std::string &error) {
  std::vector<std::optional<Configuration>> result(graph.ops.size());
  const std::vector<int> samples = sampleDims(graph);
  const Following following = followingOf(graph);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op &op = graph.ops[i];
    // Gradients follow, also casts of them, which have no owner.
    if (op.owner >= 0 ||
        (op.role == OpRole::Gradient && following.leaders[i].op >= 0))
      continue;
    Configuration config;
    config.axes.push_back({samples[i] < 0 ? kReplica : samples[i], numDevices});
    if (samples[i] >= 0 && maxDegree(op.rules.dims[samples[i]]) < numDevices) {
      error = "data-parallel: '" + op.name + "' splits into at most " +
              std::to_string(maxDegree(op.rules.dims[samples[i]])) +
              " parts along '" + op.rules.dims[samples[i]].name +
              "', expected one per device (" + std::to_string(numDevices) + ")";
      return std::nullopt;
    }
    for (DeviceId device = 0; device < numDevices; ++device)
      config.devices.push_back(device);
    // What merges samples with something else follows.
    if (!checkConfiguration(graph, static_cast<OpId>(i), config, numDevices))
      result[i] = std::move(config);
  }
  return result;
}
