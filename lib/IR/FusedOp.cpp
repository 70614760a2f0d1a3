//===- FusedOp.cpp - ff.fused: element-wise operators in one pass ---------===//

#include "Broadcast.h"
#include "ffc/IR/ScalarProgram.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  FunctionType type;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), start,
                             result.operands))
    return failure();
  result.addTypes(type.getResults());
  return success();
}

void FusedOp::print(OpAsmPrinter &printer) {
  printer << "(" << getInputs() << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

bool ff::isNarrowing(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && getElementTypeOrSelf(cast.getX()).isF32() &&
         isNarrow(cast.getY());
}

bool ff::isWidening(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && isNarrow(cast.getX()) &&
         getElementTypeOrSelf(cast.getY()).isF32();
}

bool ff::isElementwise(Operation *op) {
  return isa<UnaryOp, UnaryBackwardOp, BinaryOp, SelectOp>(op);
}

LogicalResult FusedOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes()) // 1
    return emitOpError("expected block arguments of types ")
           << getInputs().getTypes() << ", found " << body.getArgumentTypes();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError("expected a body that ends with ff.yield");
  if (yield.getValues().getTypes() != getOutputs().getTypes()) // 1
    return emitOpError("expected yielded types ")
           << getOutputs().getTypes() << ", found "
           << yield.getValues().getTypes();
  if (getOutputs().empty())
    return emitOpError("expected at least one result, found none");

  auto first = cast<RankedTensorType>(getOutputs().front().getType());
  for (Type other : getOutputs().getTypes())
    if (cast<RankedTensorType>(other).getShape() != first.getShape()) // 2
      return emitOpError("expected results of one shape, found ")
             << first << " and " << other;
  // Of what is computed, before it is narrowed.
  Type type;
  int count = 0;
  for (Operation &op : body.without_terminator()) {
    ++count;
    if (isNarrowing(&op)) {
      if (!llvm::all_of(op.getUsers(), llvm::IsaPred<YieldOp>)) // 2
        return op.emitOpError("expected to be yielded, not read in the body");
      continue;
    }
    if (isWidening(&op)) // of an operand, since nothing else is narrow
      continue;
    if (!isElementwise(&op)) // 3
      return op.emitOpError("expected an element-wise operator in the body of "
                            "ff.fused");
    Type found = op.getResult(0).getType();
    if (!type)
      type = first.clone(getElementTypeOrSelf(found));
    if (found != type) // 2
      return op.emitOpError("expected type ")
             << type << " in the body of ff.fused, found " << found;
  }
  if (count < 2) // 3
    return emitOpError("expected at least 2 operators in the body, found ")
           << count;
  for (Value value : yield.getValues())
    if (isa<BlockArgument>(value)) // 1
      return emitOpError("expected results of the body to be yielded, found an "
                         "operand");
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

plan::OpRules FusedOp::getRules() {
  double flops = 0;
  for (auto op : getBody().getOps<PartitionableInterface>())
    flops += op.getRules().schedules.front().phases.front().flopsPerPoint;
  return broadcastRules(*this, getFamily(), flops);
}

StringRef FusedOp::getFamily() { return "fused"; }

DictionaryAttr FusedOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr(
      "program",
      builder.getStringAttr(ScalarProgram::of(getBody().front()).str())));
}
