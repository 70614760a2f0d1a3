//===- RankVerify.cpp - constraints of the rank operators -----------------===//
//
// Numbers in comments are those of the constraints in RankOps.td. Operators of
// a function may be verified in any order, so a check that looks at a buffer
// tolerates one that is itself malformed: that one gets its own error.
//
//===----------------------------------------------------------------------===//

#include "ffc/IR/Rank.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

/// The function of an operator of a class.
static FuncOp funcOf(Operation *op) { return cast<FuncOp>(op->getParentOp()); }

/// Constraint 0, and that every row has `length` integers.
static LogicalResult checkRows(Operation *op, StringRef name, PerAttr per,
                               std::optional<size_t> length = std::nullopt) {
  FuncOp func = isa<FuncOp>(op) ? cast<FuncOp>(op) : funcOf(op);
  size_t ranks = func.getRanks().size();
  if (!per.isUniform() && per.getRows().size() != ranks)
    return op->emitOpError() << "expected 1 or " << ranks << " rows in '"
                             << name << "', found " << per.getRows().size();
  if (length)
    for (DenseI64ArrayAttr row : per.getRows())
      if (static_cast<size_t>(row.size()) != *length)
        return op->emitOpError()
               << "expected rows of " << *length << " integers in '" << name
               << "', found " << row.size();
  return success();
}

static LogicalResult checkTask(Operation *op, PerAttr task) {
  return checkRows(op, "task", task, 4);
}

static LogicalResult checkWord(Operation *op, StringRef name, StringRef found,
                               ArrayRef<StringRef> words) {
  if (llvm::is_contained(words, found))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "expected '" << name << "' ";
  for (size_t i = 0; i < words.size(); ++i)
    diag << (i == 0                 ? ""
             : i + 1 < words.size() ? ", "
                                    : " or ")
         << '"' << words[i] << '"';
  return diag << ", found \"" << found << '"';
}

/// The buffer behind `value`, or null after an error.
static BufferOp checkPresent(Operation *op, Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  if (!buffer)
    op->emitOpError() << "expected a buffer, found an absent one";
  return buffer;
}

/// What a rank holds of `buffer`; none if the buffer is malformed.
static std::optional<plan::Region> tryRegionAt(BufferOp buffer, size_t i) {
  PerAttr per = buffer.getRegion();
  if (!per.isUniform() && i >= per.getRows().size())
    return std::nullopt;
  return decodeRegion(per.at(i), buffer.getGlobal().size());
}

//===----------------------------------------------------------------------===//
// rank.func
//===----------------------------------------------------------------------===//

/// `ranks` is not empty, ascending and inside the world.
static LogicalResult checkRanks(FuncOp op, StringRef what,
                                ArrayRef<int64_t> ranks) {
  if (ranks.empty())
    return op.emitOpError() << "expected " << what << " of at least one rank";
  int64_t previous = -1;
  for (int64_t rank : ranks) {
    if (rank < 0 || rank >= static_cast<int64_t>(op.getWorld()))
      return op.emitOpError()
             << "expected ranks from 0 to below " << op.getWorld() << " in "
             << what << ", found " << rank;
    if (rank <= previous)
      return op.emitOpError() << "expected ascending ranks in " << what
                              << ", found " << rank << " after " << previous;
    previous = rank;
  }
  return success();
}

LogicalResult ScheduleOp::verify() {
  if (failed(checkWord(*this, "kind", getKind(),
                       {"all_reduce", "all_gather", "reduce_scatter"}))) // 1
    return failure();
  if (getTransfers().size() % 3 != 0) // 2
    return emitOpError() << "expected transfers of three numbers each, found "
                         << getTransfers().size() << " numbers";
  if (std::string fault = faultOf(schedule()); !fault.empty()) // 3
    return emitOpError() << fault;
  return success();
}

plan::CollectiveSchedule ScheduleOp::schedule() {
  plan::CollectiveSchedule schedule;
  schedule.algorithm = getAlgorithm().str();
  schedule.kind = rank::collectiveKindOf(getKind());
  // What does not fit is a fault of its own.
  const auto count = [](uint64_t number) {
    return static_cast<int>(std::min<uint64_t>(number, INT32_MAX));
  };
  schedule.members = count(getMembers());
  schedule.chunks = count(getChunks());
  schedule.reducing = getReducing();
  const auto member = [](int32_t number) {
    return static_cast<int16_t>(
        std::clamp<int32_t>(number, -1, plan::kMaxScheduleMembers));
  };
  ArrayRef<int32_t> numbers = getTransfers();
  for (; numbers.size() >= 3; numbers = numbers.drop_front(3))
    schedule.transfers.push_back(
        {numbers[0], member(numbers[1]), member(numbers[2])});
  return schedule;
}

LogicalResult FuncOp::verify() {
  if (failed(checkRanks(*this, "'ranks'", getRanks()))) // 1
    return failure();
  for (Attribute attr : getGroups()) { // 2
    auto group = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!group)
      return emitOpError()
             << "expected an array of integers in 'groups', found " << attr;
    if (failed(checkRanks(*this, "a group", group)))
      return failure();
  }
  std::pair<StringRef, PerAttr> totals[] = {{"state_bytes", getStateBytes()},
                                            {"arena_bytes", getArenaBytes()},
                                            {"flops", getFlops()}};
  for (auto [name, per] : totals) { // 3
    if (failed(checkRows(*this, name, per, 1)))
      return failure();
    for (DenseI64ArrayAttr row : per.getRows())
      if (row[0] < 0)
        return emitOpError()
               << "expected '" << name << "' of at least 0, found " << row[0];
  }
  std::tuple<StringRef, int64_t, PerAttr> parts[] = {
      {"symmetric_state", getSymmetricState(), getStateBytes()},
      {"symmetric_arena", getSymmetricArena(), getArenaBytes()}};
  for (auto [name, bytes, per] : parts) // 6
    for (DenseI64ArrayAttr row : per.getRows())
      if (bytes < 0 || bytes > row[0])
        return emitOpError() << "expected '" << name << "' from 0 to the "
                             << row[0] << " bytes of a rank, found " << bytes;
  if (getMicroBatches() < 1) // 5
    return emitOpError() << "expected 'micro_batches' of at least 1, found "
                         << static_cast<int64_t>(getMicroBatches());
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers and slots
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  if (failed(checkWord(*this, "section", getSection(), {"state", "arena"})) ||
      failed(checkWord(*this, "order", getOrder(),
                       {wordOf(plan::MemoryOrder::RowMajor),
                        wordOf(plan::MemoryOrder::ChannelsLast),
                        wordOf(plan::MemoryOrder::Pitched)})) || // 1
      failed(checkRows(*this, "offset", getOffset(), 1)) ||
      failed(checkRows(*this, "region", getRegion())))
    return failure();

  FuncOp func = funcOf(*this);
  bool isState = getSection() == "state";
  PerAttr sizes = isState ? func.getStateBytes() : func.getArenaBytes();
  int64_t symmetric =
      isState ? func.getSymmetricState() : func.getSymmetricArena();
  int64_t elementBytes = plan::byteSize(elementType());
  plan::Box whole =
      plan::Box::whole(plan::Shape(getGlobal().begin(), getGlobal().end()));
  for (size_t i = 0; i < func.getRanks().size(); ++i) {
    int64_t rank = func.getRanks()[i];
    auto region = decodeRegion(getRegion().at(i), getGlobal().size());
    if (!region) // 2
      return emitOpError() << "expected a region of " << getGlobal().size()
                           << " dimensions on rank " << rank << ", found ["
                           << getRegion().at(i) << "]";
    for (int d = 0; d < region->rank(); ++d)
      for (plan::Interval interval : region->dim(d))
        if (!whole[d].contains(interval))
          return emitOpError()
                 << "expected a region inside " << whole.str() << " on rank "
                 << rank << ", found " << region->str();
    int64_t offset = getOffset().at(i)[0];
    if (offset < 0 || offset % elementBytes) // 3
      return emitOpError() << "expected an offset of at least 0 and a multiple "
                              "of the element size "
                           << elementBytes << " on rank " << rank << ", found "
                           << offset;
    int64_t end =
        offset +
        plan::bufferBytes(*region, *memoryOrderOf(getOrder()), elementType());
    if (end > sizes.at(i)[0])
      return emitOpError() << "expected an end within the " << sizes.at(i)[0]
                           << " bytes of the " << getSection() << " on rank "
                           << rank << ", found " << end;
    if (offset < symmetric && end > symmetric) // 4
      return emitOpError() << "expected to lie before or behind byte "
                           << symmetric << ", where the symmetric part of the "
                           << getSection() << " ends, on rank " << rank
                           << ", found bytes " << offset << " to " << end;
  }
  return success();
}

LogicalResult InputOp::verify() {
  return success(checkPresent(*this, getBuffer()) != nullptr);
}

LogicalResult StateOp::verify() {
  if (failed(
          checkWord(*this, "kind", getKind(),
                    {"parameter", "slot", "statistic", "constant", "copy", // 1
                     "average"})) ||
      failed(checkWord(*this, "init", getInit(),
                       {"file", "constant", "uniform", "normal", "positions",
                        "upper", "lower"}))) // 3
    return failure();
  if ((getKind() == "copy" || getKind() == "average") !=
      getOf().has_value()) // 1
    return emitOpError()
           << "expected 'of' of copies and averages, and of nothing else";
  BufferOp buffer = checkPresent(*this, getBuffer());
  if (buffer && buffer.getSection() != "state") // 2
    return emitOpError() << "expected a buffer of the state section, found '"
                         << buffer.getName() << "' in the "
                         << buffer.getSection();
  return success(buffer != nullptr);
}

LogicalResult ProbeOp::verify() {
  return success(checkPresent(*this, getBuffer()) != nullptr);
}

LogicalResult LossOp::verify() {
  BufferOp buffer = checkPresent(*this, getBuffer());
  if (!buffer)
    return failure();
  for (auto [i, rank] : llvm::enumerate(funcOf(*this).getRanks())) {
    auto region = tryRegionAt(buffer, i);
    if (region && region->volume() != 1) // 1
      return emitOpError() << "expected a buffer of 1 element on rank " << rank
                           << ", found " << region->volume();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  if (failed(checkTask(*this, getTask())) || // 1
      failed(checkRows(*this, "tile", getTile())))
    return failure();
  for (DenseI64ArrayAttr row : getTile().getRows()) { // 2
    bool ok = row.size() % 2 == 0 && row.size() / 2 <= plan::kMaxRank;
    for (int64_t d = 0; ok && d < row.size(); d += 2)
      ok = row[d] <= row[d + 1];
    if (!ok)
      return emitOpError() << "expected pairs lo <= hi in 'tile', found ["
                           << row.asArrayRef() << "]";
  }
  int64_t last = -1;
  for (int64_t result : addedTo()) { // 3
    if (result <= last || result >= static_cast<int64_t>(getOuts().size()))
      return emitOpError() << "expected ascending indices of its "
                           << getOuts().size()
                           << " results in 'adds_to', found " << result;
    last = result;
    BufferOp buffer = checkPresent(*this, getOuts()[result]);
    if (!buffer)
      return failure();
    if (!plan::isSummedInPlace(buffer.elementType()))
      return emitOpError() << "expected f32 or f64 in '" << buffer.getName()
                           << "', which it adds to, found "
                           << str(buffer.elementType());
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (failed(checkWord(*this, "combine", getCombine(),
                       {"none", "sum", "max", kMeanWord})) || // 1
      failed(checkTask(*this, getTask())))
    return failure();
  BufferOp dst = checkPresent(*this, getDst());
  BufferOp src = checkPresent(*this, getSrc());
  if (!dst || !src)
    return failure();
  if (dst.getType() != src.getType() ||
      dst.getGlobal().size() != src.getGlobal().size()) // 2
    return emitOpError() << "expected the element type and rank of '"
                         << src.getName() << "' in '" << dst.getName() << "'";
  if (getCombine() == kMeanWord && dst.getSection() != "state") // 4
    return emitOpError() << "expected a mean in the state section, found '"
                         << dst.getName() << "' in section '"
                         << dst.getSection() << "'";

  size_t dims = dst.getGlobal().size();
  if (failed(checkRows(*this, "dst_at", getDstAt(), dims)) ||
      failed(checkRows(*this, "src_at", getSrcAt(), dims)) ||
      failed(checkRows(*this, "size", getSize(), dims)))
    return failure();
  ArrayRef<int64_t> ranks = funcOf(*this).getRanks();
  auto checkInside = [&](BufferOp buffer, PerAttr at) -> LogicalResult {
    for (size_t i = 0; i < ranks.size(); ++i) {
      auto region = tryRegionAt(buffer, i);
      if (!region)
        continue;
      plan::Shape shape = region->shape();
      for (size_t d = 0; d < dims; ++d)
        if (at.at(i)[d] < 0 || getSize().at(i)[d] < 0 ||
            at.at(i)[d] + getSize().at(i)[d] > shape[d]) // 3
          return emitOpError()
                 << "expected a box inside the [" << ArrayRef<int64_t>(shape)
                 << "] elements of '" << buffer.getName() << "' on rank "
                 << ranks[i] << ", found size [" << getSize().at(i) << "] at ["
                 << at.at(i) << "]";
    }
    return success();
  };
  return success(succeeded(checkInside(dst, getDstAt())) &&
                 succeeded(checkInside(src, getSrcAt())));
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

LogicalResult ExchangeOp::verify() {
  FuncOp func = funcOf(*this);
  auto checkPeers = [&](StringRef name, PerAttr peers,
                        OperandRange buffers) -> LogicalResult {
    if (failed(checkRows(*this, name, peers, buffers.size()))) // 1
      return failure();
    for (auto [i, rank] : llvm::enumerate(func.getRanks()))
      for (int64_t peer : peers.at(i))
        if (peer < 0 || peer >= static_cast<int64_t>(func.getWorld()) ||
            peer == rank) // 2
          return emitOpError() << "expected peers of rank " << rank
                               << " among the other " << func.getWorld() - 1
                               << " ranks in '" << name << "', found " << peer;
    for (Value buffer : buffers)
      if (!checkPresent(*this, buffer)) // 3
        return failure();
    return success();
  };
  return success(
      succeeded(checkTask(*this, getTask())) &&
      succeeded(checkPeers("send_peers", getSendPeers(), getSends())) &&
      succeeded(checkPeers("receive_peers", getReceivePeers(), getReceives())));
}

LogicalResult CollectiveOp::verify() {
  if (failed(checkWord(
          *this, "kind", getKind(),
          {"all_reduce", "all_gather", "reduce_scatter", "broadcast"})))
    return failure();
  bool reduces = getKind() == "all_reduce" || getKind() == "reduce_scatter";
  bool inPlace = getKind() == "all_reduce" || getKind() == "broadcast";
  SmallVector<StringRef> reductions{"none"};
  if (reduces)
    reductions = {"sum", "max"};
  SmallVector<StringRef> algorithms;
  for (plan::CollectiveAlgorithm algorithm : plan::kCollectiveAlgorithms)
    if (plan::canDo(algorithm, rank::collectiveKindOf(getKind())))
      algorithms.push_back(plan::str(algorithm));
  if (failed(checkWord(*this, "reduce", getReduce(), reductions)) ||       // 1
      failed(checkWord(*this, "algorithm", getAlgorithm(), algorithms)) || // 7
      failed(checkTask(*this, getTask())) ||
      failed(checkRows(*this, "group", getGroup(), 1)))
    return failure();

  BufferOp src = checkPresent(*this, getSrc());
  BufferOp dst = checkPresent(*this, getDst());
  if (!src || !dst)
    return failure();
  if (src.getType() != dst.getType()) // 4
    return emitOpError() << "expected the element type of '" << src.getName()
                         << "' in '" << dst.getName() << "'";
  if (inPlace && src != dst) // 5
    return emitOpError() << "expected " << getKind() << " in place, found '"
                         << src.getName() << "' and '" << dst.getName() << "'";

  FuncOp func = funcOf(*this);
  const bool bySchedule =
      getAlgorithm() == plan::str(plan::CollectiveAlgorithm::Schedule);
  if (bySchedule != getSchedule().has_value()) // 8
    return emitOpError() << "expected a schedule's number for \"schedule\" "
                            "alone, found algorithm \""
                         << getAlgorithm() << "\" with"
                         << (bySchedule ? "out" : "") << " one";
  ScheduleOp schedule;
  if (bySchedule) {
    auto all = llvm::to_vector(
        (*this)->getParentOfType<ModuleOp>().getOps<ScheduleOp>());
    if (*getSchedule() >= all.size())
      return emitOpError() << "expected one of " << all.size()
                           << " schedules, found "
                           << static_cast<int64_t>(*getSchedule());
    schedule = all[*getSchedule()];
    if (schedule.getKind() != getKind())
      return emitOpError() << "expected a schedule of " << getKind()
                           << ", found one of " << schedule.getKind();
  }
  int64_t numGroups = func.getGroups().size();
  for (auto [i, rank] : llvm::enumerate(func.getRanks())) {
    int64_t index = getGroup().at(i)[0];
    if (index < 0 || index >= numGroups) // 2
      return emitOpError() << "expected one of " << numGroups
                           << " groups, found " << index;
    ArrayRef<int64_t> group =
        cast<DenseI64ArrayAttr>(func.getGroups()[index]).asArrayRef();
    if (!llvm::binary_search(group, rank))
      return emitOpError() << "expected rank " << rank << " in group " << index
                           << " [" << group << "]";
    if (schedule && schedule.getMembers() != group.size())
      return emitOpError() << "expected a schedule of " << group.size()
                           << " members, found one of "
                           << static_cast<int64_t>(schedule.getMembers());
    if (getRoot() >= group.size()) // 3
      return emitOpError() << "expected a root below " << group.size()
                           << ", found " << static_cast<int64_t>(getRoot());
    auto srcRegion = tryRegionAt(src, i), dstRegion = tryRegionAt(dst, i);
    if (inPlace || !srcRegion || !dstRegion)
      continue;
    int64_t part = srcRegion->volume(), whole = dstRegion->volume();
    if (reduces)
      std::swap(part, whole);
    if (whole != part * static_cast<int64_t>(group.size())) // 6
      return emitOpError() << "expected a whole of " << group.size()
                           << " parts of " << part << " elements on rank "
                           << rank << ", found " << whole;
  }
  return success();
}
