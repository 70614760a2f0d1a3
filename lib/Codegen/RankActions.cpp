//===- RankActions.cpp - what a rank does, by the `rank` module -----------===//
//
// The lines that ProgramReader.cpp reads from the text.
//
//===----------------------------------------------------------------------===//

#include "RankActions.h"

#include "AttributeText.h"
#include "ScheduleText.h"
#include "Statements.h"
#include "Text.h"

#include "ffc/Codegen/Identifiers.h"
#include "ffc/IR/NameOf.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::Error;
using namespace ffc;
using namespace ffc::codegen;

namespace {

std::string listOf(ArrayRef<int64_t> numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

class RankLister {
public:
  RankLister(rank::FuncOp func, size_t index, Functors &functors)
      : func(func), index(index), functors(functors) {}

  RankActions run() {
    for (Attribute group : func.getGroups())
      result.groups.push_back(
          withoutSpaces(braced(cast<DenseI64ArrayAttr>(group).asArrayRef())));
    for (auto schedule :
         func->getParentOfType<ModuleOp>().getOps<rank::ScheduleOp>())
      result.schedules.push_back(llvm::join(literalsOf(schedule), ""));
    for (auto buffer : func.getBody().getOps<rank::BufferOp>()) {
      numbers[buffer] = result.buffers.size();
      result.buffers.push_back(describe(buffer));
    }
    // States first, as in the text.
    for (auto state : func.getBody().getOps<rank::StateOp>())
      addSlot("state", state);
    std::vector<std::string> *actions = &result.step;
    for (Operation &op : func.getBody().front())
      llvm::TypeSwitch<Operation *>(&op)
          .Case([&](rank::InputOp op) { addSlot("input", op); })
          .Case([&](rank::MicroBatchEndOp) { actions = &result.update; })
          .Case([&](rank::LossOp op) {
            result.slots.push_back("loss " + number(op.getBuffer()));
          })
          .Case<rank::KernelOp, rank::CopyOp, rank::ExchangeOp,
                rank::CollectiveOp, rank::WaitOp, rank::ProbeOp>(
              [&](auto op) { actions->push_back(lineOf(op)); });
    return std::move(result);
  }

private:
  std::string describe(rank::BufferOp op) {
    const LocalBox box = boxOf(op, index);
    return op.getSection().str() + " " +
           std::to_string(op.getOffset().at(index)[0]) + " " +
           wordOf(op.elementType()) + " " + op.getOrder().str() + " " +
           listOf(box.shape) + " at " + listOf(box.lo) + " of " +
           listOf(op.getGlobal());
  }

  template <class Op> void addSlot(const char *what, Op op) {
    result.slots.push_back(std::string(what) + " " + quoted(op.getName()) +
                           " " + number(op.getBuffer()));
  }

  std::string number(Value buffer) {
    auto it = numbers.find(buffer.getDefiningOp());
    return it == numbers.end() ? "-" : std::to_string(it->second);
  }

  /// "12 conv2#0@3.1 ": position among the tasks of the step, and task.
  template <class Op> std::string taskOf(Op op) {
    ArrayRef<int64_t> task = op.getTask().at(index);
    return std::to_string(position++) + " " + quoted(nameOf(op.getLoc())) +
           "#" + std::to_string(task[1]) + "@" + std::to_string(task[2]) + "." +
           std::to_string(task[3]) + " ";
  }

  std::string lineOf(rank::KernelOp op) {
    std::string line = taskOf(op);
    if (Functors::isFused(op)) {
      FailureOr<std::string> callee = functors.classOf(op);
      line += succeeded(callee) ? withoutSpaces(*callee) : "?";
    } else {
      line += toClassName(op.getCallee());
    }
    for (ValueRange list : {ValueRange(op.getIns()), ValueRange(op.getOuts())})
      line += " (" +
              llvm::join(llvm::map_range(
                             list, [&](Value each) { return number(each); }),
                         ", ") +
              ")";
    for (int64_t result : op.addedTo())
      line += " adds to " + std::to_string(result);
    if (!Functors::isFused(op))
      for (NamedAttribute arg : op.getArgs())
        line += " " + withoutSpaces(textOf(arg.getValue()));
    return line;
  }

  /// As the words of the text are put together again; strings keep theirs.
  static std::string withoutSpaces(StringRef text) {
    std::string result;
    bool inString = false;
    for (char c : text) {
      inString ^= c == '"' && (result.empty() || result.back() != '\\');
      if (c != ' ' || inString)
        result += c;
    }
    return result;
  }

  std::string lineOf(rank::CopyOp op) {
    return taskOf(op) + wordOf(op).str() + " " + number(op.getDst()) + " " +
           number(op.getSrc()) + " " + listOf(op.getDstAt().at(index)) +
           " from " + listOf(op.getSrcAt().at(index)) + " size " +
           listOf(op.getSize().at(index));
  }

  std::string lineOf(rank::ExchangeOp op) {
    std::string line = taskOf(op) + "exchange " + quoted(transferOf(op)) +
                       " tag " + std::to_string(op.getTag());
    auto add = [&](const char *way, ValueRange buffers, rank::PerAttr peers) {
      for (auto [i, buffer] : llvm::enumerate(buffers))
        line +=
            way + std::to_string(peers.at(index)[i]) + ": " + number(buffer);
    };
    add(" to ", op.getSends(), op.getSendPeers());
    add(" from ", op.getReceives(), op.getReceivePeers());
    return started[op] = std::move(line);
  }

  std::string lineOf(rank::CollectiveOp op) {
    return started[op] =
               taskOf(op) + op.getKind().str() + " " + quoted(transferOf(op)) +
               " group " + std::to_string(op.getGroup().at(index)[0]) + ": " +
               number(op.getSrc()) + " -> " + number(op.getDst()) + " " +
               reductionOf(op).str() + " " + op.getAlgorithm().str() +
               " root " + std::to_string(op.getRoot()) +
               (op.getSchedule()
                    ? " schedule " + std::to_string(*op.getSchedule())
                    : "") +
               " starts " + std::to_string(op.getStarts());
  }

  std::string lineOf(rank::WaitOp op) {
    return "wait for " + started[op.getEvent().getDefiningOp()];
  }

  std::string lineOf(rank::ProbeOp op) {
    return "offer " + quoted(op.getName()) + " " + number(op.getBuffer());
  }

  rank::FuncOp func;
  const size_t index;
  Functors &functors;
  size_t position = 0;
  llvm::DenseMap<Operation *, size_t> numbers;
  llvm::DenseMap<Operation *, std::string> started;
  RankActions result;
};

} // namespace

RankActions codegen::actionsOf(rank::FuncOp func, size_t index,
                               Functors &functors) {
  return RankLister(func, index, functors).run();
}

/// Of long lines what stands around the first difference.
static std::pair<std::string, std::string> shortened(StringRef wanted,
                                                     StringRef seen) {
  constexpr size_t kLong = 240, kAround = 40;
  if (wanted.size() < kLong || seen.size() < kLong)
    return {wanted.str(), seen.str()};
  size_t at = 0;
  while (at < std::min(wanted.size(), seen.size()) && wanted[at] == seen[at])
    ++at;
  const size_t begin = at < kAround ? 0 : at - kAround;
  auto part = [&](StringRef line) {
    return (begin > 0 ? "..." : "") + line.substr(begin, 2 * kAround).str() +
           (begin + 2 * kAround < line.size() ? "..." : "");
  };
  return {part(wanted), part(seen)};
}

/// Fails at the first line in which what was found differs. `names` are those
/// of the lines, if they have any.
static Error compare(int64_t rank, StringRef what,
                     ArrayRef<std::string> expected,
                     ArrayRef<std::string> found, ArrayRef<StringRef> names) {
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    StringRef wanted = i < expected.size() ? StringRef(expected[i]) : "nothing";
    StringRef seen = i < found.size() ? StringRef(found[i]) : "nothing";
    if (wanted == seen)
      continue;
    const auto [expectedText, foundText] = shortened(wanted, seen);
    return llvm::createStringError(
        "rank " + Twine(rank) + ", " + what + " " + Twine(i) +
        (i < names.size() ? " '" + names[i] + "'" : Twine()) + ": expected " +
        expectedText + ", found " + foundText);
  }
  return Error::success();
}

Error codegen::compareWithText(ModuleOp module, Functors &functors,
                               const SourceFile &text,
                               const SourceFile &tables) {
  auto found = readProgram(text, tables);
  if (!found)
    return found.takeError();
  size_t numRanks = 0;
  for (auto func : module.getOps<rank::FuncOp>())
    numRanks += func.getRanks().size();
  if (numRanks != found->size())
    return llvm::createStringError("expected " + Twine(numRanks) +
                                   " ranks, found " + Twine(found->size()));
  for (auto func : module.getOps<rank::FuncOp>()) {
    SmallVector<StringRef> names;
    for (auto buffer : func.getBody().getOps<rank::BufferOp>())
      names.push_back(buffer.getName());
    for (auto [index, rank] : llvm::enumerate(func.getRanks())) {
      if (static_cast<size_t>(rank) >= numRanks)
        return llvm::createStringError("expected ranks below " +
                                       Twine(numRanks) + ", found " +
                                       Twine(rank) + " in the plan");
      const RankActions expected = actionsOf(func, index, functors);
      const RankActions &actions = (*found)[rank];
      if (Error error =
              compare(rank, "buffer", expected.buffers, actions.buffers, names))
        return error;
      for (auto [what, lines, others] :
           {std::tuple("group", &expected.groups, &actions.groups),
            std::tuple("schedule", &expected.schedules, &actions.schedules),
            std::tuple("slot", &expected.slots, &actions.slots),
            std::tuple("action", &expected.step, &actions.step),
            std::tuple("action of the update", &expected.update,
                       &actions.update)})
        if (Error error = compare(rank, what, *lines, *others, {}))
          return error;
    }
  }
  return Error::success();
}

LogicalResult codegen::checkText(ModuleOp module, Functors &functors,
                                 const SourceFile &text,
                                 const SourceFile &tables) {
  if (Error error = compareWithText(module, functors, text, tables))
    return module.emitError(
               "internal error: the text is not what was planned: ")
           << llvm::toString(std::move(error));
  return success();
}
