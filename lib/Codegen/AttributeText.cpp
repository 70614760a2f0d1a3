//===- AttributeText.cpp - attributes of kernels as C++ -------------------===//

#include "AttributeText.h"

#include "Text.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

std::string codegen::textOf(Attribute value) {
  if (auto boolean = dyn_cast<BoolAttr>(value))
    return boolean.getValue() ? "1" : "0";
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return literal(integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(value))
    return literal(number.getValueAsDouble());
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return "Ints" + braced(list.asArrayRef());
  if (auto list = dyn_cast<DenseF64ArrayAttr>(value))
    return "Reals" + braced(llvm::map_to_vector(
                         list.asArrayRef(), [](double number) -> std::string {
                           return literal(number);
                         }));
  if (auto text = dyn_cast<StringAttr>(value))
    return quoted(text);
  return "";
}

StringRef codegen::typeOf(Attribute value) {
  if (isa<DenseI64ArrayAttr>(value))
    return "Ints";
  if (isa<DenseF64ArrayAttr>(value))
    return "Reals";
  if (isa<StringAttr>(value))
    return "std::string";
  return isa<FloatAttr>(value) ? "double" : "int64_t";
}
