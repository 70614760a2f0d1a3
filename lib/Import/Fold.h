//===- Fold.h - evaluating nodes on constants -------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_FOLD_H
#define FFC_LIB_IMPORT_FOLD_H

#include "Constant.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ffc::importer {

/// The attribute `name` of `node`, or null.
const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node,
                                          llvm::StringRef name);

/// The larger one; what is not a number wins.
inline double larger(double a, double b) { return b > a || b != b ? b : a; }

/// A node to be evaluated. Absent optional inputs are null.
struct FoldCall {
  const onnx::NodeProto &node;
  int64_t opset;
  llvm::ArrayRef<const Constant *> inputs;
  /// What is wrong with an attribute that was read; empty if nothing is.
  mutable std::string wrong = {};

  bool has(unsigned i) const { return i < inputs.size() && inputs[i]; }
  int64_t integer(llvm::StringRef name, int64_t missing) const;
  /// The list in attribute `name`, or in input `i` where the opset moved it
  /// there; nothing if it is in neither.
  std::optional<Shape> list(llvm::StringRef name, unsigned i) const;
  /// An attribute of `type`; null if there is none.
  const onnx::AttributeProto *
  attribute(llvm::StringRef name,
            onnx::AttributeProto::AttributeType type) const;
};

/// What cannot be evaluated because the result is too large; the operator may
/// still be computed in every step.
class TooLarge final : public llvm::ErrorInfo<TooLarge> {
public:
  static char ID;

  explicit TooLarge(const llvm::Twine &message) : message(message.str()) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

/// "a constant of shape 1000x1000 is too large...".
llvm::Error tooLarge(llvm::ArrayRef<int64_t> shape);

/// An evaluator of one operator with one result. At least the operator's
/// required inputs are present.
using FoldFunction = llvm::Expected<Constant> (*)(const FoldCall &call);

struct Folder {
  FoldFunction fold;
  /// Inputs that must be present.
  unsigned required;
  /// The first of the inputs that must be integers (indices, axes, extents); 0:
  /// none.
  unsigned firstIndex = 0;
};

/// The evaluator of an operator of domain "", or null.
const Folder *lookupFolder(llvm::StringRef opType);

/// A constant of `shape` whose elements are those of `from` at flat indices
/// `source`.
Constant select(const Constant &from, Shape shape,
                llvm::ArrayRef<int64_t> source);

/// Makes `axis` count from the front; an error if it is not a dimension of a
/// tensor of `rank` dimensions.
llvm::Expected<int64_t> resolveAxis(int64_t axis, int64_t rank);

/// The extents that Reshape's target means for an operand of shape `from`: 0
/// copies an extent (unless `allowZero`), -1 stands for what is left over.
llvm::Expected<Shape> resolveReshape(llvm::ArrayRef<int64_t> from,
                                     llvm::ArrayRef<int64_t> target,
                                     bool allowZero);

/// The shape after Squeeze (no axes: all extents of 1) or Unsqueeze.
llvm::Expected<Shape> squeezedShape(llvm::ArrayRef<int64_t> from,
                                    std::optional<Shape> axes);
llvm::Expected<Shape> unsqueezedShape(llvm::ArrayRef<int64_t> from,
                                      llvm::ArrayRef<int64_t> axes);

/// How Slice walks one dimension.
struct SliceDim {
  int64_t start = 0, step = 1, count = 0;
  /// All positions of `extent`, in order?
  bool isWhole(int64_t extent) const {
    return start == 0 && step == 1 && count == extent;
  }
};

/// What Slice takes of a tensor of `shape`, per dimension.
llvm::Expected<llvm::SmallVector<SliceDim>>
resolveSlice(llvm::ArrayRef<int64_t> shape, std::optional<Shape> starts,
             std::optional<Shape> ends, std::optional<Shape> axes,
             std::optional<Shape> steps);

/// Evaluators of arithmetic and of moving elements.
llvm::Expected<Constant> foldArithmetic(const FoldCall &call);
llvm::Expected<Constant> foldUnary(const FoldCall &call);
llvm::Expected<Constant> foldIsNaN(const FoldCall &call);
llvm::Expected<Constant> foldPow(const FoldCall &call);
llvm::Expected<Constant> foldCast(const FoldCall &call);
llvm::Expected<Constant> foldWhere(const FoldCall &call);
llvm::Expected<Constant> foldBits(const FoldCall &call);
llvm::Expected<Constant> foldBitCast(const FoldCall &call);

/// f of the elements of two constants of integers of one type, with
/// broadcasting.
llvm::Expected<Constant>
combineConstants(const Constant &a, const Constant &b,
                 llvm::function_ref<int64_t(int64_t, int64_t)> f);

llvm::Expected<Constant> foldGather(const FoldCall &call);
llvm::Expected<Constant> foldConcat(const FoldCall &call);
llvm::Expected<Constant> foldSlice(const FoldCall &call);
llvm::Expected<Constant> foldTranspose(const FoldCall &call);
llvm::Expected<Constant> foldReshape(const FoldCall &call);
llvm::Expected<Constant> foldSqueeze(const FoldCall &call);
llvm::Expected<Constant> foldUnsqueeze(const FoldCall &call);
llvm::Expected<Constant> foldExpand(const FoldCall &call);
llvm::Expected<Constant> foldTile(const FoldCall &call);

/// Evaluators of reductions and of values that depend on indices.
llvm::Expected<Constant> foldReduce(const FoldCall &call);
llvm::Expected<Constant> foldCumSum(const FoldCall &call);
llvm::Expected<Constant> foldRange(const FoldCall &call);
llvm::Expected<Constant> foldCompress(const FoldCall &call);
llvm::Expected<Constant> foldOneHot(const FoldCall &call);
llvm::Expected<Constant> foldNonZero(const FoldCall &call);
llvm::Expected<Constant> foldTrilu(const FoldCall &call);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_FOLD_H
