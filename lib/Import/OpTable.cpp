//===- OpTable.cpp - the operators that can be imported -------------------===//

#include "OpTable.h"

#include "ffc/Import/Import.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cassert>

using namespace ffc::importer;

using Table = llvm::StringMap<OpInfo>;

static Table &registered() {
  static Table ops;
  return ops;
}

void ffc::importer::registerOp(llvm::StringRef name, const OpInfo &info) {
  bool isNew = registered().try_emplace(name, info).second;
  assert(isNew && "importer registered twice");
  (void)isNew;
}

static const Table &table() {
  static const bool isComplete = [] {
    for (auto registerFamily : kAllImporters)
      registerFamily();
    return true;
  }();
  (void)isComplete;
  return registered();
}

const OpInfo *ffc::importer::lookupOp(llvm::StringRef name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

std::vector<std::string> ffc::importedOperators() {
  std::vector<std::string> names;
  for (const auto &op : table())
    names.push_back(op.getKey().str());
  llvm::sort(names);
  return names;
}
