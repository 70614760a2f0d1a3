//===- TableList.cpp - the numbers of a class of ranks --------------------===//

#include "TableList.h"

using namespace llvm;
using namespace ffc::codegen;

size_t NameList::number(StringRef name) {
  auto [entry, isNew] = numbers.try_emplace(name, names.size());
  if (isNew)
    names.push_back(name.str());
  return entry->second;
}

void NameList::print(Text &text, StringRef indent) const {
  for (const std::string &name : names)
    text.block((indent + quoted(name) + ",\n").str());
}
