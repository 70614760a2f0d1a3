//===- Statements.cpp - the step of all ranks -----------------------------===//

#include "Statements.h"

#include "ffc/IR/NameOf.h"
#include "ffc/Plan/TaskId.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

bool codegen::isAction(Operation *op) {
  return isa<rank::KernelOp, rank::CopyOp, rank::ExchangeOp, rank::CollectiveOp,
             rank::WaitOp, rank::ProbeOp>(op);
}

std::string codegen::transferOf(Operation *op) {
  Value about;
  if (auto collective = dyn_cast<rank::CollectiveOp>(op))
    about = collective.getDst();
  else if (auto exchange = cast<rank::ExchangeOp>(op);
           exchange.getReceives().empty())
    about = exchange.getSends()[0];
  else
    about = exchange.getReceives()[0];
  StringRef name = nameOf(op->getLoc());
  StringRef moved = about.getDefiningOp<rank::BufferOp>().getName();
  if (auto loc = dyn_cast<NameLoc>(op->getLoc()))
    if (auto value = dyn_cast<NameLoc>(loc.getChildLoc()))
      moved = value.getName();
  if (name.empty() || name == moved)
    return moved.str();
  return (name + " <- " + moved).str();
}

Operation *codegen::firstOf(ArrayRef<SmallVector<Operation *>> actions) {
  for (const auto &list : actions)
    if (!list.empty())
      return list.front();
  return nullptr;
}

Operation *Statement::first() const { return firstOf(actions); }

std::string codegen::wordOf(plan::ElementType type) {
  return type == plan::ElementType::Bool ? "boolean" : plan::str(type);
}

StringRef codegen::wordOf(rank::CopyOp op) {
  const StringRef how = op.getCombine();
  return how == "none"            ? "replace"
         : how == rank::kMeanWord ? how
         : how == "sum"           ? "add"
                                  : "maximum";
}

StringRef codegen::reductionOf(rank::CollectiveOp op) {
  return op.getReduce() == "none" ? "sum" : op.getReduce();
}

LocalBox codegen::boxOf(rank::BufferOp op, size_t index) {
  const plan::Region region = op.regionAt(index);
  LocalBox box{region.shape(), {}};
  for (size_t d = 0; d < op.getGlobal().size(); ++d)
    box.lo.push_back(region.dim(d).empty() ? 0 : region.dim(d).front().lo);
  return box;
}

static Statement::Kind kindOf(Operation *op) {
  if (isa<rank::KernelOp>(op))
    return Statement::Kind::Kernel;
  if (isa<rank::ProbeOp>(op))
    return Statement::Kind::Probe;
  return Statement::Kind::Reshard;
}

StatementKey codegen::keyOf(Operation *action) {
  const auto kind = static_cast<int64_t>(kindOf(action));
  if (isa<rank::ProbeOp>(action))
    return {kind};
  if (auto wait = dyn_cast<rank::WaitOp>(action))
    action = wait.getEvent().getDefiningOp();
  auto task = action->getAttrOfType<rank::PerAttr>("task").at(0);
  // Points of kernels, and of partial results that are added, differ from rank
  // to rank.
  const plan::TaskId id = plan::taskOf(
      {static_cast<int>(task[0]), static_cast<int>(task[1]),
       static_cast<int>(task[2]), static_cast<int>(task[kTaskInstance])});
  const bool isOfPoint =
      isa<rank::KernelOp>(action) ||
      std::holds_alternative<plan::TaskId::AddPartial>(id.what);
  return {kind, task[0], task[1], isOfPoint ? 0 : task[2],
          std::min<int64_t>(task[kTaskInstance], 1)};
}

Role codegen::roleOf(ArrayRef<Operation *> actions) {
  Role role;
  role.waits = isa<rank::WaitOp>(actions.front());
  for (Operation *action : actions) {
    if (auto wait = dyn_cast<rank::WaitOp>(action))
      action = wait.getEvent().getDefiningOp();
    if (auto exchange = dyn_cast<rank::ExchangeOp>(action)) {
      role.sends |= !exchange.getSends().empty();
      role.receives |= !exchange.getReceives().empty();
    }
  }
  return role;
}

bool codegen::isPipeline(ArrayRef<Statement> statements) {
  std::set<StatementKey> seen;
  StatementKey last = {};
  for (const Statement &statement : statements) {
    if (statement.kind != Statement::Kind::Kernel)
      continue;
    const StatementKey key = keyOf(statement.first());
    if (key != last && !seen.insert(key).second)
      return true;
    last = key;
  }
  return false;
}

/// The operator that an action is of; of a wait, that of what it waits for.
static StringRef operatorOf(Operation *action) {
  if (auto wait = dyn_cast<rank::WaitOp>(action))
    action = wait.getEvent().getDefiningOp();
  return nameOf(action->getLoc());
}

static std::string operatorOf(const Statement &statement) {
  for (const auto &list : statement.actions)
    for (Operation *action : list)
      if (StringRef name = operatorOf(action); !name.empty())
        return name.str();
  return "";
}

/// A reshard is of the kernels that it serves.
static void markAgain(std::vector<Statement> &statements) {
  llvm::StringMap<bool> next;
  for (Statement &statement : llvm::reverse(statements)) {
    if (statement.kind == Statement::Kind::Kernel)
      next[statement.op] = cast<rank::KernelOp>(statement.first())
                               .getTask()
                               .at(0)[kTaskInstance] < 0;
    statement.isAgain = next.lookup(statement.op);
  }
}

FailureOr<std::vector<Statement>>
codegen::statementsOf(ArrayRef<rank::FuncOp> classes) {
  auto hasActions = [](rank::FuncOp func) {
    return llvm::any_of(func.getBody().front(),
                        [](Operation &op) { return isAction(&op); });
  };
  const bool needsNumbers = llvm::count_if(classes, hasActions) > 1;
  // By number, those of micro-batches before all others.
  std::map<std::pair<bool, int64_t>, Statement> byNumber;
  for (auto [c, constFunc] : llvm::enumerate(classes)) {
    rank::FuncOp func = constFunc;
    bool isAfter = false;
    int64_t previous = -1;
    std::pair<StatementKey, StringRef> last = {{-1}, ""};
    for (Operation &op : func.getBody().front()) {
      if (isa<rank::MicroBatchEndOp>(op))
        isAfter = true;
      if (!isAction(&op))
        continue;
      auto attr = op.getAttrOfType<IntegerAttr>("statement");
      if (!attr && needsNumbers)
        return op.emitOpError("expected the number of its statement, as there "
                              "are several classes, found none");
      const StatementKey key = keyOf(&op);
      const auto named = std::pair(key, operatorOf(&op));
      const int64_t number = attr ? attr.getInt() : previous + (named != last);
      last = named;
      if (number < previous)
        return op.emitOpError() << "expected a statement from " << previous
                                << " on, found " << number;
      previous = number;
      auto [entry, isNew] = byNumber.try_emplace({isAfter, number});
      Statement &statement = entry->second;
      if (!isNew && keyOf(statement.first()) != key)
        return op.emitOpError()
               << "expected a statement of its own, found number " << number
               << " of another operator or reshard";
      statement.kind = kindOf(&op);
      statement.inMicroBatch = !isAfter;
      statement.actions.resize(classes.size());
      statement.actions[c].push_back(&op);
    }
  }
  std::vector<Statement> result;
  for (auto &[number, statement] : byNumber) {
    statement.op = operatorOf(statement);
    result.push_back(std::move(statement));
  }
  markAgain(result);
  return result;
}
