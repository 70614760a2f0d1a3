//===- Tables.cpp - what ranks have of a program, as text -----------------===//

#include "Tables.h"

#include "ReshardTable.h"
#include "ScheduleText.h"

#include "ffc/IR/NameOf.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

//===----------------------------------------------------------------------===//
// Buffers and slots
//===----------------------------------------------------------------------===//

static void printBuffer(TableList &list, rank::BufferOp op, size_t number) {
  ArrayRef<int64_t> global = op.getGlobal();
  list.line(Twine(number) + " " + op.getName());
  list.addText(op.getSection());
  list.add(op.getOffset(), 0);
  list.addText(wordOf(op.elementType()));
  list.addText(op.getOrder());
  list.add(static_cast<int64_t>(global.size()));
  const size_t ranks = list.func.getRanks().size();
  SmallVector<SmallVector<int64_t>> extents(global.size()),
      starts(global.size());
  for (size_t i = 0; i < ranks; ++i) {
    const LocalBox box = boxOf(op, i);
    for (size_t d = 0; d < global.size(); ++d) {
      extents[d].push_back(box.shape[d]);
      starts[d].push_back(box.lo[d]);
    }
  }
  for (const auto *numbers : {&extents, &starts})
    for (const auto &byRank : *numbers)
      list.add(ArrayRef<int64_t>(byRank));
  for (int64_t extent : global)
    list.add(extent);
}

static std::string initOf(rank::StateOp op) {
  std::string head = "{Init::" + op.getInit().str() + ", " +
                     literal(op.getValue().convertToDouble());
  // Only values from the file have an offset.
  if (op.getInit() != "file")
    return head + "}";
  return head + ", " + literal(static_cast<int64_t>(op.getOffset())) + "}";
}

/// Statistics are saved and loaded like parameters, averages like slots; copies
/// are made anew.
static std::string stateKindOf(rank::StateOp op) {
  if (op.getKind() == "statistic")
    return "parameter";
  if (op.getKind() == "average")
    return "slot";
  return op.getKind() == "copy" ? "constant" : op.getKind().str();
}

void TablePrinter::printState(Text &text, rank::StateOp op) {
  text.block("        {" + quoted(op.getName()) +
             ", StateKind::" + stateKindOf(op) + ", " + initOf(op) +
             (op.getOf() ? ", " + quoted(*op.getOf()) : "") + "},\n");
}

void TablePrinter::printSlots(TableList &list) {
  auto count = [](auto range) -> int64_t {
    return std::distance(range.begin(), range.end());
  };
  auto stateOps = list.func.getBody().getOps<rank::StateOp>();
  list.line("states");
  list.add(count(stateOps));
  for (rank::StateOp op : stateOps) {
    auto [entry, isNew] = states.insert({op.getNameAttr(), op});
    list.line(op.getName());
    list.add(static_cast<int64_t>(entry - states.begin()));
    list.add(op.getBuffer());
  }
  auto inputOps = list.func.getBody().getOps<rank::InputOp>();
  list.line("inputs");
  list.add(count(inputOps));
  for (rank::InputOp op : inputOps) {
    list.line(op.getName());
    list.add(static_cast<int64_t>(inputs.number(op.getName())));
    list.add(op.getBuffer());
  }
}

void TablePrinter::printLoss(TableList &list) {
  list.line("loss");
  auto losses = list.func.getBody().getOps<rank::LossOp>();
  if (losses.empty())
    list.addText("none");
  else
    list.add((*losses.begin()).getBuffer());
}

/// Slots and offers are boxes on every rank.
static LogicalResult checkBoxes(rank::FuncOp func) {
  for (Operation &op : func.getBody().front()) {
    if (!isa<rank::InputOp, rank::StateOp, rank::ProbeOp>(op))
      continue;
    auto buffer = op.getOperand(0).getDefiningOp<rank::BufferOp>();
    if (!buffer)
      return op.emitOpError("expected a buffer, found an absent one");
    for (auto [i, rank] : llvm::enumerate(func.getRanks()))
      if (plan::Region region = buffer.regionAt(i);
          !region.empty() && !region.isBox())
        return op.emitOpError()
               << "expected one box in '" << buffer.getName() << "' on rank "
               << rank << ", found several intervals in a dimension";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Members of layers
//===----------------------------------------------------------------------===//

void TablePrinter::printKernel(TableList &list, const Layer &layer,
                               const Member &member) {
  list.line(layer.identifier + "." + member.name);
  const std::vector<ArrayRef<Operation *>> turns = member.turnsOf(list.number);
  auto first =
      llvm::find_if(turns, [](const auto &turn) { return !turn.empty(); });
  if (first == turns.end()) {
    list.add(int64_t(0));
    return;
  }
  list.add(static_cast<int64_t>(turns.size()));
  list.add(static_cast<int64_t>(operators.number(member.op)));
  const rank::PerAttr task = cast<rank::KernelOp>(first->front()).getTask();
  list.add(task, 1);
  list.add(task, kTaskInstance);
  for (ArrayRef<Operation *> turn : turns) {
    list.add(static_cast<int64_t>(turn.size()));
    for (Operation *action : turn)
      printTile(list, layer, cast<rank::KernelOp>(action));
  }
}

void TablePrinter::printTile(TableList &list, const Layer &layer,
                             rank::KernelOp op) {
  list.add(static_cast<int64_t>(list.positions.at(op)));
  list.add(op.getTask(), 2);
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp<rank::BufferOp>())
      list.add(static_cast<int64_t>(layers.values->shardOf(operand)));
  list.add(static_cast<int64_t>(op.addedTo().size()));
  for (int64_t result : op.addedTo())
    list.add(result);
}

void TablePrinter::printDump(TableList &list, const Member &member) {
  const std::vector<ArrayRef<Operation *>> turns = member.turnsOf(list.number);
  list.add(static_cast<int64_t>(turns.size()));
  for (ArrayRef<Operation *> turn : turns) {
    list.add(static_cast<int64_t>(turn.size()));
    for (Operation *action : turn) {
      auto op = cast<rank::ProbeOp>(action);
      list.add(static_cast<int64_t>(outputs.number(op.getName())));
      list.add(op.getBuffer());
    }
  }
}

void TablePrinter::printPassOrder(TableList &list) {
  ArrayRef<size_t> order;
  if (!layers.passes.empty())
    order = layers.passOrder[list.number];
  list.line("passes");
  list.add(static_cast<int64_t>(order.size()));
  for (auto [i, pass] : llvm::enumerate(order)) {
    constexpr size_t kInLine = 16;
    if (i % kInLine == 0 && i > 0)
      list.more();
    list.add(static_cast<int64_t>(pass));
  }
  list.flush();
}

LogicalResult TablePrinter::printLayer(TableList &list, const Layer &layer) {
  for (size_t v = layer.numGiven; v < layer.values.size(); ++v) {
    const auto &buffers =
        layers.values->all()[layer.values[v]].buffers[list.number];
    list.line(layer.identifier + "." + layer.valueNames[v]);
    list.add(static_cast<int64_t>(buffers.size()));
    for (rank::BufferOp buffer : buffers)
      list.add(buffer.getResult());
  }
  for (const Member &member : layer.members) {
    if (member.kind == Statement::Kind::Kernel) {
      printKernel(list, layer, member);
      continue;
    }
    list.line(layer.identifier + "." + member.name);
    if (member.kind == Statement::Kind::Probe)
      printDump(list, member);
    else if (failed(printReshard(list, member, operators, transfers)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

LogicalResult TablePrinter::printClass(Text &text, size_t c) {
  rank::FuncOp func = classes[c];
  if (failed(checkBoxes(func)))
    return failure();
  TableList list(func, c);
  list.line("buffers");
  list.add(static_cast<int64_t>(list.buffers.size()));
  for (auto [i, buffer] :
       llvm::enumerate(func.getBody().getOps<rank::BufferOp>()))
    printBuffer(list, buffer, i);
  printSlots(list);
  printLoss(list);
  list.line("layers");
  list.add(static_cast<int64_t>(layers.layers.size()));
  list.flush();
  std::string lines = std::exchange(list.lines, "");
  for (auto [number, layer] : llvm::enumerate(layers.layers)) {
    list.takeCount();
    if (failed(printLayer(list, layer)))
      return failure();
    list.flush();
    lines += "  /* layer " + std::to_string(number) + " " +
             commentable(layer.name) + " */ " +
             std::to_string(list.takeCount()) + ",\n" +
             std::exchange(list.lines, "");
  }
  printPassOrder(list);
  lines += std::exchange(list.lines, "");
  const std::string name = "class" + std::to_string(c);
  text.line();
  text.line("/// Of " + describe(func.getRanks()) + ".");
  text.line("const int64_t " + name + "_numbers[] = {");
  text.block(lines);
  text.line("};");
  widths.push_back(list.own.size());
  if (list.own.empty())
    return success();
  text.line("const int64_t " + name + "_own[] = {");
  for (auto [row, rank] : llvm::enumerate(func.getRanks())) {
    std::string line = "  /* rank " + std::to_string(rank) + " */";
    for (const auto &column : list.own)
      line += " " + literal(column[row]) + ",";
    text.block(line + "\n");
  }
  text.line("};");
  return success();
}

LogicalResult TablePrinter::print(Text &text,
                                  ArrayRef<std::pair<size_t, size_t>> places) {
  text.line("namespace numbers {");
  text.line("using namespace ffrt::words;");
  for (size_t c = 0; c < classes.size(); ++c)
    if (failed(printClass(text, c)))
      return failure();
  text.line("} // namespace numbers");
  text.line();
  text.line("const Tables rank_tables = {");
  text.line("    /*groups=*/{");
  rank::FuncOp any = classes.front();
  for (Attribute group : any.getGroups())
    text.block("        " +
               braced(cast<DenseI64ArrayAttr>(group).asArrayRef()) + ",\n");
  text.line("    },");
  text.line("    /*schedules=*/{");
  for (auto schedule :
       any->getParentOfType<ModuleOp>().getOps<rank::ScheduleOp>())
    text.block("        " + llvm::join(literalsOf(schedule), "\n        ") +
               ",\n");
  text.line("    },");
  for (auto [name, list] :
       {std::pair("operators", &operators), std::pair("transfers", &transfers),
        std::pair("inputs", &inputs), std::pair("outputs", &outputs)}) {
    text.line("    /*" + Twine(name) + "=*/{");
    list->print(text, "        ");
    text.line("    },");
  }
  text.line("    /*states=*/{");
  for (auto &[name, op] : states)
    printState(text, op);
  text.line("    },");
  text.line("    /*classes=*/{");
  for (size_t c = 0; c < classes.size(); ++c) {
    const std::string name = "numbers::class" + std::to_string(c);
    const std::string list = name + "_numbers";
    text.block("        {" + list + ", std::size(" + list + "), " +
               (widths[c] ? name + "_own" : "nullptr") + ", " +
               std::to_string(widths[c]) + "},\n");
  }
  text.line("    },");
  text.line("    /*places=*/{");
  for (auto [c, row] : places)
    text.block("        {" + std::to_string(c) + ", " + std::to_string(row) +
               "},\n");
  text.line("    },");
  text.line("};");
  return success();
}
