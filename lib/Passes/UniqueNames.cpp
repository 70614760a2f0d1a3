//===- UniqueNames.cpp - names that no operator or state has yet ----------===//

#include "UniqueNames.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

UniqueNames::UniqueNames(Block &block) {
  for (Operation &op : block)
    if (auto state = dyn_cast<StateOp>(op))
      taken.try_emplace(state.getName(), 0);
    else if (isa<PartitionableInterface>(op))
      taken.try_emplace(ff::nameOf(&op), 0);
}

std::string UniqueNames::take(const Twine &wanted) {
  std::string name = wanted.str();
  while (!taken.try_emplace(name, 0).second)
    name = (wanted + "_" + Twine(++taken[wanted.str()])).str();
  return name;
}

void UniqueNames::rename(Operation *op) {
  const std::string wanted = ff::nameOf(op).str();
  if (wanted.empty())
    return;
  if (const std::string name = take(wanted); name != wanted)
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), name)));
}
