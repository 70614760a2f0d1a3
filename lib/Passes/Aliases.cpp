//===- Aliases.cpp - names of operators that became one -------------------===//

#include "Aliases.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;

void ffc::addAliases(Operation *op, Operation *part) {
  Builder builder(op->getContext());
  llvm::SmallSetVector<Attribute, 8> aliases;
  auto add = [&](Operation *from) {
    if (auto list = from->getAttrOfType<ArrayAttr>(ff::kAliasesAttr))
      aliases.insert(list.begin(), list.end());
  };
  add(op);
  if (StringRef name = ff::nameOf(part); !name.empty())
    aliases.insert(builder.getStringAttr(name));
  add(part);
  if (!aliases.empty())
    op->setAttr(ff::kAliasesAttr, builder.getArrayAttr(aliases.getArrayRef()));
}
