//===- RankTable.cpp - numbers in which the ranks of a class differ -------===//

#include "RankTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

std::string RankTable::number(ArrayRef<int64_t> values, StringRef owner,
                              const Twine &meaning, Type type) {
  if (all_equal(values))
    return literal(values.front());
  auto [entry, isNew] = byValues.try_emplace(
      std::make_pair(meaning.str(), values.vec()), fields.size());
  if (isNew)
    fields.push_back(
        {names.take((owner + "_" + meaning).str()), type, values.vec(), {}});
  Field &field = fields[entry->second];
  if (field.users.empty() || field.users.back() != owner)
    field.users.push_back(owner.str());
  return "my." + field.name;
}

void RankTable::printStruct(Text &text, StringRef name) const {
  text.line("struct " + name + " {");
  text.indent();
  for (const Field &field : fields) {
    if (field.users.size() > 1)
      text.comment("//",
                   Twine("Also of ") + field.users[1] +
                       (field.users.size() == 2
                            ? ":"
                            : " and " + std::to_string(field.users.size() - 2) +
                                  " more:"));
    text.line((field.type == Type::Int ? "int " : "int64_t ") + field.name +
              ";");
  }
  text.outdent();
  text.line("};");
}

void RankTable::printRows(Text &text, StringRef structName, StringRef tableName,
                          ArrayRef<int64_t> ranks) const {
  text.line("const " + structName + " " + tableName + "[] = {");
  text.indent();
  for (size_t row = 0; row < ranks.size(); ++row) {
    text.line(
        "/* rank " + Twine(ranks[row]) + " */ " +
        braced(map_to_vector(
            fields, [&](const Field &field) { return field.values[row]; })) +
        ",");
  }
  text.outdent();
  text.line("};");
}
