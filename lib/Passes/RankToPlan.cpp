//===- RankToPlan.cpp - rank classes read back as a plan ------------------===//
//
// The inverse of PlanToRank, for proofs of a text. Whatever the planner would
// not have written is an error here, unless the proof (ffc/Plan/Verifier.h)
// finds it: numbers that lead nowhere, kernels that are not those of the step,
// first contents of states.
//
//===----------------------------------------------------------------------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/IR/Rank.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ffc;

namespace {

using Names = llvm::StringMap<int32_t>;

/// What the names in classes stand for.
struct StepNames {
  explicit StepNames(const PlannedModule &planned) {
    const plan::Graph &graph = planned.graph;
    for (auto [id, value] : llvm::enumerate(graph.values))
      if (value.kind == plan::ValueKind::Input)
        inputs[value.name] = static_cast<int32_t>(id);
    for (auto [id, state] : llvm::enumerate(graph.states))
      states[state.name] = static_cast<int32_t>(id);
    ModuleOp module = planned.module;
    module.walk([&](ff::StateOp op) { stateOps[op.getName()] = op; });
  }
  Names inputs, states;
  llvm::StringMap<ff::StateOp> stateOps;
};

/// Reads the ranks of one class.
class ClassReader {
public:
  /// Adds what its collectives start with to `batches`.
  ClassReader(const PlannedModule &planned, const StepNames &names,
              const plan::Strategy &strategy, rank::FuncOp func,
              std::vector<plan::Program::Batch> &batches)
      : planned(planned), names(names), strategy(strategy), func(func),
        batches(batches) {}

  /// The program of the class's rank number `i`.
  FailureOr<plan::DeviceProgram> read(size_t i);

private:
  InFlightDiagnostic fault(Operation *op, const char *what) {
    return op->emitOpError("of rank ")
           << func.getRanks()[index] << ": " << what;
  }
  LogicalResult add(Operation *op);
  LogicalResult add(rank::BufferOp op);
  LogicalResult add(rank::InputOp op);
  LogicalResult add(rank::StateOp op);
  LogicalResult add(rank::KernelOp op);
  LogicalResult add(rank::CopyOp op);
  LogicalResult add(rank::ExchangeOp op);
  LogicalResult add(rank::CollectiveOp op);
  LogicalResult add(rank::WaitOp op);
  LogicalResult add(rank::ProbeOp op);
  int batchOf(rank::CollectiveOp first, const plan::TaskId &task);

  template <class What>
  LogicalResult addAction(Operation *op, plan::TaskId task, What what) {
    device.actions.push_back(
        {std::move(task), ff::nameOf(op->getLoc()).str(), std::move(what)});
    return success();
  }
  /// The task of an operator of the step.
  FailureOr<plan::TaskId> taskOf(Operation *op, rank::PerAttr task) {
    ArrayRef<int64_t> row = task.at(index);
    const auto numOps = static_cast<int64_t>(planned.graph.ops.size());
    if (row[0] < 0 || row[0] >= numOps)
      return fault(op, "expected a task of one of ")
             << numOps << " operators, found operator " << row[0];
    return plan::taskOf({static_cast<int>(row[0]), static_cast<int>(row[1]),
                         static_cast<int>(row[2]), static_cast<int>(row[3])});
  }
  plan::BufferId idOf(Value buffer) const {
    auto it = buffers.find(buffer);
    return it == buffers.end() ? -1 : it->second;
  }
  std::vector<plan::BufferId> idsOf(ValueRange values) const {
    std::vector<plan::BufferId> ids;
    for (Value value : values)
      ids.push_back(idOf(value));
    return ids;
  }
  std::vector<plan::Message> messagesOf(ValueRange values,
                                        rank::PerAttr peers) const {
    std::vector<plan::Message> messages;
    for (auto [value, peer] : llvm::zip_equal(values, peers.at(index)))
      messages.push_back({static_cast<plan::DeviceId>(peer), idOf(value)});
    return messages;
  }
  plan::Shape shapeOf(rank::PerAttr per) const {
    ArrayRef<int64_t> row = per.at(index);
    return plan::Shape(row.begin(), row.end());
  }

  const PlannedModule &planned;
  const StepNames &names;
  const plan::Strategy &strategy;
  rank::FuncOp func;
  std::vector<plan::Program::Batch> &batches;

  size_t index = 0;
  plan::DeviceProgram device;
  llvm::DenseMap<Value, plan::BufferId> buffers;
  llvm::DenseMap<Value, int> events;
  int batch = -1; ///< of the collective before
};

} // namespace

FailureOr<plan::DeviceProgram> ClassReader::read(size_t i) {
  index = i;
  device = {};
  buffers.clear();
  events.clear();
  device.stateBytes = func.getStateBytes().at(i)[0];
  device.arenaBytes = func.getArenaBytes().at(i)[0];
  device.flops = static_cast<double>(func.getFlops().at(i)[0]);
  bool hasEnd = false;
  for (Operation &op : func.getBody().front()) {
    if (isa<rank::MicroBatchEndOp>(op)) {
      device.microBatchActions = static_cast<int>(device.actions.size());
      hasEnd = true;
    } else if (failed(add(&op))) {
      return failure();
    }
  }
  if (!hasEnd)
    device.microBatchActions = static_cast<int>(device.actions.size());
  return std::move(device);
}

LogicalResult ClassReader::add(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<rank::BufferOp, rank::InputOp, rank::StateOp, rank::KernelOp,
            rank::CopyOp, rank::ExchangeOp, rank::CollectiveOp, rank::WaitOp,
            rank::ProbeOp>([&](auto each) { return add(each); })
      .Case([&](rank::LossOp loss) {
        device.loss = idOf(loss.getBuffer());
        return success();
      })
      .Case([](rank::AbsentOp) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        return fault(other, "expected an action of a rank");
      });
}

LogicalResult ClassReader::add(rank::BufferOp op) {
  plan::Buffer buffer;
  buffer.name = op.getName().str();
  buffer.global = plan::Shape(op.getGlobal().begin(), op.getGlobal().end());
  buffer.region = op.regionAt(index);
  buffer.type = op.elementType();
  buffer.order = *rank::memoryOrderOf(op.getOrder());
  buffer.section =
      op.getSection() == "state" ? plan::Section::State : plan::Section::Arena;
  buffer.offset = op.getOffset().at(index)[0];
  buffer.bytes = plan::bufferBytes(buffer.region, buffer.order, buffer.type);
  buffers[op] = static_cast<plan::BufferId>(device.buffers.size());
  device.buffers.push_back(std::move(buffer));
  return success();
}

LogicalResult ClassReader::add(rank::InputOp op) {
  auto it = names.inputs.find(op.getName());
  if (it == names.inputs.end())
    return fault(op, "expected an input of the step, found '")
           << op.getName() << "'";
  const plan::BufferId buffer = idOf(op.getBuffer());
  device.buffers[buffer].value = it->second;
  device.inputs.push_back({it->second, buffer});
  return success();
}

LogicalResult ClassReader::add(rank::StateOp op) {
  auto it = names.states.find(op.getName());
  if (it == names.states.end())
    return fault(op, "expected a state of the step, found '")
           << op.getName() << "'";
  ff::StateOp state = names.stateOps.lookup(op.getName());
  ff::InitAttr init = state.getInit();
  if (op.getKind() != state.getKind() || op.getOfAttr() != state.getOfAttr() ||
      op.getInit() != ff::stringifyInitKind(init.getKind()) ||
      op.getValueAttr() != init.getValue() ||
      op.getOffset() != static_cast<uint64_t>(init.getOffset()))
    return fault(op, "expected kind and first contents of state '")
           << op.getName() << "' as in the step";
  const plan::BufferId buffer = idOf(op.getBuffer());
  device.buffers[buffer].value = planned.graph.states[it->second].read;
  device.states.push_back({it->second, buffer});
  return success();
}

LogicalResult ClassReader::add(rank::KernelOp op) {
  FailureOr<plan::TaskId> task = taskOf(op, op.getTask());
  if (failed(task))
    return failure();
  const plan::Op &planOp = planned.graph.op(task->op);
  const plan::Configuration &config = strategy[task->op];
  const auto &phases = plan::scheduleFor(planOp.rules, config).phases;
  if (!std::holds_alternative<plan::TaskId::Compute>(task->what) ||
      task->phase < 0 || static_cast<size_t>(task->phase) >= phases.size() ||
      task->point() < 0 || task->point() >= config.numPoints())
    return fault(op, "expected a phase and a grid point of '")
           << planOp.name << "'";
  const plan::Phase &phase = phases[task->phase];
  auto source = cast<ff::PartitionableInterface>(planned.ops[task->op]);
  if (op.getCallee() != phase.kernel)
    return fault(op, "expected kernel '")
           << phase.kernel << "' of '" << planOp.name << "', found '"
           << op.getCallee() << "'";
  if (op.getArgs() != source.getPhaseArgs(phase.kind))
    return fault(op, "expected the attributes that '")
           << planOp.name << "' has in the step";
  plan::KernelAction kernel;
  kernel.kernel = phase.kernel;
  kernel.part = phase.kind;
  kernel.ins = idsOf(op.getIns());
  kernel.outs = idsOf(op.getOuts());
  kernel.tile = op.tileAt(index);
  kernel.addsTo.assign(op.addedTo().begin(), op.addedTo().end());
  return addAction(op, *task, std::move(kernel));
}

LogicalResult ClassReader::add(rank::CopyOp op) {
  FailureOr<plan::TaskId> task = taskOf(op, op.getTask());
  if (failed(task))
    return failure();
  plan::CopyAction copy;
  copy.dst = idOf(op.getDst());
  copy.src = idOf(op.getSrc());
  copy.dstAt = shapeOf(op.getDstAt());
  copy.srcAt = shapeOf(op.getSrcAt());
  copy.size = shapeOf(op.getSize());
  copy.accumulates = op.getCombine() == rank::kMeanWord;
  if (!copy.accumulates)
    copy.combine = rank::reductionOf(op.getCombine());
  return addAction(op, *task, std::move(copy));
}

LogicalResult ClassReader::add(rank::ExchangeOp op) {
  FailureOr<plan::TaskId> task = taskOf(op, op.getTask());
  if (failed(task))
    return failure();
  events[op.getEvent()] = static_cast<int>(device.actions.size());
  plan::ExchangeAction exchange;
  exchange.tag = static_cast<int>(op.getTag());
  exchange.sends = messagesOf(op.getSends(), op.getSendPeers());
  exchange.receives = messagesOf(op.getReceives(), op.getReceivePeers());
  return addAction(op, *task, std::move(exchange));
}

/// The number of a batch by its first collective. The first rank that comes
/// says how much it sends.
int ClassReader::batchOf(rank::CollectiveOp first, const plan::TaskId &task) {
  for (auto [number, known] : llvm::enumerate(batches))
    if (known.first == task)
      return static_cast<int>(number);
  plan::Program::Batch added{task, 0};
  Operation *next = first;
  for (uint64_t left = first.getStarts(); left > 0; --left) {
    auto collective = cast<rank::CollectiveOp>(next);
    added.bytes +=
        plan::collectiveBytes(device.buffers[idOf(collective.getSrc())].bytes,
                              device.buffers[idOf(collective.getDst())].bytes);
    next = next->getNextNode();
  }
  batches.push_back(added);
  return static_cast<int>(batches.size()) - 1;
}

LogicalResult ClassReader::add(rank::CollectiveOp op) {
  FailureOr<plan::TaskId> task = taskOf(op, op.getTask());
  if (failed(task))
    return failure();
  events[op.getEvent()] = static_cast<int>(device.actions.size());
  plan::CollectiveAction collective;
  collective.kind = rank::collectiveKindOf(op.getKind());
  collective.algorithm = rank::algorithmOf(op.getAlgorithm());
  collective.schedule = static_cast<int>(op.getSchedule().value_or(-1));
  collective.group = static_cast<plan::GroupId>(op.getGroup().at(index)[0]);
  collective.src = idOf(op.getSrc());
  collective.dst = idOf(op.getDst());
  collective.combine = rank::reductionOf(op.getReduce());
  collective.root = static_cast<int>(op.getRoot());
  if (op.getStarts() == 1)
    batch = -1;
  else if (op.getStarts() > 1)
    batch = batchOf(op, *task);
  collective.batch = batch;
  return addAction(op, *task, collective);
}

LogicalResult ClassReader::add(rank::WaitOp op) {
  const int event = events.lookup(op.getEvent());
  return addAction(op, device.actions[event].task, plan::WaitAction{event});
}

LogicalResult ClassReader::add(rank::ProbeOp op) {
  const std::string output = op.getName().str();
  device.actions.push_back(
      {{}, output, plan::ProbeAction{output, idOf(op.getBuffer())}});
  return success();
}

/// The strategy that the step says, complete and legal.
static FailureOr<plan::Strategy> strategyOf(const PlannedModule &planned,
                                            int numDevices) {
  FailureOr<plan::PartialStrategy> given = readConfigurations(planned);
  if (failed(given))
    return failure();
  plan::Strategy strategy;
  for (auto [id, config] : llvm::enumerate(*given)) {
    Operation *op = planned.ops[id];
    const std::string &name = planned.graph.ops[id].name;
    if (!config)
      return op->emitError("expected a configuration of '")
             << name << "', found none";
    if (auto problem = plan::checkConfiguration(
            planned.graph, static_cast<int>(id), *config, numDevices))
      return op->emitError("'")
             << name << "' cannot be placed so: " << *problem;
    strategy.push_back(std::move(*config));
  }
  return strategy;
}

FailureOr<WrittenPlan> ffc::readStrategy(ModuleOp module, int numDevices) {
  FailureOr<PlannedModule> planned = buildPlanGraph(module);
  if (failed(planned))
    return failure();
  FailureOr<plan::Strategy> strategy = strategyOf(*planned, numDevices);
  if (failed(strategy))
    return failure();
  FailureOr<plan::PipelineSchedule> schedule = readSchedule(*planned);
  if (failed(schedule))
    return failure();
  return WrittenPlan{std::move(*planned), std::move(*strategy), *schedule, {}};
}

FailureOr<WrittenPlan> ffc::readRanks(ModuleOp module) {
  auto classes = llvm::to_vector(module.getOps<rank::FuncOp>());
  if (classes.empty())
    return module.emitError("expected classes of ranks, found none");
  rank::FuncOp first = classes.front();
  const size_t world = first.getWorld();
  FailureOr<WrittenPlan> result = readStrategy(module, static_cast<int>(world));
  if (failed(result))
    return failure();
  plan::Program &program = result->program;
  program.devices.resize(world);
  program.symmetricState = first.getSymmetricState();
  program.symmetricArena = first.getSymmetricArena();
  for (auto schedule : module.getOps<rank::ScheduleOp>())
    program.schedules.push_back(
        std::make_shared<const plan::CollectiveSchedule>(schedule.schedule()));
  for (auto group : first.getGroups().getAsRange<DenseI64ArrayAttr>())
    program.groups.emplace_back(group.asArrayRef().begin(),
                                group.asArrayRef().end());
  std::vector<bool> isThere(world, false);
  const StepNames names(result->planned);
  for (rank::FuncOp func : classes) {
    if (func.getWorld() != world || func.getGroups() != first.getGroups() ||
        func.getMicroBatches() !=
            static_cast<uint64_t>(result->planned.graph.microBatches) ||
        func.getSymmetricState() != first.getSymmetricState() ||
        func.getSymmetricArena() != first.getSymmetricArena())
      return func.emitOpError("expected world, groups, micro-batches and "
                              "symmetric parts as in the step and in '")
             << first.getSymName() << "'";
    ClassReader reader(result->planned, names, result->strategy, func,
                       program.batches);
    for (auto [i, rank] : llvm::enumerate(func.getRanks())) {
      if (isThere[rank])
        return func.emitOpError("expected every rank once, found rank ")
               << rank << " again";
      isThere[rank] = true;
      FailureOr<plan::DeviceProgram> device = reader.read(i);
      if (failed(device))
        return failure();
      program.devices[rank] = std::move(*device);
    }
  }
  for (size_t rank = 0; rank < world; ++rank)
    if (!isThere[rank])
      return first.emitOpError("expected a class of every rank, found none of "
                               "rank ")
             << rank;
  return result;
}

void ffc::addStep(ModuleOp ranks, const PlannedModule &planned) {
  ranks.getBody()->push_front(mainFunction(planned.module)->clone());
}
