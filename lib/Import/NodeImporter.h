//===- NodeImporter.h - what an operator's importer sees --------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_NODEIMPORTER_H
#define FFC_LIB_IMPORT_NODEIMPORTER_H

#include "Fold.h"
#include "Importer.h"

namespace ffc::importer {

/// One node while it is imported. The first error is reported and sticks; after
/// it, getters return something harmless. So an importer reads all it needs,
/// then returns if `failed()`, then builds.
class NodeImporter {
public:
  NodeImporter(Importer &importer, const onnx::NodeProto &node, Scope &scope)
      : importer(importer), node(node), scope(scope),
        name(importer.names.nameOf(node)) {}

  Importer &importer;
  const onnx::NodeProto &node;

  llvm::StringRef opType() const { return node.op_type(); }
  llvm::StringRef getName() const { return name; }
  int64_t opset() const { return importer.opsetOf(node); }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  bool failed() const { return hasFailed || isUnsupported || emptyShape; }
  /// Reports "node 'conv1' (Conv): message".
  void error(const llvm::Twine &message);
  /// Something has been reported.
  void fail() { hasFailed = true; }
  /// Reports what is wrong; true if nothing is.
  bool check(llvm::Error error);
  /// The value, or a report and a default.
  template <class T> T check(llvm::Expected<T> value) {
    if (value)
      return std::move(*value);
    error(llvm::toString(value.takeError()));
    return T();
  }
  /// This operator cannot be imported on operands like these; its results are
  /// skipped and all such operators are reported together.
  void unsupported(const llvm::Twine &operands);
  /// An operator within this one cannot be imported, and has been noted.
  void skip() { isUnsupported = !hasFailed; }
  bool foundUnsupported() const { return isUnsupported; }
  /// The shape of result 0, if that has no elements; nothing is built for it.
  const std::optional<Shape> &foundEmpty() const { return emptyShape; }

  /// To be called last: reports attributes that nobody asked for, and uses of
  /// results that were not defined.
  void checkComplete();

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  int64_t integer(llvm::StringRef attribute, int64_t missing);
  double real(llvm::StringRef attribute, double missing);
  llvm::StringRef text(llvm::StringRef attribute, llvm::StringRef missing);
  std::optional<Shape> integers(llvm::StringRef attribute);
  /// Null if absent.
  const onnx::AttributeProto *
  attribute(llvm::StringRef name, onnx::AttributeProto::AttributeType type);
  /// The attribute has no influence on what we compute.
  void ignore(llvm::StringRef attribute) { known.insert(attribute); }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  bool has(int i) const {
    return i < node.input_size() && !node.input(i).empty();
  }
  GraphValue &operand(int i) {
    auto found = replaced.find(i);
    return found != replaced.end() ? *found->second
                                   : *scope.lookup(node.input(i));
  }
  /// The shape of operand i, which must have it.
  llvm::ArrayRef<int64_t> shape(int i) { return operand(i).shape; }
  int64_t rank(int i) { return static_cast<int64_t>(shape(i).size()); }
  /// Reports operands of another rank.
  void expectRank(int i, int64_t rank);
  /// Operand i in the IR; it must be of the type that was set. Without one it
  /// must be of floats of some width, as all such operands are.
  mlir::Value tensor(int i, const Role &role = {});
  /// The numbers of operand i, of any carried type, as floats.
  mlir::Value numbers(int i, const Role &role = {});
  /// Operand i in the IR as a running statistic.
  mlir::Value statistic(int i, const Role &role);
  /// The numbers of a tensor that this node needs, as floats; in the IR it is
  /// called "<node>.<name>".
  mlir::Value knownNumbers(const llvm::Twine &name, Constant value);
  /// Reports a list of positions that is too long to be held.
  void expectPositions(int64_t count);
  /// The value of operand i, which must be known at import.
  Constant constant(int i);
  /// The same, a list of integers.
  Shape constantList(int i);
  /// The same, a number; nothing if there is no operand i.
  std::optional<double> scalar(int i);
  /// If the batch is being changed, makes operands that are the same for all
  /// samples of the exported one so for the new one.
  void followBatch();
  /// The shape of operand i with the batch that the model was exported with.
  llvm::ArrayRef<int64_t> exportedShape(int i);
  /// Is dimension d of operand i the batch, and is the batch being changed?
  bool isChangedBatch(int i, int64_t d);
  /// Reports that dimension d of operand i, from which is picked, is a batch
  /// that is being changed.
  void expectNoChangedBatch(int i, int64_t d);
  /// The shape of a reshape of operand 0: `plain`, or, if the batch is being
  /// changed, what the exported reshape means for the new batch.
  Shape reshaped(llvm::Expected<Shape> plain);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// What floats in the results stand for, and operands read by `tensor` must
  /// be of (see isCarriedType).
  void setElementType(int32_t type) { elementType = type; }
  void defineSame(GraphValue &value) { define(0, &value); }
  void defineConstant(Constant value);
  void define(int i, GraphValue *value);
  /// Result 0 is the result of the new operator, of shape `shape`.
  template <class Op, class... Args>
  void build(llvm::ArrayRef<int64_t> shape, Args &&...args) {
    define(Op::create(importer.builder, location(), resultType(shape),
                      std::forward<Args>(args)...));
  }
  /// Result 0 is the first result of `op`.
  void define(mlir::Operation *op);
  /// Result i is `value`.
  void define(int i, mlir::Value value);
  /// Result i has no elements, and `shape`.
  void defineEmpty(int i, llvm::ArrayRef<int64_t> shape);
  /// Result i is the first result of `op`, which has no other.
  void define(int i, mlir::Operation *op);
  /// The result of a new operator, of shape `shape`, that computes a part of
  /// this node and is called "<node>.<name>".
  template <class Op, class... Args>
  mlir::Value part(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape,
                   Args &&...args) {
    return Op::create(importer.builder, location(name), partType(shape),
                      std::forward<Args>(args)...)
        ->getResult(0);
  }
  /// Result 0 is that of the last part, which gets the node's own name.
  void defineLast(mlir::Value part);
  /// Is there a result i that anything uses?
  bool isUsed(int i) const {
    return i < node.output_size() && !node.output(i).empty() &&
           importer.uses.isUsed(node.output(i));
  }
  mlir::Location location();
  mlir::Location location(const llvm::Twine &part);
  /// f32, of result 0; reports shapes that no tensor may have. One without
  /// elements ends the import of a node that has no other result: there is
  /// nothing to compute.
  mlir::RankedTensorType resultType(llvm::ArrayRef<int64_t> shape);
  /// The same of what is not result 0, which must have elements.
  mlir::RankedTensorType partType(llvm::ArrayRef<int64_t> shape);
  mlir::DenseI64ArrayAttr list(llvm::ArrayRef<int64_t> values) {
    return importer.builder.getDenseI64ArrayAttr(values);
  }
  /// Imports a subgraph; its outputs are this node's results.
  void importBranch(const onnx::GraphProto &branch);
  /// Imports a subgraph that sees the names of `outer`, which belongs to a
  /// scope of this node; its outputs, none after an error.
  llvm::SmallVector<GraphValue *> importGraph(const onnx::GraphProto &graph,
                                              const Scope &outer);
  /// Imports a node that is not in the file, with one result; null after an
  /// error and, as this node is then not supported either, if it is not.
  GraphValue *importMade(onnx::NodeProto made,
                         llvm::ArrayRef<GraphValue *> operands);
  /// A scope within that of this node.
  Scope innerScope() const { return {{}, &scope}; }

private:
  Scope &scope;
  std::string name;
  /// At most one is true, or there.
  bool hasFailed = false, isUnsupported = false;
  std::optional<Shape> emptyShape;
  int32_t elementType = onnx::TensorProto::FLOAT;
  llvm::StringSet<> known;
  /// Operands in place of those that the node names.
  llvm::SmallDenseMap<int, GraphValue *> replaced;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_NODEIMPORTER_H
