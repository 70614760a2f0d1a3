//===- Import.h - from ONNX to the training graph ---------------*- C++ -*-===//
#ifndef FFC_IMPORT_IMPORT_H
#define FFC_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ffc {

/// --train or --freeze: whether values of names that match are trained.
struct TrainRule {
  std::string pattern;
  bool isTrained;
};

struct ImportOptions {
  /// Extent of the batch, which is dimension 0 of the first data input and of
  /// the data inputs that agree with it there, or leave it open. A model
  /// exported with a fixed batch is changed to this one, reshape targets
  /// included.
  std::optional<int64_t> batchSize;
  /// Values of symbolic dimensions, by name, and of any that are left open by
  /// their place, "INPUT:AXIS".
  std::map<std::string, int64_t> dims;
  /// Numbers, as texts, that fill inputs, which are constants then, by name.
  std::map<std::string, std::string> fixed;
  /// Whether dropout acts. Parameters are parameters either way.
  bool training = true;
  /// What is trained, whatever the file says; the last rule that matches
  /// counts.
  std::vector<TrainRule> trainRules;
  /// Whether weights of equal contents are one parameter.
  bool ties = true;
  /// How weights without data are drawn: glorot-uniform, he-normal, he-uniform,
  /// lecun-normal, normal:STD, uniform:BOUND or zeros. Biases are 0.
  std::string init = "glorot-uniform";
  /// Ratio of every dropout, whatever the model says; 0 removes them.
  std::optional<double> dropout;
  /// Whether batch normalisation takes the statistics of the batch, whatever
  /// the model says.
  std::optional<bool> batchStatistics;
  /// Groups that the batch is cut into where batch normalisation takes its
  /// statistics: each has its own, from consecutive samples.
  int64_t sampleGroups = 1;
  /// Time steps of a recurrent layer that are one operator. None: all.
  std::optional<int64_t> timeBlock;
  /// The weights file: f32, row-major, each tensor at a multiple of 64 bytes.
  /// It replaces what is there, after the import succeeded, and is not written
  /// for a model without values. Empty: offsets are assigned, nothing is
  /// written.
  std::string weightsPath;
};

struct ParameterList;

/// Reads the model at `path` (ONNX, or ONNX text if it ends in .onnxtxt) into a
/// module with one function `main`, as the dialect `ff` describes it. All
/// shapes are static and all operators are of f32; shape arithmetic, constant
/// conditions, Identity and inactive dropouts are gone. Peak memory does not
/// depend on the size of the weights.
///
/// Returns null after one error, located at `path`, whose text names the node.
/// Fills `parameters`, if it is not null, with what is trained (Parameters.h).
mlir::OwningOpRef<mlir::ModuleOp>
importModel(mlir::MLIRContext &context, llvm::StringRef path,
            const ImportOptions &options, ParameterList *parameters = nullptr);

/// The names of the operators that models may have, in alphabetical order;
/// those of ONNX without their domain. Constants are evaluated by more.
std::vector<std::string> importedOperators();

} // namespace ffc

#endif // FFC_IMPORT_IMPORT_H
