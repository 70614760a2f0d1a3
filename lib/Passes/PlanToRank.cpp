//===- PlanToRank.cpp - devices folded into rank classes ------------------===//
//
// Devices whose programs differ only in numbers that a `#rank.per` can hold
// (offsets, regions, tiles, peers...) share one `rank.func`. What must agree is
// written as a *signature*, a list of words; classes are found by hashing
// signatures, so the work is linear in the number of actions of all devices.
//
//===----------------------------------------------------------------------===//

#include "ffc/IR/Rank.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Plan/Batches.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringMap.h"

#include <tuple>
#include <unordered_map>

using namespace mlir;
using namespace ffc;

namespace {

using Signature = std::vector<int64_t>;

/// By device, the statement of every action: what stands together in the order
/// of the plan and is a phase of one operator, or a part of one reshard.
class Statements {
public:
  explicit Statements(const plan::Program &program)
      : numbers(program.devices.size()) {
    const size_t microBatch = plan::numMicroBatchActions(program);
    Key previous;
    int64_t number = -1;
    for (auto [i, ref] : llvm::enumerate(program.order)) {
      const plan::Action &action = program.action(ref);
      Key key = keyOf(action);
      if (i == 0 || i == microBatch || key != previous)
        ++number;
      previous = std::move(key);
      auto &mine = numbers[ref.device];
      mine.resize(std::max<size_t>(mine.size(), ref.index + 1));
      mine[ref.index] = number;
    }
  }
  /// In the order of the device's actions.
  const std::vector<int64_t> &of(size_t device) const {
    return numbers[device];
  }

private:
  using Key = std::tuple<plan::OpId, int, size_t, int, std::string>;

  /// The kernels of a phase, the additions to its partial results, the reshard
  /// of one value: in all its steps.
  static Key keyOf(const plan::Action &action) {
    const plan::TaskNumbers task = plan::numbersOf(action.task);
    if (auto *probe = action.as<plan::ProbeAction>())
      return {-1, 0, action.task.what.index(), 0, probe->output};
    const bool isOfPoint =
        std::holds_alternative<plan::TaskId::Compute>(action.task.what) ||
        std::holds_alternative<plan::TaskId::AddPartial>(action.task.what);
    // What is computed again is no statement with what was computed.
    const bool isAgain = isOfPoint && task.instance < -1;
    return {task.op, task.phase, 2 * action.task.what.index() + isAgain,
            isOfPoint ? 0 : task.point, ""};
  }

  std::vector<std::vector<int64_t>> numbers;
};

/// Writes the signatures of devices; names become numbers.
class SignatureWriter {
public:
  Signature of(const plan::DeviceProgram &device,
               const std::vector<int64_t> &statements) {
    words.clear();
    add(device.buffers.size());
    for (const plan::Buffer &buffer : device.buffers)
      addBuffer(buffer);
    add(device.inputs.size());
    for (const plan::InputSlot &slot : device.inputs)
      add(slot.value, slot.buffer);
    add(device.states.size());
    for (const plan::StateSlot &slot : device.states)
      add(slot.state, slot.buffer);
    for (size_t i = 0; i < device.actions.size(); ++i) {
      addAction(device.actions[i]);
      add(plan::numStartingAt(device, i));
    }
    words.insert(words.end(), statements.begin(), statements.end());
    add(device.microBatchActions, device.loss);
    return words;
  }

private:
  template <class... T> void add(T... values) {
    (words.push_back(static_cast<int64_t>(values)), ...);
  }
  void addName(const std::string &name) {
    add(names.try_emplace(name, names.size()).first->second);
  }
  /// A list and its length, so that no two lists of lists read the same.
  void addList(const std::vector<plan::BufferId> &ids) {
    add(ids.size());
    words.insert(words.end(), ids.begin(), ids.end());
  }
  void addBuffers(const std::vector<plan::Message> &messages) {
    add(messages.size());
    for (const plan::Message &message : messages)
      add(message.buffer);
  }

  void addBuffer(const plan::Buffer &buffer) {
    addName(buffer.name);
    add(buffer.value, buffer.type, buffer.order, buffer.section,
        buffer.global.size());
    words.insert(words.end(), buffer.global.begin(), buffer.global.end());
  }

  void addAction(const plan::Action &action) {
    add(action.what.index(), action.task.op);
    action.visit(
        [&](const plan::KernelAction &kernel) {
          add(action.task.phase);
          addName(kernel.kernel);
          addList(kernel.ins);
          addList(kernel.outs);
          addList(kernel.addsTo);
        },
        [&](const plan::CopyAction &copy) {
          add(copy.dst, copy.src, copy.combine, copy.accumulates);
        },
        [&](const plan::ExchangeAction &exchange) {
          add(exchange.tag);
          addBuffers(exchange.sends);
          addBuffers(exchange.receives);
        },
        [&](const plan::CollectiveAction &collective) {
          add(collective.kind, collective.algorithm, collective.schedule,
              collective.combine, collective.src, collective.dst,
              collective.root);
        },
        [&](const plan::WaitAction &wait) { add(wait.event); },
        [&](const plan::ProbeAction &probe) {
          add(probe.buffer);
          addName(probe.output);
        });
  }

  Signature words;
  llvm::StringMap<size_t> names;
};

/// Devices in ascending order; classes in the order of their first device.
std::vector<std::vector<size_t>> classesOf(const plan::Program &program,
                                           const Statements &statements) {
  struct Class {
    Signature signature;
    std::vector<size_t> devices;
  };
  std::vector<Class> classes;
  std::unordered_multimap<size_t, size_t> byHash;
  SignatureWriter writer;
  for (size_t device = 0; device < program.devices.size(); ++device) {
    Signature signature =
        writer.of(program.devices[device], statements.of(device));
    size_t hash = llvm::hash_combine_range(signature.begin(), signature.end());
    auto [first, last] = byHash.equal_range(hash);
    auto same = std::find_if(first, last, [&](const auto &entry) {
      return classes[entry.second].signature == signature;
    });
    if (same != last) {
      classes[same->second].devices.push_back(device);
      continue;
    }
    byHash.emplace(hash, classes.size());
    classes.push_back({std::move(signature), {device}});
  }
  std::vector<std::vector<size_t>> result;
  for (Class &c : classes)
    result.push_back(std::move(c.devices));
  return result;
}

/// Renders one class.
class ClassLowering {
public:
  ClassLowering(const PlannedModule &planned, const plan::Program &program,
                const Statements &statements,
                const llvm::StringMap<ff::StateOp> &states,
                const std::vector<size_t> &devices, OpBuilder &builder)
      : planned(planned), program(program), statements(statements),
        states(states), devices(devices), builder(builder),
        context(builder.getContext()),
        shared(program.devices[devices.front()]) {}

  void lower(size_t index, ArrayAttr groups);

private:
  /// One row per device of the class, made from what `get(device)` returns.
  template <class Get> rank::PerAttr per(Get get) {
    SmallVector<DenseI64ArrayAttr> rows;
    for (size_t device : devices) {
      SmallVector<int64_t> row = get(program.devices[device]);
      rows.push_back(DenseI64ArrayAttr::get(context, row));
    }
    return rank::foldRows(context, rows);
  }
  /// The same for the class's action number `i`, which is of kind `What`.
  template <class What, class Get> rank::PerAttr perAction(size_t i, Get get) {
    return per([&](const plan::DeviceProgram &d) {
      return get(d.actions[i].get<What>());
    });
  }
  rank::PerAttr taskOf(size_t i) {
    return per([&](const plan::DeviceProgram &d) {
      const plan::TaskNumbers task = plan::numbersOf(d.actions[i].task);
      return SmallVector<int64_t>{task.op, task.phase, task.point,
                                  task.instance};
    });
  }

  IntegerAttr statementOf(size_t i) {
    return builder.getI64IntegerAttr(statements.of(devices.front())[i]);
  }

  /// Everything carries the location of the task's operator, communication also
  /// the name of the value that moves.
  Location locationOf(size_t i) {
    const plan::OpId op = shared.actions[i].task.op;
    return op >= 0 ? planned.ops[op]->getLoc() : builder.getUnknownLoc();
  }
  Location locationOfMove(size_t i) {
    auto value = builder.getStringAttr(shared.actions[i].name);
    return NameLoc::get(builder.getStringAttr(ff::nameOf(locationOf(i))),
                        NameLoc::get(value));
  }
  Value bufferOf(plan::BufferId id) { return id >= 0 ? buffers[id] : absent(); }
  SmallVector<Value> buffersOf(const std::vector<plan::BufferId> &ids) {
    return llvm::map_to_vector(ids, [&](auto id) { return bufferOf(id); });
  }
  SmallVector<Value> buffersOf(const std::vector<plan::Message> &messages) {
    return llvm::map_to_vector(
        messages, [&](const plan::Message &m) { return bufferOf(m.buffer); });
  }

  Value absent();
  void lowerBuffer(size_t i);
  void lowerSlots();
  /// Action number `i` of the class. Returns its event, null if it has none.
  Value lowerAction(size_t i);
  Value lower(size_t i, const plan::KernelAction &kernel);
  Value lower(size_t i, const plan::CopyAction &copy);
  Value lower(size_t i, const plan::ExchangeAction &exchange);
  Value lower(size_t i, const plan::CollectiveAction &collective);
  Value lower(size_t i, const plan::WaitAction &wait);
  Value lower(size_t i, const plan::ProbeAction &probe);

  const PlannedModule &planned;
  const plan::Program &program;
  const Statements &statements;
  const llvm::StringMap<ff::StateOp> &states;
  const std::vector<size_t> &devices;
  OpBuilder &builder;
  MLIRContext *context;
  /// The program of the first device, for what all agree on.
  const plan::DeviceProgram &shared;

  rank::FuncOp func;
  std::vector<Value> buffers, events;
  Value absentBuffer;
};

} // namespace

/// One for the class, before its first user.
Value ClassLowering::absent() {
  if (!absentBuffer) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&func.getBody().front());
    absentBuffer = rank::AbsentOp::create(
        builder, func.getLoc(),
        rank::BufferType::get(context, builder.getF32Type()));
  }
  return absentBuffer;
}

void ClassLowering::lowerBuffer(size_t i) {
  const plan::Buffer &buffer = shared.buffers[i];
  buffers.push_back(rank::BufferOp::create(
      builder, func.getLoc(),
      rank::BufferType::get(context, rank::typeOf(buffer.type, context)),
      buffer.name, buffer.section == plan::Section::State ? "state" : "arena",
      rank::wordOf(buffer.order), per([&](const plan::DeviceProgram &d) {
        return SmallVector<int64_t>{d.buffers[i].offset};
      }),
      per([&](const plan::DeviceProgram &d) {
        return rank::encodeRegion(d.buffers[i].region);
      }),
      buffer.global));
}

void ClassLowering::lowerSlots() {
  for (const plan::InputSlot &slot : shared.inputs)
    rank::InputOp::create(builder, func.getLoc(),
                          planned.graph.values[slot.value].name,
                          bufferOf(slot.buffer));
  for (const plan::StateSlot &slot : shared.states) {
    const std::string &name = planned.graph.states[slot.state].name;
    ff::StateOp state = states.lookup(name);
    ff::InitAttr init = state.getInit();
    rank::StateOp::create(builder, state.getLoc(), builder.getStringAttr(name),
                          state.getKindAttr(), state.getOfAttr(),
                          ff::stringifyInitKind(init.getKind()),
                          init.getValue().getValue(), init.getOffset(),
                          bufferOf(slot.buffer));
  }
}

Value ClassLowering::lower(size_t i, const plan::KernelAction &kernel) {
  auto op =
      cast<ff::PartitionableInterface>(planned.ops[shared.actions[i].task.op]);
  auto tile = perAction<plan::KernelAction>(i, [](const auto &k) {
    SmallVector<int64_t> row;
    for (int d = 0; d < k.tile.rank(); ++d)
      row.append({k.tile[d].lo, k.tile[d].hi});
    return row;
  });
  DenseI64ArrayAttr addsTo;
  if (!kernel.addsTo.empty())
    addsTo = builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(kernel.addsTo.begin(), kernel.addsTo.end()));
  rank::KernelOp::create(builder, locationOf(i), kernel.kernel,
                         buffersOf(kernel.ins), buffersOf(kernel.outs), tile,
                         op.getPhaseArgs(kernel.part), taskOf(i), addsTo,
                         statementOf(i));
  return {};
}

Value ClassLowering::lower(size_t i, const plan::CopyAction &copy) {
  auto shapes = [&](plan::Shape plan::CopyAction::*shape) {
    return perAction<plan::CopyAction>(i, [&](const auto &c) {
      return SmallVector<int64_t>((c.*shape).begin(), (c.*shape).end());
    });
  };
  rank::CopyOp::create(builder, locationOf(i), bufferOf(copy.dst),
                       bufferOf(copy.src), shapes(&plan::CopyAction::dstAt),
                       shapes(&plan::CopyAction::srcAt),
                       shapes(&plan::CopyAction::size),
                       copy.accumulates ? StringRef(rank::kMeanWord)
                                        : rank::wordOf(copy.combine),
                       taskOf(i), statementOf(i));
  return {};
}

Value ClassLowering::lower(size_t i, const plan::ExchangeAction &exchange) {
  using Messages = std::vector<plan::Message>;
  auto peers = [&](Messages plan::ExchangeAction::*messages) {
    return perAction<plan::ExchangeAction>(i, [&](const auto &e) {
      return llvm::map_to_vector(
          e.*messages,
          [](const plan::Message &m) -> int64_t { return m.peer; });
    });
  };
  return rank::ExchangeOp::create(
      builder, locationOfMove(i), rank::EventType::get(context),
      buffersOf(exchange.sends), buffersOf(exchange.receives),
      peers(&plan::ExchangeAction::sends),
      peers(&plan::ExchangeAction::receives), exchange.tag, taskOf(i),
      statementOf(i));
}

Value ClassLowering::lower(size_t i, const plan::CollectiveAction &collective) {
  bool inPlace = collective.kind == plan::CollectiveKind::AllReduce ||
                 collective.kind == plan::CollectiveKind::Broadcast;
  auto group = perAction<plan::CollectiveAction>(
      i, [](const auto &c) { return SmallVector<int64_t>{c.group}; });
  return rank::CollectiveOp::create(
      builder, locationOfMove(i), rank::EventType::get(context),
      str(collective.kind), rank::wordOf(collective.combine),
      bufferOf(collective.src),
      bufferOf(inPlace ? collective.src : collective.dst), group,
      collective.root, taskOf(i), str(collective.algorithm),
      collective.schedule < 0 ? IntegerAttr()
                              : builder.getI64IntegerAttr(collective.schedule),
      plan::numStartingAt(shared, i), statementOf(i));
}

Value ClassLowering::lower(size_t i, const plan::WaitAction &wait) {
  rank::WaitOp::create(builder, locationOf(i), events[wait.event],
                       statementOf(i));
  return {};
}

Value ClassLowering::lower(size_t i, const plan::ProbeAction &probe) {
  rank::ProbeOp::create(builder, locationOf(i), probe.output,
                        bufferOf(probe.buffer), statementOf(i));
  return {};
}

Value ClassLowering::lowerAction(size_t i) {
  return shared.actions[i].visit(
      [&](const auto &what) { return lower(i, what); });
}

void ClassLowering::lower(size_t index, ArrayAttr groups) {
  SmallVector<int64_t> ranks(devices.begin(), devices.end());
  using Row = SmallVector<int64_t>;
  func = rank::FuncOp::create(
      builder, builder.getUnknownLoc(), ("class" + Twine(index)).str(), ranks,
      program.devices.size(), groups,
      per([](const plan::DeviceProgram &d) { return Row{d.stateBytes}; }),
      per([](const plan::DeviceProgram &d) { return Row{d.arenaBytes}; }),
      per([](const plan::DeviceProgram &d) {
        return Row{static_cast<int64_t>(d.flops)};
      }),
      planned.graph.microBatches, program.symmetricState,
      program.symmetricArena);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&func.getBody().emplaceBlock());
  for (size_t i = 0; i < shared.buffers.size(); ++i)
    lowerBuffer(i);
  lowerSlots();
  for (size_t i = 0; i < shared.actions.size(); ++i) {
    if (planned.graph.microBatches > 1 &&
        i == static_cast<size_t>(shared.microBatchActions))
      rank::MicroBatchEndOp::create(builder, func.getLoc());
    events.push_back(lowerAction(i));
  }
  if (planned.graph.microBatches > 1 &&
      shared.actions.size() == static_cast<size_t>(shared.microBatchActions))
    rank::MicroBatchEndOp::create(builder, func.getLoc());
  if (shared.loss >= 0)
    rank::LossOp::create(builder, func.getLoc(), bufferOf(shared.loss));
}

static void lowerSchedule(const plan::CollectiveSchedule &schedule,
                          OpBuilder &builder) {
  SmallVector<int32_t> numbers;
  for (const plan::ChunkTransfer &transfer : schedule.transfers)
    numbers.append({transfer.chunk, transfer.src, transfer.dst});
  rank::ScheduleOp::create(builder, builder.getUnknownLoc(), schedule.algorithm,
                           str(schedule.kind), schedule.members,
                           schedule.chunks, schedule.reducing, numbers);
}

OwningOpRef<ModuleOp> ffc::lowerToRank(const PlannedModule &planned,
                                       const plan::Program &program) {
  ModuleOp source = planned.module;
  MLIRContext *context = source.getContext();
  context->loadDialect<rank::RankDialect>();
  llvm::StringMap<ff::StateOp> states;
  source.walk([&](ff::StateOp op) { states[op.getName()] = op; });

  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Attribute> groups;
  for (const std::vector<plan::DeviceId> &group : program.groups)
    groups.push_back(DenseI64ArrayAttr::get(
        context, SmallVector<int64_t>(group.begin(), group.end())));
  ArrayAttr groupsAttr = builder.getArrayAttr(groups);

  for (const auto &schedule : program.schedules)
    lowerSchedule(*schedule, builder);
  size_t index = 0;
  const Statements statements(program);
  for (const std::vector<size_t> &devices : classesOf(program, statements))
    ClassLowering(planned, program, statements, states, devices, builder)
        .lower(index++, groupsAttr);
  if (failed(verify(*module)))
    return {};
  return module;
}
