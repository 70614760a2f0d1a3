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
  int64_t opset() const { return importer.model.opset; }

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  bool failed() const { return hasFailed || isUnsupported; }
  /// Reports "node 'conv1' (Conv): message".
  void error(const llvm::Twine &message);
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
  bool foundUnsupported() const { return isUnsupported; }

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
  GraphValue &operand(int i) { return *scope.lookup(node.input(i)); }
  /// The shape of operand i, which must have it.
  llvm::ArrayRef<int64_t> shape(int i) { return operand(i).shape; }
  int64_t rank(int i) { return static_cast<int64_t>(shape(i).size()); }
  /// Reports operands of another rank.
  void expectRank(int i, int64_t rank);
  /// Operand i in the IR; it must be of floats.
  mlir::Value tensor(int i, const Role &role = {});
  /// The value of operand i, which must be known at import.
  Constant constant(int i);
  /// The same, a list of integers.
  Shape constantList(int i);
  /// Is dimension d of operand i the batch, and is the batch being changed?
  bool isChangedBatch(int i, int64_t d);
  /// The shape of a reshape of operand 0: `plain`, or, if the batch is being
  /// changed, what the exported reshape means for the new batch.
  Shape reshaped(llvm::Expected<Shape> plain);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

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
  mlir::Location location();
  /// f32; reports shapes that no tensor may have.
  mlir::RankedTensorType resultType(llvm::ArrayRef<int64_t> shape);
  mlir::DenseI64ArrayAttr list(llvm::ArrayRef<int64_t> values) {
    return importer.builder.getDenseI64ArrayAttr(values);
  }
  /// Imports a subgraph; its outputs are this node's results.
  void importBranch(const onnx::GraphProto &branch);

private:
  Scope &scope;
  std::string name;
  /// At most one is true.
  bool hasFailed = false, isUnsupported = false;
  llvm::StringSet<> known;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_NODEIMPORTER_H
