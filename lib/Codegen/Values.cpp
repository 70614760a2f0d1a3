//===- Values.cpp - buffers that are shards of one value ------------------===//

#include "Values.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

std::string codegen::signatureOf(rank::KernelOp op) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << op.getCallee() << op.getArgs() << "(";
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<rank::BufferOp>())
      out << operand.getType() << ",";
    else
      out << "-,";
  }
  out << op.getIns().size();
  return text;
}

namespace {
/// Joins the buffers that kernels use in one place.
class Joiner {
public:
  void join(rank::BufferOp buffer, rank::BufferOp &first) {
    classes.insert(buffer);
    if (!first)
      first = buffer;
    else
      classes.unionSets(first, buffer);
  }

  /// By signature and operand.
  using Firsts = std::map<std::pair<std::string, unsigned>, rank::BufferOp>;

  void join(const Statement &statement, Firsts &firsts) {
    for (const auto &actions : statement.actions)
      for (Operation *action : actions) {
        const std::string signature = signatureOf(cast<rank::KernelOp>(action));
        for (OpOperand &operand : action->getOpOperands())
          if (auto buffer = operand.get().getDefiningOp<rank::BufferOp>())
            join(buffer, firsts[{signature, operand.getOperandNumber()}]);
      }
  }

  llvm::EquivalenceClasses<Operation *> classes;
};
} // namespace

Values::Values(ArrayRef<rank::FuncOp> classes, ArrayRef<Statement> statements) {
  Joiner joiner;
  // Of a pipeline, statements of one operator differ in the micro-batch only.
  const bool isByTurn = isPipeline(statements);
  std::map<StatementKey, Joiner::Firsts> firsts;
  for (const Statement &statement : statements) {
    if (statement.kind != Statement::Kind::Kernel)
      continue;
    if (!isByTurn)
      firsts.clear();
    joiner.join(statement, firsts[keyOf(statement.first())]);
  }
  llvm::DenseMap<Operation *, int> byLeader;
  for (auto [c, constFunc] : llvm::enumerate(classes)) {
    rank::FuncOp func = constFunc;
    for (auto buffer : func.getBody().getOps<rank::BufferOp>()) {
      auto leader = joiner.classes.findLeader(buffer);
      if (leader == joiner.classes.member_end())
        continue;
      auto [entry, isNew] =
          byLeader.try_emplace(*leader, static_cast<int>(values.size()));
      if (isNew)
        values.emplace_back().buffers.resize(classes.size());
      ShardedValue &value = values[entry->second];
      if (value.name.empty() || buffer.getName().size() < value.name.size())
        value.name = buffer.getName().str();
      places[buffer] = {entry->second, value.buffers[c].size()};
      value.buffers[c].push_back(buffer);
    }
  }
}

int Values::valueOf(Value buffer) const {
  auto place = places.find(buffer.getDefiningOp());
  return place == places.end() ? -1 : place->second.first;
}

size_t Values::shardOf(Value buffer) const {
  return places.at(buffer.getDefiningOp()).second;
}
