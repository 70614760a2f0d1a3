//===- ScalarProgram.h - what a fused kernel computes -----------*- C++ -*-===//
//
// The body of `ff.fused` as a text in static single assignment form, the
// attribute `program` of the kernel "fused":
//
//     t0 = add(x0, x1); t1 = leaky_relu[0.1](t0); return t1, bf16(t0)
//
// x0, x1... are elements of the operands, t0, t1... of what the steps compute;
// parameters stand in brackets. Results may be rounded to bf16 or f16. The
// reference kernel interprets it, the code generator makes a functor of it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_SCALARPROGRAM_H
#define FFC_IR_SCALARPROGRAM_H

#include "ffc/Plan/Rules.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class Block;
} // namespace mlir

namespace ffc::ff {

/// A function that a step applies.
struct ScalarFunction {
  std::string kernel; ///< the kernel that applies it to whole tensors
  int operands = 0;
  int parameters = 0; ///< `alpha`, `beta`
};

/// The function called `name`: "relu", "relu_backward", "add", "select"; null
/// if there is none.
const ScalarFunction *lookupScalarFunction(llvm::StringRef name);

struct ScalarProgram {
  struct Value {
    bool isInput = false;
    int number = 0;
  };
  struct Step {
    std::string function;
    std::vector<double> parameters;
    std::vector<Value> operands;
  };

  int inputs = 0;
  std::vector<Step> steps;
  std::vector<Value> results;
  std::vector<plan::ElementType> types; ///< of results: F32, BF16 or F16

  /// The program of the body of a verified `ff.fused`.
  static ScalarProgram of(mlir::Block &body);

  /// Reads a text. On failure returns nothing and sets `error`. `inputs` is one
  /// more than the highest number of an x.
  static std::optional<ScalarProgram> parse(llvm::StringRef text,
                                            std::string &error);
  std::string str() const;
};

/// "x0", "t3".
std::string str(const ScalarProgram::Value &value);

} // namespace ffc::ff

#endif // FFC_IR_SCALARPROGRAM_H
