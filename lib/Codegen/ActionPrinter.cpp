//===- ActionPrinter.cpp - the statements of a rank class -----------------===//

#include "ClassPrinter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The text of a kernel's attribute, or "" for one that has none.
static std::string textOf(Attribute value) {
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue() ? "1" : "0";
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return literal(integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(value))
    return literal(number.getValueAsDouble());
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return braced(list.asArrayRef());
  if (auto list = dyn_cast<DenseF64ArrayAttr>(value))
    return braced(llvm::map_to_vector(
        list.asArrayRef(),
        [](double number) -> std::string { return literal(number); }));
  if (auto text = dyn_cast<StringAttr>(value))
    return quoted(text);
  return "";
}

LogicalResult ClassPrinter::declare(Text &text, rank::KernelOp op) {
  bool isFused = Functors::isFused(op);
  FailureOr<std::string> kernel =
      isFused ? functors.classOf(op) : toClassName(op.getCallee());
  if (failed(kernel))
    return failure();
  std::string line = *kernel + " " + kernelNames[op] + "{cx, " +
                     tensors(op.getIns()) + ", " + tensors(op.getOuts());
  // What a fused kernel computes is part of its class.
  if (isFused) {
    text.line(line + "};");
    return success();
  }
  // Attributes are sorted by name, as constructors expect them (kernel.h).
  for (NamedAttribute arg : op.getArgs()) {
    std::string value = textOf(arg.getValue());
    if (value.empty())
      return op.emitOpError()
             << "expected a number, a list of numbers or a string for '"
             << arg.getName().getValue() << "', found " << arg.getValue();
    line += ", /*" + arg.getName().str() + "=*/" + value;
  }
  text.line(line + "};");
  return success();
}

void ClassPrinter::print(Text &text, rank::KernelOp op) {
  text.line("compute(" + kernelNames[op] + ", " + tensors(op.getIns()) + ", " +
            tensors(op.getOuts()) + ");");
}

/// Names of the loops' counters, outermost first.
static std::string counter(size_t loop) {
  static constexpr StringLiteral names = "ijklmnop";
  return loop < names.size() ? names.substr(loop, 1).str()
                             : "i" + std::to_string(loop);
}

std::string ClassPrinter::placeOf(const CopySeries &series, size_t copy,
                                  rank::PerAttr start, size_t first,
                                  StringRef owner, StringRef meaning) {
  SmallVector<std::string> parts;
  for (size_t column = 0; column < start.at(0).size(); ++column) {
    std::string sum = number(start, column, owner, meaning + Twine(column));
    for (auto [i, loop] : llvm::enumerate(series.loops)) {
      const int64_t stride = loop.strides[copy][first + column];
      if (stride == 0)
        continue;
      const std::string term =
          (std::abs(stride) == 1 ? "" : literal(std::abs(stride)) + " * ") +
          counter(i);
      if (sum == "0" && stride > 0)
        sum = term;
      else
        sum += (stride < 0 ? " - " : " + ") + term;
    }
    parts.push_back(std::move(sum));
  }
  return braced(parts);
}

void ClassPrinter::print(Text &text, const CopySeries &series) {
  const bool isBlock = series.body.size() > 1;
  for (auto [i, loop] : llvm::enumerate(series.loops)) {
    const std::string name = counter(i);
    text.line("for (int64_t " + name + " = 0; " + name + " < " +
              literal(loop.count) + "; ++" + name + ")" +
              (isBlock && i + 1 == series.loops.size() ? " {" : ""));
    text.indent();
  }
  for (auto [i, op] : llvm::enumerate(series.body)) {
    rank::CopyOp copy = op;
    std::string dst = tensor(copy.getDst()), src = tensor(copy.getSrc());
    const StringRef how = copy.getCombine();
    const bool isMean = how == rank::kMeanWord;
    const bool combines = how != "none" && !isMean;
    std::string line = (isMean     ? "accumulate(cx, "
                        : combines ? "combine("
                                   : "copy(") +
                       dst + ", " +
                       placeOf(series, i, copy.getDstAt(), 0, dst, "to") +
                       ", " + src + ", " +
                       placeOf(series, i, copy.getSrcAt(),
                               copy.getDstAt().at(0).size(), src, "from") +
                       ", " + numbersOf(copy.getSize(), src, "size");
    if (combines)
      line += ", ReduceOp::" + how.str();
    text.line(line + ");");
  }
  for (size_t i = series.loops.size(); i-- > 0;) {
    text.outdent();
    if (isBlock && i + 1 == series.loops.size())
      text.line("}");
  }
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

std::string ClassPrinter::label(Operation *op, Value about) const {
  StringRef name = nameOf(op->getLoc());
  StringRef moved = about.getDefiningOp<rank::BufferOp>().getName();
  if (auto loc = dyn_cast<NameLoc>(op->getLoc()))
    if (auto value = dyn_cast<NameLoc>(loc.getChildLoc()))
      moved = value.getName();
  if (name.empty() || name == moved)
    return quoted(moved);
  return quoted((name + " <- " + moved).str());
}

std::string ClassPrinter::messages(ValueRange buffers, rank::PerAttr peers,
                                   StringRef meaning) {
  SmallVector<std::string> parts;
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    std::string name = tensor(buffer);
    parts.push_back("{" + number(peers, i, name, meaning, Type::Int) + ", " +
                    name + "}");
  }
  return braced(parts);
}

std::string ClassPrinter::callOf(rank::ExchangeOp op) {
  Value about =
      op.getReceives().empty() ? op.getSends()[0] : op.getReceives()[0];
  return "comm.exchange(" + label(op, about) + ", /*tag=*/" +
         literal(static_cast<int64_t>(op.getTag())) + ", " +
         messages(op.getSends(), op.getSendPeers(), "to") + ", " +
         messages(op.getReceives(), op.getReceivePeers(), "from") + ")";
}

std::string ClassPrinter::callOf(rank::CollectiveOp op) {
  std::string src = tensor(op.getSrc()), dst = tensor(op.getDst());
  std::string call = "comm." + op.getKind().str() + "(" +
                     label(op, op.getDst()) + ", groups[" +
                     number(op.getGroup(), 0, src, "group", Type::Int) + "], ";
  if (op.getKind() == "broadcast")
    call += "/*root=*/" + literal(static_cast<int64_t>(op.getRoot())) + ", ";
  call += src;
  if (src != dst)
    call += ", " + dst;
  if (op.getReduce() != "none")
    call += ", ReduceOp::" + op.getReduce().str();
  // Others have one algorithm only.
  if (op.getKind() == "all_reduce" && op.getAlgorithm() != "library")
    call += ", CollectiveAlgorithm::" + op.getAlgorithm().str();
  return call + ")";
}

void ClassPrinter::printEvent(Text &text, Operation *op,
                              const std::string &call) {
  Value event = op->getResult(0);
  auto name = valueNames.find(event);
  if (name == valueNames.end())
    text.line("comm.wait(" + call + ");");
  else if (event.use_empty())
    text.line(call + ";");
  else
    text.line((llvm::is_contained(sharedEvents, event) ? "" : "Event ") +
              name->second + " = " + call + ";");
}

/// The wait for an event without a name is part of the call that gives it.
void ClassPrinter::print(Text &text, rank::WaitOp op) {
  auto name = valueNames.find(op.getEvent());
  if (name != valueNames.end())
    text.line("comm.wait(" + name->second + ");");
}

LogicalResult ClassPrinter::print(Text &text, rank::ProbeOp op) {
  if (failed(checkBox(op, op.getBuffer())))
    return failure();
  text.line("probe.offer(" + quoted(op.getName()) + ", " +
            tensor(op.getBuffer()) + ");");
  return success();
}

LogicalResult ClassPrinter::printStatement(Text &text, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<rank::KernelOp, rank::WaitOp>([&](auto op) {
        print(text, op);
        return success();
      })
      .Case<rank::ExchangeOp, rank::CollectiveOp>([&](auto op) {
        printEvent(text, op, callOf(op));
        return success();
      })
      .Case<rank::ProbeOp>([&](auto op) { return print(text, op); })
      .Default(
          [](Operation *op) { return op->emitOpError("has no text form"); });
}
