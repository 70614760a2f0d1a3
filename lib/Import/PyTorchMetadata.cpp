//===- PyTorchMetadata.cpp - what PyTorch's exporter notes ----------------===//
//
// torch.onnx.export (dynamo) writes the signature of the exported program, in
// which every parameter has a placeholder; marks values as PARAMETER or BUFFER;
// names what a folded value was made of; and keeps at every node the call that
// it came from, with the placeholders that this read.
//
//===----------------------------------------------------------------------===//

#include "PyTorchMetadata.h"

#include "Graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ffc::importer;
using llvm::StringRef;
using onnx::NodeProto;

static constexpr char kSignature[] =
    "pkg.torch.export.ExportedProgram.graph_signature";
static constexpr char kKind[] =
    "pkg.torch.export.graph_signature.InputSpec.kind";
static constexpr char kPlaceholder[] = "pkg.torch.onnx.original_node_name";
static constexpr char kFoldedFrom[] = "pkg.onnxscript.optimizer.folded_from";
static constexpr char kCall[] = "pkg.torch.onnx.fx_node";
static constexpr char kRules[] = "pkg.onnxscript.rewriter.rule_name";

static std::string entry(const Metadata &metadata, const char *key) {
  auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

/// The strings of a list as Python prints it: ['a', 'b'].
static std::vector<std::string> quotedParts(StringRef list) {
  std::vector<std::string> parts;
  for (auto [text, rest] = list.split('\''); !rest.empty();
       std::tie(text, rest) = rest.split('\'')) {
    std::tie(text, rest) = rest.split('\'');
    parts.push_back(text.str());
  }
  return parts;
}

StringRef ffc::importer::lastComponent(StringRef name) {
  return name.rsplit('.').second.empty() ? name : name.rsplit('.').second;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool ffc::importer::isFromPyTorch(const onnx::ModelProto &model) {
  return model.producer_name() == "pytorch";
}

std::unique_ptr<ExporterMetadata>
ffc::importer::readPyTorchMetadata(const onnx::ModelProto &model) {
  if (!isFromPyTorch(model))
    return nullptr;
  auto metadata = std::make_unique<PyTorchMetadata>();
  metadata->read(model.graph());
  return metadata;
}

void PyTorchMetadata::read(const onnx::GraphProto &graph) {
  // "p_fc_weight: PARAMETER target='fc.weight'"
  llvm::SmallVector<StringRef> lines;
  const std::string signature = entry(metadataOf(graph), kSignature);
  StringRef(signature).split(lines, '\n');
  for (StringRef line : lines) {
    auto [placeholder, rest] = line.split(": ");
    auto [kind, target] = rest.split(" target='");
    target = target.split('\'').first;
    if (target.empty())
      continue;
    if (kind == "PARAMETER") {
      parameters.push_back(target.str());
      targets[placeholder] = target.str();
      isListed.insert(target);
    } else if (kind == "BUFFER") {
      buffers.insert(target);
    }
  }
  for (const onnx::ValueInfoProto &value : graph.value_info())
    addNotes(value.name(), metadataOf(value));
  for (const onnx::TensorProto &tensor : graph.initializer())
    addNotes(tensor.name(), metadataOf(tensor));
  for (const NodeProto &node : graph.node())
    for (const std::string &parameter : parametersOf(node))
      readers.try_emplace(parameter, labelOf(node));
  hasMarks = !marks.empty();
}

void PyTorchMetadata::addNotes(StringRef value, const Metadata &metadata) {
  if (std::string kind = entry(metadata, kKind); !kind.empty()) {
    auto target = targets.find(entry(metadata, kPlaceholder));
    marks[value] = {kind,
                    target == targets.end() ? value.str() : target->second};
  }
  if (std::string list = entry(metadata, kFoldedFrom); !list.empty())
    foldedFrom[value] = quotedParts(list);
}

std::vector<std::string>
PyTorchMetadata::parametersOf(const NodeProto &node) const {
  std::vector<std::string> found;
  if (targets.empty())
    return found;
  const std::string call = callOf(node);
  // The first placeholder is the result.
  auto [result, rest] = StringRef(call).split('%').second.split('%');
  for (StringRef placeholder; !rest.empty();) {
    std::tie(placeholder, rest) = rest.split('%');
    auto target = targets.find(placeholder.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; }));
    if (target != targets.end() && !llvm::is_contained(found, target->second))
      found.push_back(target->second);
  }
  return found;
}

std::string PyTorchMetadata::callOf(const NodeProto &node) {
  return entry(metadataOf(node), kCall);
}

std::string PyTorchMetadata::rulesOf(const NodeProto &node) {
  return entry(metadataOf(node), kRules);
}

//===----------------------------------------------------------------------===//
// Claims
//===----------------------------------------------------------------------===//

/// Does a call of that name in the program leave all elements of a parameter,
/// in an order that it may be trained in? `val_12` is a part of a call.
static bool keepsElements(StringRef name) {
  StringRef stem = name;
  if (auto [head, number] = name.rsplit('_');
      !number.empty() && llvm::all_of(number, llvm::isDigit))
    stem = head;
  return llvm::StringSwitch<bool>(stem)
      .Cases({"val", "arange", "embedding", "expand", "alias"}, true)
      .Cases({"unsqueeze", "squeeze", "view", "reshape", "flatten"}, true)
      .Cases({"t", "transpose", "permute", "clone", "contiguous", "detach"},
             true)
      .Default(false);
}

/// Does a layer with gates read the value? PyTorch and ONNX order them in
/// different ways.
static bool feedsGates(StringRef name, const Dataflow &flow) {
  return llvm::any_of(flow.usesOf(name), [](const Dataflow::Use &use) {
    return use.node->op_type() == "LSTM" || use.node->op_type() == "GRU";
  });
}

Claim PyTorchMetadata::claimOfFolded(StringRef name,
                                     const std::vector<std::string> &parts,
                                     const Dataflow &flow,
                                     const Contents &contents) const {
  std::vector<std::string> from;
  bool isWhole = keepsElements(name);
  for (const std::string &part : parts)
    if (isListed.contains(part))
      from.push_back(part);
    else
      isWhole &= !buffers.contains(part) && keepsElements(part);
  if (from.empty())
    return {false, "a constant that the exporter computed", ""};
  if (from.size() > 1 || !isWhole || feedsGates(name, flow) ||
      (name.starts_with("expand") && contents.isRepeated()))
    return {false, "the exporter computed it from '" + from.front() + "'", ""};
  if (contents.isSines())
    return {false, "a table of sines", from.front()};
  return {true, "a parameter in the file's notes, moved", from.front()};
}

std::optional<Claim> PyTorchMetadata::claimOf(StringRef name,
                                              const Dataflow &flow,
                                              const Contents &contents) const {
  if (auto mark = marks.find(name); mark != marks.end()) {
    const auto &[kind, target] = mark->second;
    if (kind != "PARAMETER")
      return Claim{false, "marked " + kind + " in the file", ""};
    // Those who write sines into a parameter do it to freeze them.
    if (contents.isSines())
      return Claim{false, "a table of sines", target};
    return Claim{true, "marked PARAMETER in the file", target};
  }
  if (auto folded = foldedFrom.find(name); folded != foldedFrom.end())
    return claimOfFolded(name, folded->second, flow, contents);
  if (parameters.empty() && !hasMarks)
    return std::nullopt;
  const NodeProto *maker = flow.makerOf(name);
  if (maker && maker->op_type() == "Constant")
    return Claim{false, "PyTorch has no parameters in Constant nodes", ""};
  if (isListed.contains(name) && !hasMarks)
    return Claim{true, "a parameter in the file's notes", name.str()};
  return Claim{false,
               isListed.contains(name)
                   ? "the exporter changed it with what followed it"
                   : "the file marks parameters, and not this",
               ""};
}

bool PyTorchMetadata::isParameter(StringRef name) const {
  return isListed.contains(name);
}

bool PyTorchMetadata::areDistinct(StringRef one, StringRef other) const {
  auto parameterOf = [this](StringRef value) -> StringRef {
    if (auto mark = marks.find(value); mark != marks.end())
      return mark->second.target;
    if (auto folded = foldedFrom.find(value);
        folded != foldedFrom.end() && folded->second.size() == 1)
      return folded->second.front();
    // The older exporter calls what it folded after the reader.
    return !hasMarks && !value.starts_with("onnx::") ? value : "";
  };
  // One parameter that modules share is one value already.
  StringRef a = parameterOf(one), b = parameterOf(other);
  return !a.empty() && !b.empty() && a != b;
}

//===----------------------------------------------------------------------===//
// What is missing
//===----------------------------------------------------------------------===//

static StringRef moduleOf(StringRef parameter) {
  auto [module, name] = parameter.rsplit('.');
  return name.empty() ? StringRef() : module;
}

std::string PyTorchMetadata::whereIs(const onnx::GraphProto &graph,
                                     StringRef parameter) const {
  auto quoted = [](StringRef name) { return ("'" + name + "'").str(); };
  std::string values;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (auto folded = foldedFrom.find(tensor.name());
        folded != foldedFrom.end() &&
        llvm::is_contained(folded->second, parameter))
      values +=
          (values.empty() ? "folded into " : ", ") + quoted(tensor.name());
  if (!values.empty())
    return values;
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (tensor.name() == parameter)
      return "changed with what followed it";
  auto reader = readers.find(parameter);
  return reader == readers.end()
             ? ""
             : "folded into what " + reader->second + " reads";
}

std::string PyTorchMetadata::advice() const {
  return "torch.onnx.export(..., optimize=False) keeps parameters as they are; "
         "batch normalisation is only trained in a module that is in training "
         "mode";
}

std::vector<ffc::MissingParameter>
PyTorchMetadata::missing(const onnx::GraphProto &graph,
                         const llvm::StringSet<> &held) const {
  std::vector<MissingParameter> result;
  llvm::StringSet<> modules;
  for (const std::string &parameter : parameters) {
    if (held.contains(parameter))
      continue;
    std::string where = whereIs(graph, parameter);
    // Nobody reads it: it is tied to another one, or of no use, unless all of
    // its module went away.
    if (where.empty() && !modules.contains(moduleOf(parameter)))
      continue;
    modules.insert(moduleOf(parameter));
    result.push_back(
        {parameter, where.empty() ? "left out with its module" : where});
  }
  return result;
}
