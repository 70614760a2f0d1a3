//===- RankEvaluator.cpp - all ranks in one process -----------------------===//

#include "ffc/Reference/RankEvaluator.h"

#include "RankMachine.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

Rank::Rank(FuncOp func, size_t row)
    : func(func), body(&func.getBody().front()), row(row),
      id(func.getRanks()[row]) {
  // One slot more than needed gives empty buffers an address.
  auto slotsOf = [&](PerAttr bytes) {
    return bytes.at(row)[0] / kSlotBytes + 2;
  };
  state.assign(slotsOf(func.getStateBytes()), poisonValue());
  arena.assign(slotsOf(func.getArenaBytes()), 0);
  for (auto op : body->getOps<BufferOp>())
    buffers.try_emplace(
        op.getResult(),
        LocalBuffer(op, row,
                    op.getSection() == "state" ? state.data() : arena.data()));
  for (auto op : body->getOps<StateOp>())
    states[op.getName()].push_back(op);
}

/// Fills `buffer` with its part of `value`.
static void scatter(const ff::TensorValue &value, const LocalBuffer &buffer) {
  std::vector<double> local(buffer.size());
  forEachRun(buffer.region(), buffer.global(),
             [&](int64_t at, int64_t from, int64_t length) {
               std::copy_n(value.data.begin() + from, length,
                           local.begin() + at);
             });
  buffer.store(local);
}

static LogicalResult checkShape(Operation *op, StringRef name,
                                const ff::TensorValue &value,
                                const LocalBuffer &buffer) {
  if (value.shape != buffer.global())
    return op->emitError() << "expected a value of shape ["
                           << ArrayRef<int64_t>(buffer.global()) << "] for '"
                           << name << "', found ["
                           << ArrayRef<int64_t>(value.shape) << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

LogicalResult RankEvaluator::Impl::begin() {
  transport = Transport();
  offers.clear();
  firstNaNRank = -1;
  for (auto &rank : ranks) {
    if (poison)
      std::fill(rank->arena.begin(), rank->arena.end(), poisonValue());
    rank->pending.clear();
    rank->next = rank->body->begin();
    for (auto op : rank->body->getOps<InputOp>()) {
      auto input = inputs.find(op.getName().str());
      if (input == inputs.end())
        return op.emitOpError()
               << "input '" << op.getName() << "' has no value";
      const LocalBuffer &buffer = rank->get(op.getBuffer());
      if (failed(checkShape(op, op.getName(), input->second, buffer)))
        return failure();
      scatter(input->second, buffer);
    }
  }
  return success();
}

LogicalResult RankEvaluator::Impl::advance(Rank &rank,
                                           const ff::ReferenceContext &context,
                                           bool &moved) {
  for (; !rank.isDone(); ++rank.next, moved = true) {
    Operation &op = *rank.next;
    if (auto wait = dyn_cast<WaitOp>(op)) {
      auto pending = rank.pending.find(wait.getEvent().getDefiningOp());
      if (pending == rank.pending.end())
        continue; // waited for before
      if (!isReady(pending->second))
        return success();
      if (failed(complete(rank, wait)))
        return failure();
      continue;
    }
    LogicalResult result =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](KernelOp op) { return kernel(rank, op, context); })
            .Case([&](CollectiveOp op) { return collective(rank, op); })
            .Case([&](ProbeOp op) { return probe(rank, op); })
            .Case([&](CopyOp op) { return copy(rank, op), success(); })
            .Case([&](ExchangeOp op) { return exchange(rank, op), success(); })
            .Default(success()); // buffers and slots
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult RankEvaluator::Impl::run(const ff::ReferenceContext &context) {
  auto isDone = [](const auto &rank) { return rank->isDone(); };
  while (!llvm::all_of(ranks, isDone)) {
    bool moved = false;
    for (auto &rank : ranks)
      if (failed(advance(*rank, context, moved)))
        return failure();
    if (!moved)
      return deadlock();
  }
  return success();
}

LogicalResult RankEvaluator::Impl::deadlock() const {
  InFlightDiagnostic diag = module->emitError("deadlock: no rank can continue");
  for (auto &rank : ranks) {
    if (rank->isDone())
      continue;
    Operation *op = cast<WaitOp>(*rank->next).getEvent().getDefiningOp();
    const Pending &pending = rank->pending.find(op)->second;
    Diagnostic &note = diag.attachNote(op->getLoc());
    note << "rank " << rank->id << " waits for ";
    if (auto collective = dyn_cast<CollectiveOp>(op)) {
      note << collective.getKind() << " on group " << pending.seat->group
           << ", which lacks ranks "
           << ArrayRef<int64_t>(transport.missing(*pending.seat));
      continue;
    }
    note << "an exchange with tag "
         << static_cast<int64_t>(cast<ExchangeOp>(op).getTag());
    for (auto &ticket : pending.sends)
      if (!transport.isMatched(ticket))
        note << ", a receive by rank " << std::get<1>(ticket.channel);
    for (auto &[ticket, buffer] : pending.receives)
      if (!transport.isMatched(ticket))
        note << ", '" << buffer->name() << "' from rank "
             << std::get<0>(ticket.channel);
  }
  return diag;
}

LogicalResult RankEvaluator::Impl::finish() {
  std::optional<Gather> loss;
  for (auto &rank : ranks) {
    if (!rank->pending.empty())
      return rank->pending.begin()->first->emitOpError()
             << "is never waited for on rank " << rank->id;
    for (auto op : rank->body->getOps<LossOp>()) {
      const LocalBuffer &buffer = rank->get(op.getBuffer());
      if (!loss)
        loss.emplace(buffer.global());
      std::string error;
      if (!loss->offer(buffer, rank->id, error)) {
        InFlightDiagnostic diag = op.emitOpError() << "loss: " << error;
        noteNaN(diag);
        return diag;
      }
    }
  }
  if (loss)
    losses.push_back(loss->value().data[0]);
  outputs.clear();
  for (auto &[name, gather] : offers) {
    if (int64_t missing = gather.firstMissing(); missing >= 0)
      return module.emitError() << "output '" << name << "': no rank offers "
                                << "element " << missing;
    outputs[name] = gather.value();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RankEvaluator
//===----------------------------------------------------------------------===//

RankEvaluator::RankEvaluator(ModuleOp module, bool poison)
    : impl(std::make_unique<Impl>()) {
  impl->module = module;
  impl->poison = poison;
  for (auto func : module.getOps<FuncOp>())
    for (size_t row = 0; row < func.getRanks().size(); ++row)
      impl->ranks.push_back(std::make_unique<Rank>(func, row));
  llvm::sort(impl->ranks,
             [](const auto &a, const auto &b) { return a->id < b->id; });
}

RankEvaluator::~RankEvaluator() = default;
RankEvaluator::RankEvaluator(RankEvaluator &&) noexcept = default;

void RankEvaluator::setInput(StringRef name, ff::TensorValue value) {
  impl->inputs[name.str()] = std::move(value);
}

LogicalResult RankEvaluator::setState(StringRef name,
                                      const ff::TensorValue &value) {
  bool isWhole = false;
  for (auto &rank : impl->ranks)
    for (StateOp op : rank->states.lookup(name)) {
      const LocalBuffer &buffer = rank->get(op.getBuffer());
      if (failed(checkShape(op, name, value, buffer)))
        return failure();
      scatter(value, buffer);
      isWhole |= buffer.size() == static_cast<int64_t>(value.data.size());
    }
  if (!isWhole) // else nothing of it can be missing
    impl->firstStates[name.str()] = value;
  return success();
}

void RankEvaluator::fillConstants() {
  for (auto &rank : impl->ranks)
    for (auto op : rank->body->getOps<StateOp>()) {
      if (op.getInit() != "constant")
        continue;
      const LocalBuffer &buffer = rank->get(op.getBuffer());
      buffer.store(std::vector<double>(static_cast<size_t>(buffer.size()),
                                       op.getValue().convertToDouble()));
    }
}

LogicalResult RankEvaluator::step(const ff::ReferenceContext &context) {
  return success(succeeded(impl->begin()) && succeeded(impl->run(context)) &&
                 succeeded(impl->finish()));
}

const std::map<std::string, ff::TensorValue> &RankEvaluator::outputs() const {
  return impl->outputs;
}

const std::vector<double> &RankEvaluator::losses() const {
  return impl->losses;
}

FailureOr<ff::TensorValue> RankEvaluator::state(StringRef name) const {
  std::optional<Gather> gather;
  for (auto &rank : impl->ranks)
    for (StateOp op : rank->states.lookup(name)) {
      const LocalBuffer &buffer = rank->get(op.getBuffer());
      if (!gather)
        gather.emplace(buffer.global());
      std::string error;
      if (gather->offer(buffer, rank->id, error))
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "state '" << name << "': " << error;
      impl->noteNaN(diag);
      return diag;
    }
  if (!gather)
    return impl->module.emitError()
           << "no rank holds the state '" << name << "'";
  if (int64_t missing = gather->firstMissing(); missing >= 0) {
    // Rows of a table that nobody reads or trains.
    if (auto first = impl->firstStates.find(name.str());
        first != impl->firstStates.end()) {
      gather->fillMissing(first->second);
      return gather->value();
    }
    return impl->module.emitError() << "state '" << name << "': no rank holds "
                                    << "element " << missing;
  }
  return gather->value();
}

FailureOr<RankRun> RankEvaluator::result() const {
  RankRun run{impl->outputs, {}, impl->losses};
  for (auto &rank : impl->ranks)
    for (const auto &[name, ops] : rank->states) {
      // Constants stay, and what nobody reads of them is nowhere.
      StateOp first = ops.front();
      if (first.getKind() == "constant")
        continue;
      auto [entry, isNew] = run.states.try_emplace(name.str());
      if (!isNew)
        continue;
      FailureOr<ff::TensorValue> value = state(name);
      if (failed(value))
        return failure();
      entry->second = std::move(*value);
    }
  return run;
}
