//===- Roles.cpp - what recipes know of operators -------------------------===//

#include "Roles.h"

#include "ffc/Plan/SampleDims.h"

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Does `op` only move what it reads, of which there may be several?
static bool onlyMoves(const Op &op) {
  for (const Schedule &schedule : op.rules.schedules)
    for (const Phase &phase : schedule.phases)
      if (phase.flopsPerPoint != 0)
        return false;
  return !op.operands.empty();
}

ValueId search::stateBehind(const Graph &graph, ValueId value) {
  if (value < 0)
    return -1;
  if (graph.value(value).kind == ValueKind::State)
    return value;
  const OpId producer = graph.value(value).producer;
  if (producer < 0)
    return -1;
  const Op &op = graph.op(producer);
  if (op.operands.size() != 1 && !onlyMoves(op))
    return -1;
  ValueId first = -1;
  for (ValueId operand : op.operands) {
    const ValueId state = stateBehind(graph, operand);
    if (state < 0)
      return -1;
    if (first < 0)
      first = state;
  }
  return first;
}

static bool isParameter(const Graph &graph, ValueId value) {
  return stateBehind(graph, value) >= 0;
}

static bool involves(const Access &access, int dim) {
  return std::any_of(access.dims.begin(), access.dims.end(),
                     [&](const DimMap &map) { return map.involves(dim); });
}

/// Is an operand of `op` split along dimension `dim` that is a parameter, or
/// none?
static bool splitsOperands(const Graph &graph, const Op &op, int dim,
                           bool parameters) {
  for (const Phase &phase : op.rules.schedules.front().phases)
    for (const SlotRead &read : phase.reads)
      if (read.slot < static_cast<int>(op.operands.size()) &&
          isParameter(graph, op.operands[read.slot]) == parameters &&
          involves(read.access, dim))
        return true;
  return false;
}

/// Is a parameter of `op` split along dimension `dim`?
static bool splitsParameters(const Graph &graph, const Op &op, int dim) {
  return splitsOperands(graph, op, dim, /*parameters=*/true);
}

static bool splitsResults(const Op &op, int dim) {
  for (const Phase &phase : op.rules.schedules.front().phases)
    for (const SlotWrite &write : phase.writes)
      if (involves(write.access, dim))
        return true;
  return false;
}

ExpertDims search::expertDims(const Graph &graph, const Op &op) {
  ExpertDims result;
  bool hasColumns = false, isSum = false;
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d) {
    if (op.rules.dims[d].extent == 1)
      continue;
    const bool ofParameters = splitsParameters(graph, op, d);
    const bool ofOthers = splitsOperands(graph, op, d, /*parameters=*/false);
    const bool ofResults = splitsResults(op, d);
    isSum |= ofParameters && ofOthers && !ofResults;
    hasColumns |= ofParameters && !ofOthers && ofResults;
    if (!op.rules.splittable(d) || !ofOthers || !ofResults)
      continue;
    int &dim = ofParameters ? result.experts : result.rows;
    if (dim == kReplica || op.rules.dims[d].extent > op.rules.dims[dim].extent)
      dim = d;
  }
  return isSum && hasColumns && result.rows != kReplica ? result : ExpertDims();
}

int search::parameterDim(const Op &op) {
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d)
    if (op.rules.dims[d].kind == DimKind::Parameter && op.rules.splittable(d))
      return d;
  return kReplica;
}

/// The largest splittable dimension of the parameters of `op` but for `except`.
static int largestDim(const Graph &graph, const Op &op, int except) {
  int largest = kReplica;
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d)
    if (d != except && op.rules.splittable(d) &&
        splitsParameters(graph, op, d) &&
        (largest == kReplica ||
         op.rules.dims[d].extent > op.rules.dims[largest].extent))
      largest = d;
  return largest;
}

int search::rowDim(const Graph &graph, const Op &op) {
  return largestDim(graph, op, kReplica);
}

int search::columnDim(const Graph &graph, const Op &op) {
  return largestDim(graph, op, rowDim(graph, op));
}

static double elementsOf(const Graph &graph, ValueId value) {
  return static_cast<double>(numElements(graph.value(value).type.shape));
}

double search::numParameters(const Graph &graph, const Op &op) {
  double sum = 0;
  for (ValueId operand : op.operands)
    if (isParameter(graph, operand))
      sum += elementsOf(graph, operand);
  return sum;
}

bool search::hasManyParameters(const Graph &graph, const Op &op,
                               int64_t devices) {
  double activations = 0;
  for (const std::vector<ValueId> *values : {&op.operands, &op.results})
    for (ValueId value : *values)
      if (value >= 0 && graph.value(value).kind == ValueKind::Activation &&
          !isParameter(graph, value))
        activations += elementsOf(graph, value);
  return numParameters(graph, op) * static_cast<double>(devices) > activations;
}

bool search::isLookup(const Graph &graph, const Op &op) {
  for (const Phase &phase : op.rules.schedules.front().phases)
    for (const SlotRead &read : phase.reads)
      if (read.slot < static_cast<int>(op.operands.size()) &&
          isParameter(graph, op.operands[read.slot]) &&
          read.touchedPerPoint > 0 && read.touchedPerPoint != kTouchesNothing)
        return true;
  return false;
}

/// The dimension of `op` that a split of dimension `dim` of its leader becomes.
static int carried(const Graph &graph, const Leader &leader, int dim, OpId op) {
  if (dim == kReplica)
    return kReplica;
  return follow(graph, leader, {{{dim, 2}}, {0, 1}}, op).axes[0].dim;
}

Roles::Roles(const Space &space) : sample(sampleDims(space.graph())) {
  const Graph &graph = space.graph();
  const Following following = followingOf(graph);
  tensor.resize(graph.ops.size(), kReplica);
  other.resize(graph.ops.size(), kReplica);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    const Leader &leader = following.leaders[id];
    // Only what recipes give a configuration, and what comes before that.
    if (op.owner >= 0 || leader.op > id)
      continue;
    if (leader.op >= 0)
      tensor[id] = carried(graph, leader, tensor[leader.op], id);
    // A group that takes samples apart as well has nothing of the layer yet.
    const bool isFree = tensor[id] == kReplica || tensor[id] == sample[id];
    if (int dim = parameterDim(op); isFree && space.leader(id).op < 0 &&
                                    dim != kReplica &&
                                    splitsParameters(graph, op, dim))
      // Sums of rows are whole again for the layers that follow.
      tensor[id] = isLookup(graph, op) ? rowDim(graph, op) : dim;
    const int rows = rowDim(graph, op);
    other[id] = tensor[id] == rows ? columnDim(graph, op) : rows;
  }
}

std::optional<Configuration> search::gridOf(const Space &space, OpId op,
                                            std::initializer_list<Split> splits,
                                            DeviceId first) {
  const OpRules &rules = space.graph().op(op).rules;
  Configuration config;
  int64_t points = 1;
  for (auto [dim, degree] : splits) {
    points *= degree;
    auto same = [dim = dim](const GridAxis &axis) { return axis.dim == dim; };
    auto axis = std::find_if(config.axes.begin(), config.axes.end(), same);
    int64_t all = degree;
    if (axis != config.axes.end())
      all *= axis->degree;
    if (dim != kReplica && all > maxDegree(rules.dims[dim]))
      config.axes.push_back({kReplica, degree});
    else if (dim != kReplica && axis != config.axes.end())
      axis->degree = all;
    else if (degree > 1)
      config.axes.push_back({dim, degree});
  }
  for (int64_t d = 0; d < points; ++d)
    config.devices.push_back(first + static_cast<DeviceId>(d));
  if (checkConfiguration(space.graph(), op, config, space.numDevices()))
    return std::nullopt;
  return config;
}

int64_t search::elementsMovedBy(const Graph &graph, const Op &op) {
  int64_t sum = 1;
  for (const std::vector<ValueId> *values : {&op.operands, &op.results})
    for (ValueId value : *values)
      if (value >= 0)
        sum += numElements(graph.value(value).type.shape);
  return sum;
}

std::optional<Configuration> search::tensorGridOf(const Space &space,
                                                  const Roles &roles, OpId op,
                                                  const TensorGrid &grid,
                                                  DeviceId first) {
  return gridOf(space, op,
                {{roles.sample[op], grid.samples},
                 {roles.tensor[op], grid.group},
                 {roles.other[op], grid.other}},
                first);
}

std::optional<Configuration>
search::tensorGridOn(const Space &space, const Roles &roles, OpId op,
                     const TensorGrid &grid,
                     const std::vector<DeviceId> &devices) {
  auto config = tensorGridOf(space, roles, op, grid);
  if (!config)
    return std::nullopt;
  for (DeviceId &device : config->devices)
    device = devices[static_cast<size_t>(device)];
  return space.allows(op, *config) ? config : std::nullopt;
}
