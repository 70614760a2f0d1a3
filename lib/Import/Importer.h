//===- Importer.h - one import of one model ---------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_IMPORTER_H
#define FFC_LIB_IMPORT_IMPORTER_H

#include "Graph.h"
#include "Inputs.h"
#include "NewerFields.h"
#include "TensorData.h"
#include "Trained.h"
#include "WeightsFile.h"

#include "ffc/IR/FF.h"
#include "ffc/Import/Import.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

namespace ffc::importer {

/// A value of the ONNX graph. Names joined by Identity share one.
struct GraphValue {
  enum class Kind {
    Constant,    ///< known at import
    Stored,      ///< a tensor with data: an initializer or a large constant
    Filled,      ///< one number everywhere, of any size
    Sequence,    ///< a list of tensors
    Free,        ///< a graph input without data that is trained
    Computed,    ///< an argument of the function or a result of an operator
    Unsupported, ///< depends on a result of an operator we cannot import
  };
  Kind kind = Kind::Computed;
  std::string name;
  int32_t type = 0; ///< ONNX's
  Shape shape;
  Constant constant;                         ///< of Constant
  const onnx::TensorProto *stored = nullptr; ///< of Stored
  double fill = 0;                           ///< of Filled
  std::vector<GraphValue *> elements;        ///< of Sequence
  /// In the IR. Values that are not Computed enter it when an operator needs
  /// them there. Of floats, whatever the type, or of the type itself, as graph
  /// inputs and results of casts are.
  mlir::Value value;
  /// The same as floats if `value` is not.
  mlir::Value floats;
};

/// What an operand is to its operator, which says how values without data are
/// initialised.
struct Role {
  enum Kind { Data, Weight, Scale, Bias, Mean, Variance } kind = Data;
  int64_t fanIn = 1, fanOut = 1; ///< of a weight
};

/// Names visible in a graph; subgraphs see those of the graphs around them.
struct Scope {
  llvm::StringMap<GraphValue *> values;
  const Scope *outer = nullptr;

  GraphValue *lookup(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (auto found = scope->values.find(name); found != scope->values.end())
        return found->second;
    return nullptr;
  }
};

/// Shapes of all values, by name.
using ShapeTable = llvm::StringMap<Shape>;

/// First contents that are not a list of numbers.
struct Initialization {
  ff::InitKind kind;
  double value;
};

/// How --init draws a weight; an error for a text it does not know.
llvm::Expected<Initialization> parseInit(llvm::StringRef text, int64_t fanIn,
                                         int64_t fanOut);

struct ModelFile {
  std::string path;
  const onnx::ModelProto &proto;
  int64_t opset; ///< of nodes that have none of their own
  const TrainedValues &trained;
};

/// Imports a model once. Members are called by NodeImporter; errors are
/// reported, and the functions then return failure.
class Importer {
public:
  /// `exported`: shapes of an import of the same model with the batch it was
  /// exported with, or null if the batch stays.
  Importer(mlir::MLIRContext &context, const ModelFile &model,
           const ImportOptions &options, const ShapeTable *exported);

  /// The module; null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> run();

  /// Shapes of all values that were defined.
  const ShapeTable &getShapes() const { return shapes; }

  const ModelFile &model;
  const ImportOptions &options;
  /// See the constructor.
  const ShapeTable *const exported;
  const TensorData data;
  /// The batch of the file, where `exported` is given.
  int64_t exportedBatch = 1;
  NameTable names;
  int64_t iterations = 0;    ///< of loops, imported so far
  int64_t unrolledNodes = 0; ///< in them
  const UseTable uses;
  mlir::OpBuilder builder;

  mlir::InFlightDiagnostic error() { return mlir::emitError(location); }

  /// The opset that says what `node` means.
  int64_t opsetOf(const onnx::NodeProto &node) const {
    return ownOpsetOf(node).value_or(model.opset);
  }

  /// Imports the nodes of a graph; its inputs are in `scope`.
  mlir::LogicalResult importGraph(const onnx::GraphProto &graph, Scope &scope);

  /// A graph that an importer made, to be imported; it lives as long as this.
  const onnx::GraphProto &keep(onnx::GraphProto graph) {
    return kept.emplace_back(std::move(graph));
  }

  /// A value with data: known at import if it is small and of integers or a
  /// number that is not trained.
  llvm::Expected<GraphValue *> tensorValue(llvm::StringRef name,
                                           const onnx::TensorProto &tensor);

  /// Makes `name` mean `value`.
  void define(Scope &scope, llvm::StringRef name, GraphValue *value);
  GraphValue *newValue(GraphValue::Kind kind, llvm::StringRef name,
                       int32_t type, llvm::ArrayRef<int64_t> shape);

  /// The value in the IR, as a state if need be.
  llvm::Expected<mlir::Value> materialize(GraphValue &value, const Role &role);
  /// The numbers of a value of any carried type as floats.
  llvm::Expected<mlir::Value> floatsOf(GraphValue &value,
                                       const Role &role = {});
  /// A value of any carried type as a tensor of that type.
  llvm::Expected<mlir::Value> typedValueOf(GraphValue &value);
  /// The value as a running mean or variance, which is not trained. It is a
  /// state of its own even if the exporter merged it with other values that
  /// are equal at the start.
  llvm::Expected<mlir::Value> materializeStatistic(GraphValue &value,
                                                   llvm::StringRef name,
                                                   const Role &role);
  /// Stores `value` in the running statistic `old` at the end of the step, if
  /// that is a state.
  llvm::Error storeStatistic(mlir::Value old, mlir::Value value);

  mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape,
                                    int32_t type);

  /// Notes that the operator of `node` is not supported on `operands`
  /// (" of double", or nothing).
  void addUnsupported(const onnx::NodeProto &node,
                      const llvm::Twine &operands = "");

private:
  mlir::Location location;
  WeightsFile weights;
  std::deque<GraphValue> storage;
  ShapeTable shapes;
  mlir::func::FuncOp function;
  mlir::Operation *lastState = nullptr;
  /// Names of states, each with the number of further ones that wanted it.
  llvm::StringMap<int> stateNames;
  int64_t folded = 0; ///< elements of constants that were evaluated
  /// Graphs that are not in the file.
  std::deque<onnx::GraphProto> kept;
  /// Running statistics, by the names they are used under.
  llvm::StringMap<mlir::Value> statistics;
  /// Those that are stored.
  llvm::DenseSet<mlir::Value> stored;
  /// Operators that cannot be imported, with their nodes.
  llvm::MapVector<mlir::StringAttr, std::vector<std::string>> unsupported;

  mlir::LogicalResult addInputs(Scope &scope);
  /// An input that --fix makes a constant.
  mlir::LogicalResult addFixedInput(const GraphInput &input, Scope &scope);
  mlir::LogicalResult addInitializers(const onnx::GraphProto &graph,
                                      Scope &scope);
  mlir::LogicalResult importNode(const onnx::NodeProto &node, Scope &scope);
  /// Evaluates a node on constants. Nothing if that cannot be done.
  std::optional<mlir::LogicalResult> foldNode(const onnx::NodeProto &node,
                                              llvm::ArrayRef<GraphValue *> in,
                                              Scope &scope);
  void skipNode(const onnx::NodeProto &node, Scope &scope);
  /// Notes the operators of a graph that are unknown whatever their operands.
  void addUnknown(const onnx::GraphProto &graph);
  mlir::LogicalResult addOutputs(Scope &scope);
  mlir::LogicalResult reportUnsupported();
  llvm::Expected<ff::InitAttr> initOf(const GraphValue &value, const Role &role,
                                      bool hasRole);
  /// A state of `value`'s shape. `hasRole`: without data it starts as its role
  /// says.
  llvm::Expected<mlir::Value> createState(const GraphValue &value,
                                          llvm::StringRef name,
                                          llvm::StringRef kind,
                                          const Role &role, bool hasRole);
  llvm::Expected<ff::InitAttr>
  storeValues(int64_t count,
              llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_IMPORTER_H
