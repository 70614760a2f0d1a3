//===- OnSignal.h - what a signal that ends ffc leaves behind ---*- C++ -*-===//
//
// A compilation has a folder and files under temporary names, and compilers
// that write into them. SIGINT, SIGTERM and SIGHUP end the commands, remove the
// paths, and then do what they did before these existed.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_CODEGEN_ONSIGNAL_H
#define FFC_CODEGEN_ONSIGNAL_H

#include "llvm/ADT/StringRef.h"

namespace ffc::codegen {

/// A path that is removed with all in it, if there is one of that name.
class RemovedOnSignal {
public:
  explicit RemovedOnSignal(llvm::StringRef path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal &) = delete;
  RemovedOnSignal &operator=(const RemovedOnSignal &) = delete;

private:
  int entry;
};

/// A group of processes that is ended, and gone before anything is removed.
class EndedOnSignal {
public:
  /// By the number of its first process, under 1 for none.
  explicit EndedOnSignal(int process);
  ~EndedOnSignal();
  EndedOnSignal(const EndedOnSignal &) = delete;
  EndedOnSignal &operator=(const EndedOnSignal &) = delete;

private:
  int entry;
};

} // namespace ffc::codegen

#endif // FFC_CODEGEN_ONSIGNAL_H
