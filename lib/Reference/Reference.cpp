//===- Reference.cpp - the meaning of every kernel ------------------------===//

#include "ffc/Reference/Reference.h"

#include "ReferenceFamilies.h"
#include "ffc/IR/ElementKernels.h"

using namespace ffc;
using namespace ffc::ff;
using llvm::StringRef;

/// At first the compiler's own.
static ReferenceKernels &table() {
  static ReferenceKernels kernels = elementKernels();
  return kernels;
}

void ff::registerReference(StringRef name, ReferenceKernel kernel) {
  bool isNew = table().try_emplace(name, kernel).second;
  assert(isNew && "reference kernel registered twice");
  (void)isNew;
}

ReferenceKernel ff::lookupReference(StringRef name) {
  static const bool registered = [] {
    for (auto registerFamily : kAllReferences)
      registerFamily();
    return true;
  }();
  (void)registered;
  return table().lookup(name);
}
