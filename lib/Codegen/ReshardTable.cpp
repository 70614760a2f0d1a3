//===- ReshardTable.cpp - the rows of a reshard ---------------------------===//

#include "ReshardTable.h"

#include "CopySeries.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

namespace {
/// The actions of a reshard as rows; loops of copies are one of them.
class ReshardRows {
public:
  ReshardRows(TableList &list, const Member &member) {
    for (ArrayRef<Operation *> actions : member.turnsOf(list.number)) {
      auto &rows = parts.emplace_back();
      while (!actions.empty()) {
        size_t count = 1;
        if (isa<rank::CopyOp>(actions.front())) {
          rows.push_back(
              CopySeries::startOf(actions, list.func.getRanks().size()));
          count = rows.back().length;
        } else {
          rows.emplace_back();
        }
        first.push_back(actions.front());
        actions = actions.drop_front(count);
      }
    }
  }
  std::vector<std::vector<CopySeries>> parts;
  std::vector<Operation *> first; ///< of every row
};
} // namespace

static void printTask(TableList &list, Operation *op) {
  auto task = op->getAttrOfType<rank::PerAttr>("task");
  list.add(static_cast<int64_t>(list.positions.at(op)));
  list.add(task, 2);
  list.add(task, 3);
}

static void printCopies(TableList &list, const CopySeries &series) {
  list.more();
  list.addText("copies");
  printTask(list, const_cast<rank::CopyOp &>(series.body[0]));
  list.add(static_cast<int64_t>(series.body.size()));
  list.add(static_cast<int64_t>(series.loops.size()));
  for (const CopySeries::Loop &loop : series.loops)
    list.add(loop.count);
  for (auto [i, each] : llvm::enumerate(series.body)) {
    rank::CopyOp copy = each;
    list.addText(wordOf(copy));
    list.add(copy.getDst());
    list.add(copy.getSrc());
    list.addAll(copy.getDstAt());
    list.addAll(copy.getSrcAt());
    list.addAll(copy.getSize());
    for (const CopySeries::Loop &loop : series.loops)
      for (int64_t stride : loop.strides[i])
        list.add(stride);
  }
}

static void printMessages(TableList &list, ValueRange buffers,
                          rank::PerAttr peers) {
  list.add(static_cast<int64_t>(buffers.size()));
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    list.add(peers, i);
    list.add(buffer);
  }
}

static void print(TableList &list, NameList &transfers, rank::ExchangeOp op) {
  list.more();
  list.addText("exchange");
  printTask(list, op);
  list.add(static_cast<int64_t>(transfers.number(transferOf(op))));
  list.add(static_cast<int64_t>(op.getTag()));
  printMessages(list, op.getSends(), op.getSendPeers());
  printMessages(list, op.getReceives(), op.getReceivePeers());
}

static void print(TableList &list, NameList &transfers, rank::CollectiveOp op) {
  list.more();
  list.addText("collective");
  printTask(list, op);
  list.add(static_cast<int64_t>(transfers.number(transferOf(op))));
  list.addText(op.getKind());
  list.add(op.getGroup(), 0);
  list.add(op.getSrc());
  list.add(op.getDst());
  list.addText(reductionOf(op));
  list.addText(op.getAlgorithm());
  list.add(static_cast<int64_t>(op.getRoot()));
  if (op.getSchedule())
    list.add(static_cast<int64_t>(*op.getSchedule()));
  else
    list.addText("none");
  list.add(static_cast<int64_t>(op.getStarts()));
}

LogicalResult codegen::printReshard(TableList &list, const Member &member,
                                    NameList &operators, NameList &transfers) {
  const ReshardRows rows(list, member);
  list.add(static_cast<int64_t>(operators.number(member.op)));
  Operation *any = nullptr;
  for (const auto &part : member.parts)
    for (const auto &actions : part)
      for (Operation *action : actions)
        if (action->hasAttr("task"))
          any = action;
  if (!any)
    return firstOf(member.parts.front())
        ->emitOpError("expected communication that it waits for in its "
                      "reshard, found none");
  list.add(any->getAttrOfType<rank::PerAttr>("task").at(0)[1]);
  list.add(static_cast<int64_t>(rows.parts.size()));
  for (const auto &part : rows.parts)
    list.add(static_cast<int64_t>(part.size()));
  llvm::DenseMap<Operation *, int64_t> communications;
  size_t next = 0;
  for (const auto &part : rows.parts)
    for (const CopySeries &series : part) {
      Operation *op = rows.first[next++];
      if (!series.body.empty()) {
        printCopies(list, series);
        continue;
      }
      if (auto wait = dyn_cast<rank::WaitOp>(op)) {
        auto event = communications.find(wait.getEvent().getDefiningOp());
        if (event == communications.end())
          return wait.emitOpError("expected communication of its reshard, "
                                  "found another one");
        list.more();
        list.addText("wait");
        list.add(event->second);
        continue;
      }
      communications.try_emplace(op,
                                 static_cast<int64_t>(communications.size()));
      if (auto exchange = dyn_cast<rank::ExchangeOp>(op))
        print(list, transfers, exchange);
      else
        print(list, transfers, cast<rank::CollectiveOp>(op));
    }
  return success();
}
