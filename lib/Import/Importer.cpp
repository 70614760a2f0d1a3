//===- Importer.cpp - one import of one model -----------------------------===//

#include "Importer.h"

#include "Fold.h"
#include "GraphChecks.h"
#include "NodeImporter.h"
#include "OpTable.h"
#include "OpVersions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::NodeProto;
using onnx::TensorProto;
using Kind = GraphValue::Kind;

Importer::Importer(MLIRContext &context, const ModelFile &model,
                   const ImportOptions &options, const ShapeTable *exported)
    : model(model), options(options), exported(exported), data(model.path),
      uses(model.proto.graph()), builder(&context),
      location(FileLineColLoc::get(&context, model.path, 0, 0)),
      weights(options.weightsPath) {
  context.loadDialect<ff::FFDialect, func::FuncDialect>();
}

OwningOpRef<ModuleOp> Importer::run() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, location);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, location, "main",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  names.addNodes(model.proto.graph());
  Scope scope;
  if (failed(addInputs(scope)) ||
      failed(importGraph(model.proto.graph(), scope)) ||
      failed(reportUnsupported()) || failed(addOutputs(scope)))
    return {};
  func::ReturnOp::create(builder, location);
  if (failed(verify(*module)))
    return {};
  if (llvm::Error failure = weights.commit()) {
    error() << llvm::toString(std::move(failure));
    return {};
  }
  return module;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

GraphValue *Importer::newValue(Kind kind, StringRef name, int32_t type,
                               ArrayRef<int64_t> shape) {
  GraphValue &value = storage.emplace_back();
  value.kind = kind;
  value.name = name.str();
  value.type = type;
  value.shape.assign(shape.begin(), shape.end());
  return &value;
}

void Importer::define(Scope &scope, StringRef name, GraphValue *value) {
  scope.values[name] = value;
  if (value->kind != Kind::Unsupported)
    shapes[name] = value->shape;
}

/// The bits of integers of a type in programs, which have none without sign but
/// bytes: the type's or, where those have no sign or are fewer, more.
static unsigned heldBits(int32_t type) {
  switch (type) {
  case TensorProto::BOOL:
    return 1;
  case TensorProto::UINT8:
    return 8;
  case TensorProto::INT8:
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::INT32:
    return 32;
  default:
    return 64;
  }
}

RankedTensorType Importer::tensorType(ArrayRef<int64_t> shape, int32_t type) {
  Type element = builder.getF32Type();
  if (type == TensorProto::DOUBLE)
    element = builder.getF64Type();
  else if (!isFloatType(type))
    element = builder.getIntegerType(heldBits(type));
  return RankedTensorType::get(shape, element);
}

LogicalResult Importer::addInputs(Scope &scope) {
  llvm::Expected<GraphInputs> inputs =
      resolveInputs(model.proto.graph(), uses, model.trained, options);
  if (!inputs) {
    // What no flag can mend is told first.
    addUnknown(model.proto.graph());
    if (!unsupported.empty()) {
      llvm::consumeError(inputs.takeError());
      return reportUnsupported();
    }
    return error() << llvm::toString(inputs.takeError());
  }
  exportedBatch = inputs->exportedBatch.value_or(1);
  for (const std::string &name : inputs->unused)
    emitWarning(location) << "input '" << name << "' is not used";
  for (const GraphInput &input : inputs->inputs) {
    if (input.fixed) {
      if (failed(addFixedInput(input, scope)))
        return failure();
      continue;
    }
    GraphValue *value = newValue(input.isFree ? Kind::Free : Kind::Computed,
                                 input.name, input.type, input.shape);
    define(scope, input.name, value);
    if (input.isFree)
      continue;
    if (input.shape.size() > 8)
      return error() << "input '" << input.name << "' has shape "
                     << shapeText(input.shape)
                     << ", expected at most 8 dimensions";
    if (failed(function.insertArgument(
            function.getNumArguments(), tensorType(input.shape, input.type),
            builder.getDictionaryAttr(builder.getNamedAttr(
                ff::kNameAttr, builder.getStringAttr(input.name))),
            NameLoc::get(builder.getStringAttr(input.name)))))
      return failure();
    value->value = function.getArguments().back();
  }
  return success();
}

LogicalResult Importer::addFixedInput(const GraphInput &input, Scope &scope) {
  const int64_t count = *elementCount(input.shape);
  const bool isSmall = count <= kMaxConstantElements;
  if (!isSmall && input.type != TensorProto::FLOAT)
    return error() << "--fix: input '" << input.name << "' has "
                   << std::to_string(count) << " elements of type "
                   << elementTypeName(input.type) << ", expected at most "
                   << std::to_string(kMaxConstantElements);
  GraphValue *value = newValue(isSmall ? Kind::Constant : Kind::Filled,
                               input.name, input.type, input.shape);
  if (isSmall)
    value->constant = select(*input.fixed, input.shape, Shape(count, 0));
  else
    value->fill = input.fixed->floats.front();
  define(scope, input.name, value);
  return success();
}

LogicalResult Importer::addInitializers(const onnx::GraphProto &graph,
                                        Scope &scope) {
  if (graph.sparse_initializer_size() != 0)
    return error() << "sparse initializers are not supported, found '"
                   << graph.sparse_initializer(0).values().name() << "'";
  for (const TensorProto &tensor : graph.initializer()) {
    if (scope.values.count(tensor.name()))
      return error() << "initializer '" << tensor.name()
                     << "' is defined already";
    if (llvm::Error failure = data.check(tensor))
      return error() << "initializer '" << tensor.name()
                     << "': " << llvm::toString(std::move(failure));
    llvm::Expected<GraphValue *> value = tensorValue(tensor.name(), tensor);
    if (!value)
      return error() << "initializer '" << tensor.name()
                     << "': " << llvm::toString(value.takeError());
    define(scope, tensor.name(), *value);
  }
  return success();
}

llvm::Expected<GraphValue *> Importer::tensorValue(StringRef name,
                                                   const TensorProto &tensor) {
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  const bool isNumber =
      isIntegerType(tensor.data_type()) || model.trained.isNumber(name);
  const int64_t count = *elementCount(shape);
  const bool isConstant =
      count == 0 || (isNumber && count <= kMaxConstantElements);
  GraphValue *value = newValue(isConstant ? Kind::Constant : Kind::Stored, name,
                               tensor.data_type(), shape);
  value->stored = &tensor;
  if (!isConstant)
    return value;
  llvm::Expected<Constant> constant = data.read(tensor);
  if (!constant)
    return constant.takeError();
  value->constant = std::move(*constant);
  return value;
}

LogicalResult Importer::addOutputs(Scope &scope) {
  llvm::StringSet<> seen;
  for (const onnx::ValueInfoProto &output : model.proto.graph().output()) {
    const std::string &name = output.name();
    if (!seen.insert(name).second)
      return error() << "output '" << name << "' is listed twice";
    GraphValue *value = scope.lookup(name);
    if (!value)
      return error() << "nothing defines output '" << name << "'";
    if (value->kind == Kind::Sequence)
      return error() << "output '" << name
                     << "' is a sequence, expected a tensor";
    llvm::Expected<Value> tensor = typedValueOf(*value);
    if (!tensor)
      return error() << "output '" << name
                     << "': " << llvm::toString(tensor.takeError());
    ff::OutputOp::create(builder, NameLoc::get(builder.getStringAttr(name)),
                         "out/" + name, *tensor);
  }
  if (seen.empty())
    return error() << "the graph has no outputs";
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

LogicalResult Importer::importGraph(const onnx::GraphProto &graph,
                                    Scope &scope) {
  if (failed(addInitializers(graph, scope)))
    return failure();
  auto order = sortNodes(graph, names, [&](StringRef name) {
    return scope.lookup(name) != nullptr;
  });
  if (!order)
    return error() << llvm::toString(order.takeError());
  if (size_t replaced = graph.node_size() - order->size(); replaced != 0)
    emitWarning(location) << "constants that later nodes define anew: "
                          << replaced << "; the last definition of each counts";
  for (const NodeProto *node : *order)
    if (failed(importNode(*node, scope)))
      return failure();
  return success();
}

LogicalResult Importer::importNode(const NodeProto &node, Scope &scope) {
  StringRef name = names.nameOf(node);
  const std::string opName = operatorName(node);
  const OpInfo *info = lookupOp(opName);
  const Folder *folder = lookupFolder(opName);
  auto skip = [&](bool isCulprit) {
    if (isCulprit)
      addUnsupported(node);
    skipNode(node, scope);
    return success();
  };
  if (!info && !folder)
    return skip(/*isCulprit=*/true);
  llvm::Error wrong = checkCounts(node, opsetOf(node));
  if (!wrong && isStandardDomain(node.domain()))
    wrong = checkAttributes(node, opsetOf(node));
  if (wrong)
    return error() << describe(node, name) << ": "
                   << llvm::toString(std::move(wrong));

  SmallVector<GraphValue *> in;
  bool allConstant = true;
  for (const std::string &input : node.input()) {
    in.push_back(input.empty() ? nullptr : scope.lookup(input));
    if (in.back() && in.back()->kind == Kind::Unsupported)
      return skip(/*isCulprit=*/false);
    allConstant &= !in.back() || in.back()->kind == Kind::Constant;
    if (in.back() && in.back()->kind == Kind::Sequence &&
        !(info && info->takesSequences)) {
      addUnsupported(node, " of a sequence");
      return skip(/*isCulprit=*/false);
    }
  }
  if (folder && allConstant)
    if (auto folded = foldNode(node, in, scope))
      return *folded;
  if (!info)
    return skip(/*isCulprit=*/true);

  NodeImporter importer(*this, node, scope);
  if (info->movesElements ||
      (!in.empty() && in.front() && isFloatType(in.front()->type)))
    importer.setElementType(in.front()->type);
  importer.followBatch();
  if (!importer.failed())
    info->import(importer);
  if (const std::optional<Shape> &empty = importer.foundEmpty()) {
    importer.defineEmpty(0, *empty);
    return success();
  }
  if (importer.foundUnsupported())
    return skip(/*isCulprit=*/false);
  importer.checkComplete();
  return failure(importer.failed());
}

std::optional<LogicalResult> Importer::foldNode(const NodeProto &node,
                                                ArrayRef<GraphValue *> in,
                                                Scope &scope) {
  const Folder &folder =
      *lookupFolder(operatorName(node.domain(), node.op_type()));
  if (in.size() < folder.required || node.output_size() != 1 ||
      llvm::is_contained(in.take_front(folder.required), nullptr))
    return std::nullopt;
  auto report = [&](const Twine &message) {
    return error() << describe(node, names.nameOf(node)) << ": " << message;
  };
  SmallVector<const Constant *> inputs;
  for (auto [i, value] : llvm::enumerate(in)) {
    inputs.push_back(value ? &value->constant : nullptr);
    if (value && folder.firstIndex && i >= folder.firstIndex &&
        value->constant.isFloat())
      return LogicalResult(report("expected integers as operand " + Twine(i) +
                                  ", found '" + node.input(i) + "' of type " +
                                  elementTypeName(value->type)));
  }
  const FoldCall call{node, opsetOf(node), inputs};
  llvm::Expected<Constant> result = folder.fold(call);
  if (!call.wrong.empty()) {
    llvm::consumeError(result.takeError());
    return LogicalResult(report(call.wrong));
  }
  if (!result) {
    llvm::Error error = result.takeError();
    if (error.isA<TooLarge>() &&
        lookupOp(operatorName(node.domain(), node.op_type()))) {
      llvm::consumeError(std::move(error));
      return std::nullopt;
    }
    return LogicalResult(report(llvm::toString(std::move(error))));
  }
  folded += result->size();
  if (folded > kMaxFoldedElements)
    return LogicalResult(report("expected at most " +
                                Twine(kMaxFoldedElements) +
                                " elements of constants that are evaluated"));
  GraphValue *value =
      newValue(Kind::Constant, node.output(0), result->type, result->shape);
  value->constant = std::move(*result);
  define(scope, node.output(0), value);
  return success();
}

//===----------------------------------------------------------------------===//
// Unsupported operators
//===----------------------------------------------------------------------===//

void Importer::skipNode(const NodeProto &node, Scope &scope) {
  for (const std::string &output : node.output())
    if (!output.empty())
      define(scope, output, newValue(Kind::Unsupported, output, 0, {}));
}

void Importer::addUnsupported(const NodeProto &node, const Twine &operands) {
  std::string name = operatorName(node.domain(), node.op_type());
  unsupported[builder.getStringAttr(name + operands)].push_back(
      names.nameOf(node).str());
}

void Importer::addUnknown(const onnx::GraphProto &graph) {
  for (const NodeProto &node : graph.node()) {
    std::string name = operatorName(node.domain(), node.op_type());
    if (!lookupOp(name) && !lookupFolder(name))
      addUnsupported(node);
  }
}

LogicalResult Importer::reportUnsupported() {
  if (unsupported.empty())
    return success();
  constexpr size_t shown = 5;
  InFlightDiagnostic diagnostic = error();
  diagnostic << "unsupported operators: ";
  llvm::interleave(
      unsupported,
      [&](const auto &entry) {
        const std::vector<std::string> &nodes = entry.second;
        diagnostic << entry.first.getValue() << " (" << nodes.size() << ": ";
        llvm::interleave(
            ArrayRef(nodes).take_front(shown),
            [&](const std::string &name) { diagnostic << "'" << name << "'"; },
            [&] { diagnostic << ", "; });
        diagnostic << (nodes.size() > shown ? ", ...)" : ")");
      },
      [&] { diagnostic << ", "; });
  if (llvm::any_of(unsupported, [](const auto &entry) {
        return entry.first.getValue().contains(" computed ");
      }))
    diagnostic << "; --fix INPUT=VALUE makes an input a constant, and with it "
                  "what is computed from it";
  if (llvm::any_of(unsupported, [](const auto &entry) {
        return entry.first.getValue().contains("Quant");
      }))
    diagnostic << "; models after quantisation are not supported, expected the "
                  "one before it";
  return diagnostic;
}
