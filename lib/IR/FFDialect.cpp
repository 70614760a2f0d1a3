//===- FFDialect.cpp - the training graph dialect -------------------------===//

#include "ffc/IR/FF.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

#include "ffc/IR/FFOpsDialect.cpp.inc"
#include "ffc/IR/FFOpsEnums.cpp.inc"

#include "ffc/IR/FFInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ffc/IR/FFOpsAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "ffc/IR/FFOps.cpp.inc"

void FFDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ffc/IR/FFOpsAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ffc/IR/FFOps.cpp.inc"
      >();
}

StringRef ffc::nameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = nameOf(part); !name.empty())
        return name;
  return "";
}

plan::TensorType ff::tensorTypeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  plan::TensorType result;
  result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  result.type =
      TypeSwitch<Type, plan::ElementType>(tensor.getElementType())
          .Case<Float64Type>([](Type) { return plan::ElementType::F64; })
          .Case<BFloat16Type>([](Type) { return plan::ElementType::BF16; })
          .Case<Float16Type>([](Type) { return plan::ElementType::F16; })
          .Case<IntegerType>([](IntegerType t) {
            switch (t.getWidth()) {
            case 1:
              return plan::ElementType::Bool;
            case 8:
              return plan::ElementType::U8;
            case 64:
              return plan::ElementType::I64;
            default:
              return plan::ElementType::I32;
            }
          })
          .Default([](Type) { return plan::ElementType::F32; });
  return result;
}

/// Parses `{n = 2, h = 2}` after `grid =` and the device list.
Attribute ConfigAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> dims;
  SmallVector<int64_t> degrees, devices;
  SmallVector<DenseI64ArrayAttr> shares;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    SmallVector<int64_t> numbers(1);
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(numbers[0]))
      return failure();
    while (succeeded(parser.parseOptionalColon()))
      if (parser.parseInteger(numbers.emplace_back()))
        return failure();
    dims.push_back(StringAttr::get(parser.getContext(), name));
    const bool isDegree = numbers.size() == 1;
    degrees.push_back(isDegree ? numbers[0]
                               : static_cast<int64_t>(numbers.size()));
    shares.push_back(DenseI64ArrayAttr::get(
        parser.getContext(),
        isDegree ? ArrayRef<int64_t>() : ArrayRef<int64_t>(numbers)));
    return success();
  };
  auto parseDevice = [&]() -> ParseResult {
    return parser.parseInteger(devices.emplace_back());
  };
  if (parser.parseLess() || parser.parseKeyword("grid") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseAxis) ||
      parser.parseComma() || parser.parseKeyword("devices") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDevice))
    return {};
  const bool again = succeeded(parser.parseOptionalComma());
  if ((again && parser.parseKeyword("again")) || parser.parseGreater())
    return {};
  return parser.getChecked<ConfigAttr>(parser.getContext(), dims, degrees,
                                       shares, devices, again);
}

void ConfigAttr::print(AsmPrinter &printer) const {
  printer << "<grid = {";
  for (size_t i = 0; i < getDims().size(); ++i) {
    printer << (i ? ", " : "") << getDims()[i].getValue() << " = ";
    if (getShares()[i].empty())
      printer << getDegrees()[i];
    else
      llvm::interleave(getShares()[i].asArrayRef(), printer.getStream(), ":");
  }
  printer << "}, devices = [";
  llvm::interleaveComma(getDevices(), printer.getStream());
  printer << (getAgain() ? "], again>" : "]>");
}

LogicalResult
ConfigAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<StringAttr> dims, ArrayRef<int64_t> degrees,
                   ArrayRef<DenseI64ArrayAttr> shares,
                   ArrayRef<int64_t> devices, bool) {
  if (dims.size() != degrees.size() || dims.size() != shares.size())
    return emitError() << "expected one degree, and shares or none, per "
                          "dimension, found "
                       << degrees.size() << " and " << shares.size() << " for "
                       << dims.size();
  for (auto [degree, ofAxis] : llvm::zip_equal(degrees, shares))
    if (!ofAxis.empty() && ofAxis.size() != degree)
      return emitError() << "expected " << degree << " shares, found "
                         << ofAxis.size();
  int64_t points = 1;
  for (int64_t degree : degrees) {
    if (degree < 1)
      return emitError() << "expected a positive degree, found " << degree;
    points *= degree;
  }
  if (points != static_cast<int64_t>(devices.size()))
    return emitError() << "expected " << points
                       << " devices, one per grid point, found "
                       << devices.size();
  return success();
}
