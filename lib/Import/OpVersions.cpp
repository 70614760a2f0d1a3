//===- OpVersions.cpp - forms that operators have had ---------------------===//

#include "OpVersions.h"

#include "Constant.h"
#include "Graph.h"
#include "OpForms.h"

#include "llvm/ADT/StringExtras.h"

using namespace ffc::importer;
using llvm::StringRef;
using llvm::Twine;

using Forms = llvm::ArrayRef<OpForm>;

static const llvm::StringMap<Forms> &formsByName() {
  static const llvm::StringMap<Forms> table = [] {
    llvm::StringMap<Forms> forms;
    for (Forms rest = opForms(); !rest.empty();) {
      StringRef name = rest.front().opType;
      Forms own = rest.take_while(
          [&](const OpForm &form) { return form.opType == name; });
      forms[name] = own;
      rest = rest.drop_front(own.size());
    }
    return forms;
  }();
  return table;
}

static int64_t firstVersion(const OpForm &form) {
  int64_t version = 0;
  StringRef(form.versions).split(' ').first.getAsInteger(10, version);
  return version;
}

/// "version 13 of ReduceMean (opset 17)".
static std::string versionText(const OpForm &form, int64_t opset) {
  int64_t found = 0;
  for (StringRef text : llvm::split(form.versions, ' ')) {
    int64_t version = 0;
    text.getAsInteger(10, version);
    if (found == 0 || version <= opset)
      found = version;
  }
  return ("version " + Twine(found) + " of " + form.opType + ", which opset " +
          Twine(opset) + " has")
      .str();
}

static bool hasAttribute(const OpForm &form, StringRef name) {
  return llvm::is_contained(llvm::split(form.attributes, ' '), name);
}

namespace {
/// The form that an operator has in an opset, among the others.
class FormInOpset {
public:
  FormInOpset(StringRef opType, int64_t opset)
      : forms(formsByName().lookup(opType)), form(forms.begin()) {
    for (const OpForm &later : forms)
      if (firstVersion(later) <= opset)
        form = &later;
  }

  bool isKnown() const { return !forms.empty(); }
  const OpForm &operator*() const { return *form; }
  const OpForm *operator->() const { return form; }

  /// Which other version has it says more than that this one lacks it.
  template <class HasIt> std::string elsewhere(HasIt hasIt) const {
    for (const OpForm *later = form + 1; later != forms.end(); ++later)
      if (hasIt(*later))
        return ("; it came with opset " + Twine(firstVersion(*later))).str();
    for (const OpForm *earlier = form; earlier-- != forms.begin();)
      if (hasIt(*earlier))
        return ("; opset " + Twine(firstVersion(earlier[1])) + " took it away")
            .str();
    return "";
  }

private:
  Forms forms;
  const OpForm *form;
};
} // namespace

static llvm::Error unknownVersions() {
  return makeError("internal error: its versions are not known");
}

llvm::Error ffc::importer::checkMostOperands(const onnx::NodeProto &node,
                                             int64_t opset) {
  const FormInOpset form(node.op_type(), opset);
  if (!form.isKnown())
    return unknownVersions();
  int operands = node.input_size();
  while (operands > 0 && node.input(operands - 1).empty())
    --operands;
  if (operands <= form->mostOperands)
    return llvm::Error::success();
  return makeError("expected at most " + Twine(form->mostOperands) +
                   " operands in " + versionText(*form, opset) + ", found " +
                   Twine(operands) + form.elsewhere([&](const OpForm &other) {
                     return other.mostOperands >= operands;
                   }));
}

llvm::Error ffc::importer::checkAttributes(const onnx::NodeProto &node,
                                           int64_t opset) {
  const FormInOpset form(node.op_type(), opset);
  if (!form.isKnown())
    return unknownVersions();
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    StringRef name = attribute.name();
    if (hasAttribute(*form, name))
      continue;
    std::string where = form.elsewhere(
        [&](const OpForm &other) { return hasAttribute(other, name); });
    if (where.empty())
      return makeError("unknown attribute '" + name + "'");
    return makeError("attribute '" + name + "' is none of " +
                     versionText(*form, opset) + where);
  }
  return llvm::Error::success();
}
