//===- InternalError.h - faults that are ours -------------------*- C++ -*-===//
//
// What a verifier or an assertion finds is no fault of the user's input. The
// message says so, and what to try until the fault is mended.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TOOLS_FFC_INTERNALERROR_H
#define FFC_TOOLS_FFC_INTERNALERROR_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace ffc {

struct Options;

/// "internal error: WHAT; please report ...", with flags that most faults of
/// compilers do not come with and that `options` do not have yet. `details` are
/// for whoever mends it.
std::string internalError(const llvm::Twine &what, const Options &options,
                          const llvm::Twine &details = "");

/// Lets the command end with such a message where it would crash, and with
/// another one where it gets no memory.
void reportCrashes();

} // namespace ffc

#endif // FFC_TOOLS_FFC_INTERNALERROR_H
