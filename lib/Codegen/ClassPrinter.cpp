//===- ClassPrinter.cpp - the frame of a rank class -----------------------===//
//
// Names, tensors, slots and the order of the step; ActionPrinter.cpp has the
// statements.
//
//===----------------------------------------------------------------------===//

#include "ClassPrinter.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

ClassPrinter::ClassPrinter(rank::FuncOp func, const ProgramMeta &meta,
                           StringRef className, Functors &functors)
    : func(func), meta(meta), className(className.str()), functors(functors),
      sections(arrange(func, meta)) {
  nameEverything();
}

static StringRef wordOf(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return "forward";
  case Direction::Backward:
    return "backward";
  case Direction::Update:
    return "update";
  }
  llvm_unreachable("unknown direction");
}

/// True if the only use of an action's event is the next action of its method.
static bool isWaitedForAtOnce(Operation *action, const Method &method) {
  Operation *next = action->getNextNode();
  return action->getResult(0).hasOneUse() &&
         isa_and_nonnull<rank::WaitOp>(next) &&
         next->getOperand(0) == action->getResult(0) &&
         llvm::is_contained(method.actions, next);
}

/// Tensors choose first: they are read most.
void ClassPrinter::nameEverything() {
  for (auto buffer : func.getBody().getOps<rank::BufferOp>())
    valueNames[buffer] = scope.take(buffer.getName());
  for (auto kernel : func.getBody().getOps<rank::KernelOp>()) {
    StringRef name = nameOf(kernel.getLoc());
    auto op = meta.ops.find(name.str());
    StringRef word = wordOf(op == meta.ops.end() ? Direction::Forward
                                                 : op->second.direction);
    if (name.empty())
      name = kernel.getCallee();
    // A result is often called like its operator, gradients in particular.
    StringRef suffix = name.contains(word) ? "kernel" : word;
    kernelNames[kernel] = scope.take((name + "_" + suffix).str());
  }
  for (const Method &method : sections.methods)
    methodNames.push_back(scope.take(sections.layers[method.layer].name + "_" +
                                     wordOf(method.direction).str() + "_pass"));
  for (const Method &method : sections.methods)
    for (Operation *action : method.actions) {
      if (action->getNumResults() == 0 || isWaitedForAtOnce(action, method))
        continue;
      Value event = action->getResult(0);
      valueNames[event] =
          scope.take((nameOf(action->getLoc()) + "_event").str());
      if (llvm::any_of(event.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(method.actions, user);
          }))
        sharedEvents.push_back(event);
    }
}

//===----------------------------------------------------------------------===//
// Numbers and tensors
//===----------------------------------------------------------------------===//

std::string ClassPrinter::number(rank::PerAttr per, size_t column,
                                 StringRef owner, const Twine &meaning,
                                 Type type) {
  SmallVector<int64_t> values;
  for (size_t i = 0; i < func.getRanks().size(); ++i)
    values.push_back(per.at(i)[column]);
  return numbers.number(values, owner, meaning, type);
}

std::string ClassPrinter::numbersOf(rank::PerAttr per, StringRef owner,
                                    StringRef meaning) {
  SmallVector<std::string> parts;
  for (size_t column = 0; column < per.at(0).size(); ++column)
    parts.push_back(number(per, column, owner, meaning + Twine(column)));
  return braced(parts);
}

std::string ClassPrinter::tensor(Value buffer) const {
  auto it = valueNames.find(buffer);
  return it == valueNames.end() ? "absent" : it->second;
}

std::string ClassPrinter::tensors(ValueRange buffers) const {
  return braced(llvm::map_to_vector(
      buffers, [&](Value buffer) { return tensor(buffer); }));
}

LogicalResult ClassPrinter::checkBox(Operation *op, Value value) const {
  auto buffer = value.getDefiningOp<rank::BufferOp>();
  if (!buffer)
    return op->emitOpError("expected a buffer, found an absent one");
  for (auto [i, rank] : llvm::enumerate(func.getRanks()))
    if (plan::Region region = buffer.regionAt(i);
        !region.empty() && !region.isBox())
      return op->emitOpError()
             << "expected one box in '" << buffer.getName() << "' on rank "
             << rank << ", found several intervals in a dimension";
  return success();
}

void ClassPrinter::print(Text &text, rank::BufferOp op) {
  const std::string &name = valueNames[op];
  ArrayRef<int64_t> global = op.getGlobal();
  size_t ranks = func.getRanks().size();
  bool isWhole = true;
  SmallVector<std::string> shape, lo;
  for (size_t d = 0; d < global.size(); ++d) {
    SmallVector<int64_t> extents, starts;
    for (size_t i = 0; i < ranks; ++i) {
      plan::Region region = op.regionAt(i);
      extents.push_back(region.shape()[d]);
      // Packed intervals are seen as a box from the first one on.
      starts.push_back(region.dim(d).empty() ? 0 : region.dim(d).front().lo);
      isWhole &= extents.back() == global[d];
    }
    shape.push_back(numbers.number(extents, name, "extent" + Twine(d)));
    lo.push_back(numbers.number(starts, name, "lo" + Twine(d)));
  }
  std::string call = "Tensor " + name + " = " + op.getSection().str() + "(" +
                     number(op.getOffset(), 0, name, "offset") + ", " +
                     (op.elementType() == plan::ElementType::Bool
                          ? "boolean"
                          : plan::str(op.elementType())) +
                     ", " + op.getOrder().str() + ", " + braced(shape);
  if (!isWhole)
    call += ", " + braced(lo) + ", " + braced(global);
  text.line(call + ");");
}

void ClassPrinter::printTensors(Text &text) {
  text.banner("tensors");
  for (const Layer &layer : sections.layers) {
    if (layer.buffers.empty())
      continue;
    text.line();
    text.comment("//", layer.name);
    for (rank::BufferOp buffer : layer.buffers)
      print(text, buffer);
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

LogicalResult ClassPrinter::print(Text &text, rank::InputOp op) {
  if (failed(checkBox(op, op.getBuffer())))
    return failure();
  text.line("{" + quoted(op.getName()) + ", " + tensor(op.getBuffer()) + "},");
  return success();
}

static std::string initOf(rank::StateOp op) {
  std::string head = "{Init::" + op.getInit().str() + ", " +
                     literal(op.getValue().convertToDouble());
  // Only values from the file have an offset.
  if (op.getInit() != "file")
    return head + "}";
  return head + ", " + literal(static_cast<int64_t>(op.getOffset())) + "}";
}

LogicalResult ClassPrinter::print(Text &text, rank::StateOp op) {
  if (failed(checkBox(op, op.getBuffer())))
    return failure();
  // Statistics are saved and loaded like parameters.
  const bool saved = op.getKind() == "parameter" || op.getKind() == "statistic";
  text.line("{" + quoted(op.getName()) + ", /*parameter=*/" +
            (saved ? "true" : "false") + ", " + initOf(op) + ", " +
            tensor(op.getBuffer()) +
            (op.getOf() ? ", /*of=*/" + quoted(*op.getOf()) : "") + "},");
  return success();
}

LogicalResult ClassPrinter::printSlots(Text &text) {
  auto printList = [&](StringRef head, auto ops) -> LogicalResult {
    if (ops.empty()) {
      text.line(head + "() override { return {}; }");
      text.line();
      return success();
    }
    text.line(head + "() override {");
    text.line("  return {");
    text.indent();
    text.indent();
    text.indent();
    for (auto op : ops)
      if (failed(print(text, op)))
        return failure();
    text.outdent();
    text.outdent();
    text.outdent();
    text.line("  };");
    text.line("}");
    text.line();
    return success();
  };
  return success(succeeded(printList("std::vector<StateSlot> states",
                                     func.getBody().getOps<rank::StateOp>())) &&
                 succeeded(printList("std::vector<InputSlot> inputs",
                                     func.getBody().getOps<rank::InputOp>())));
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

/// "Ranks 0-2, 5": of many ranks only the first ranges.
static std::string str(ArrayRef<int64_t> ranks) {
  std::string text = ranks.size() == 1 ? "Rank " : "Ranks ";
  for (size_t begin = 0, ranges = 0; begin < ranks.size(); ++ranges) {
    if (ranges == 8)
      return text + " and " + std::to_string(ranks.size() - begin) + " more";
    size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
      ++end;
    if (begin)
      text += ", ";
    text += std::to_string(ranks[begin]);
    if (end > begin + 1)
      text += "-" + std::to_string(ranks[end - 1]);
    begin = end;
  }
  return text;
}

void ClassPrinter::printCalls(Text &text, StringRef name,
                              ArrayRef<std::string> methods) {
  if (methods.empty()) {
    text.line("void " + name + "() override {}");
    text.line();
    return;
  }
  text.line("void " + name + "() override {");
  text.indent();
  for (const std::string &method : methods)
    text.line(method + "();");
  text.outdent();
  text.line("}");
  text.line();
}

void ClassPrinter::printStep(Text &text) {
  ArrayRef<std::string> methods = methodNames;
  if (func.getMicroBatches() == 1)
    return printCalls(text, "step", methods);
  printCalls(text, "step", methods.take_front(sections.microBatchMethods));
  printCalls(text, "update", methods.drop_front(sections.microBatchMethods));
}

void ClassPrinter::printLoss(Text &text) {
  auto losses = func.getBody().getOps<rank::LossOp>();
  std::string value = "{}";
  if (!losses.empty())
    value = tensor((*losses.begin()).getBuffer());
  text.line("Tensor loss() override { return " + value + "; }");
  text.line();
}

/// In the order in which the step starts them.
void ClassPrinter::printTasks(Text &text) {
  text.line("std::vector<TaskId> " + className + "::tasks() {");
  text.line("  return {");
  for (const Method &method : sections.methods)
    for (Operation *action : method.actions) {
      auto task = action->getAttrOfType<rank::PerAttr>("task");
      if (!task)
        continue;
      StringRef name = nameOf(action->getLoc());
      text.line("      {" + quoted(name.empty() ? "-" : name) + ", " +
                number(task, 1, name, "phase", Type::Int) + ", " +
                number(task, 2, name, "point", Type::Int) + ", " +
                number(task, 3, name, "instance", Type::Int) + "},");
    }
  text.line("  };");
  text.line("}");
}

LogicalResult ClassPrinter::printLayer(Text &text, const Layer &layer) {
  auto op = meta.ops.find(layer.name);
  bool hasType = op != meta.ops.end() && !op->second.type.empty();
  text.line();
  text.banner(layer.name + (hasType ? ": " + op->second.type : ""));
  bool hasKernels = false;
  for (size_t index : layer.methods)
    for (Operation *action : sections.methods[index].actions)
      if (auto kernel = dyn_cast<rank::KernelOp>(action)) {
        if (!hasKernels)
          text.line();
        if (failed(declare(text, kernel)))
          return failure();
        hasKernels = true;
      }
  for (size_t index : layer.methods) {
    const Method &method = sections.methods[index];
    text.line();
    printSummaries(text, method);
    text.line("void " + methodNames[index] + "() {");
    text.indent();
    ArrayRef<Operation *> actions = method.actions;
    while (!actions.empty()) {
      size_t printed = 1;
      if (isa<rank::CopyOp>(actions.front())) {
        CopySeries series =
            CopySeries::startOf(actions, func.getRanks().size());
        print(text, series);
        printed = series.length;
      } else if (failed(printStatement(text, actions.front()))) {
        return failure();
      }
      actions = actions.drop_front(printed);
    }
    text.outdent();
    text.line("}");
  }
  return success();
}

/// A line per operator: what it computes, how much and where.
void ClassPrinter::printSummaries(Text &text, const Method &method) {
  StringRef previous;
  for (Operation *action : method.actions) {
    StringRef name = nameOf(action->getLoc());
    auto op = meta.ops.find(name.str());
    if (!isa<rank::KernelOp>(action) || name == previous ||
        op == meta.ops.end())
      continue;
    previous = name;
    const OpMeta &facts = op->second;
    SmallVector<std::string> parts;
    if (!facts.shapes.empty())
      parts.push_back(facts.shapes);
    if (facts.flops > 0)
      parts.push_back(unbroken(withPrefix(facts.flops) + "FLOP"));
    if (!facts.strategy.empty())
      parts.push_back(unbroken(facts.strategy));
    text.comment("//",
                 name + (parts.empty() ? "" : ": ") + llvm::join(parts, "; "));
  }
}

LogicalResult ClassPrinter::print(Text &text, Text &tasks) {
  // The body comes first, because it decides what the rows of the table hold.
  Text body;
  body.indent();
  printTensors(body);
  for (const Layer &layer : sections.layers)
    if (failed(printLayer(body, layer)))
      return failure();
  if (!sharedEvents.empty())
    body.line();
  for (Value event : sharedEvents)
    body.line("Event " + valueNames[event] + ";");

  printTasks(tasks);

  Text head;
  head.indent();
  if (failed(printSlots(head)))
    return failure();
  head.line("std::vector<TaskId> tasks() override;");
  head.line();
  printStep(head);
  printLoss(head);

  bool hasTable = !numbers.empty();
  text.comment("///", str(func.getRanks()) + ".");
  text.line("class " + className + " final : public Program {");
  text.line("public:");
  text.line(hasTable ? "  " + className + "(Host &host, const " + className +
                           "Row &my) : Program(host), my(my) {}"
                     : "  explicit " + className +
                           "(Host &host) : Program(host) {}");
  text.line();
  text.append(std::move(head));
  text.line("private:");
  if (hasTable) {
    text.line("  const " + className + "Row &my;");
    text.line();
  }
  text.append(std::move(body));
  text.line("};");
  text.line();
  return success();
}

std::string ClassPrinter::rowsName() const {
  return StringRef(className).lower() + "_rows";
}

void ClassPrinter::printStruct(Text &text) const {
  if (numbers.empty())
    return;
  text.comment("///", "Numbers in which the ranks of " + Twine(className) +
                          " differ.");
  numbers.printStruct(text, className + "Row");
  text.line();
}

void ClassPrinter::printRows(Text &text) const {
  text.comment("///", str(func.getRanks()) + ".");
  numbers.printRows(text, className + "Row", rowsName(), func.getRanks());
}
