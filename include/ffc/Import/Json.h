//===- Json.h - JSON of bounded depth ---------------------------*- C++ -*-===//
#ifndef FFC_IMPORT_JSON_H
#define FFC_IMPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace ffc {

/// As llvm::json::parse, which has no bound on how deep values lie in each
/// other, and takes stack for each level: here at most 100.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace ffc

#endif // FFC_IMPORT_JSON_H
