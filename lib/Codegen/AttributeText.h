//===- AttributeText.h - attributes of kernels as C++ -----------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_ATTRIBUTETEXT_H
#define FFC_LIB_CODEGEN_ATTRIBUTETEXT_H

#include "mlir/IR/Attributes.h"

#include <string>

namespace ffc::codegen {

/// "1", "0.5", "Ints{1, 2}"; empty for an attribute that has no text.
std::string textOf(mlir::Attribute value);

/// The type of a parameter that is such an attribute.
llvm::StringRef typeOf(mlir::Attribute value);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_ATTRIBUTETEXT_H
