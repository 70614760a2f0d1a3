//===- RankBodyVerify.cpp - constraints across operators of rank.func -----===//
//
// Numbers in comments are those of the constraints in RankOps.td. All operators
// have been verified.
//
//===----------------------------------------------------------------------===//

#include "ffc/IR/Rank.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::rank;

/// True if both may start as one.
static bool areAlike(CollectiveOp one, CollectiveOp other) {
  return one.getKind() == other.getKind() &&
         one.getReduce() == other.getReduce() &&
         one.getAlgorithm() == other.getAlgorithm() &&
         one.getSchedule() == other.getSchedule() &&
         one.getGroup() == other.getGroup() &&
         one.getSrc().getType() == other.getSrc().getType();
}

/// Constraint 9 of collectives.
static LogicalResult checkStarts(FuncOp func) {
  CollectiveOp first;
  int64_t left = 0;
  for (Operation &op : func.getBody().front()) {
    auto next = dyn_cast<CollectiveOp>(op);
    const auto starts = next ? static_cast<int64_t>(next.getStarts()) : 1;
    if (left > 0 && (!next || starts != 0))
      return op.emitOpError()
             << "expected " << left
             << " more collectives that start with one before, found another "
                "operator";
    if (starts < 0 || (left == 0 && starts == 0))
      return op.emitOpError()
             << "expected a collective that starts at least 1, found "
             << starts;
    if (left > 0 && !areAlike(first, next))
      return op.emitOpError() << "expected a collective like the one that it "
                                 "starts with, found another";
    if (left == 0)
      first = next;
    left = left > 0 ? left - 1 : starts - 1;
  }
  if (left > 0)
    return first.emitOpError()
           << "expected " << left << " more collectives, found the end";
  return success();
}

LogicalResult FuncOp::verifyRegions() {
  if (getBody().getNumArguments() > 0) // 7
    return emitOpError("expected a block without arguments, found ")
           << getBody().getNumArguments();
  llvm::StringMap<BufferOp> names;
  for (auto buffer : getBody().getOps<BufferOp>()) {
    auto [entry, isNew] = names.try_emplace(buffer.getName(), buffer);
    if (!isNew) { // 4
      InFlightDiagnostic diag = buffer.emitOpError()
                                << "name '" << buffer.getName()
                                << "' is not unique";
      diag.attachNote(entry->second.getLoc()) << "first used here";
      return diag;
    }
  }
  auto ends = getBody().getOps<MicroBatchEndOp>();
  const auto numEnds = std::distance(ends.begin(), ends.end());
  if (numEnds != (getMicroBatches() > 1)) // 5
    return emitOpError() << "expected "
                         << (getMicroBatches() > 1 ? "one" : "no")
                         << " 'rank.micro_batch_end' in a step of "
                         << static_cast<int64_t>(getMicroBatches())
                         << " micro-batches, found " << numEnds;
  return checkStarts(*this);
}
