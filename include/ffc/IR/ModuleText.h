//===- ModuleText.h - the text of a module ----------------------*- C++ -*-===//
#ifndef FFC_IR_MODULETEXT_H
#define FFC_IR_MODULETEXT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace ffc {

/// How text of modules is printed: values have the names of their operators,
/// and locations stand where they are.
mlir::OpPrintingFlags moduleTextFlags();

/// The text of a verified module, which ends with a newline; the same as by
/// moduleTextFlags() and print(). What the module consists of is printed by
/// threads of its own, so nobody else may use the context meanwhile.
std::string moduleText(mlir::ModuleOp module);

} // namespace ffc

#endif // FFC_IR_MODULETEXT_H
