//===- ClassPrinter.h - one rank class as a C++ class -----------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_CLASSPRINTER_H
#define FFC_LIB_CODEGEN_CLASSPRINTER_H

#include "CopySeries.h"
#include "Functors.h"
#include "RankTable.h"
#include "Sections.h"
#include "Text.h"

#include "ffc/Codegen/Identifiers.h"

#include "llvm/ADT/DenseMap.h"

namespace ffc::codegen {

/// Prints a `rank.func`: one print function per operator. It reads the IR and
/// never changes it, and knows kernels only by the naming rule of kernel.h.
class ClassPrinter {
public:
  /// Functors of fused kernels go to `functors`.
  ClassPrinter(rank::FuncOp func, const ProgramMeta &meta,
               llvm::StringRef className, Functors &functors);

  /// The class's text, and the function that lists its tasks. Fails after a
  /// diagnostic.
  mlir::LogicalResult print(Text &text, Text &tasks);

  const std::string &name() const { return className; }
  const Sections &arrangement() const { return sections; }
  std::string rowsName() const;

  // The table is complete once print() has returned.
  const RankTable &table() const { return numbers; }
  void printStruct(Text &text) const;
  void printRows(Text &text) const;

private:
  using Type = RankTable::Type;

  void nameEverything();
  mlir::LogicalResult printSlots(Text &text);
  void printCalls(Text &text, llvm::StringRef name,
                  llvm::ArrayRef<std::string> methods);
  void printStep(Text &text);
  void printLoss(Text &text);
  void printTasks(Text &text);
  void printTensors(Text &text);
  mlir::LogicalResult printLayer(Text &text, const Layer &layer);
  void printSummaries(Text &text, const Method &method);

  void print(Text &text, rank::BufferOp op);
  mlir::LogicalResult print(Text &text, rank::InputOp op);
  mlir::LogicalResult print(Text &text, rank::StateOp op);
  /// The member; its call is a statement of a method.
  mlir::LogicalResult declare(Text &text, rank::KernelOp op);

  mlir::LogicalResult printStatement(Text &text, mlir::Operation *op);
  void print(Text &text, rank::KernelOp op);
  void print(Text &text, const CopySeries &series);
  /// "{0, 3 * i}": where a copy of the series' body is in the tensor `owner`,
  /// whose dimensions begin at `first` among the strides.
  std::string placeOf(const CopySeries &series, size_t copy,
                      rank::PerAttr start, size_t first, llvm::StringRef owner,
                      llvm::StringRef meaning);
  void print(Text &text, rank::WaitOp op);
  mlir::LogicalResult print(Text &text, rank::ProbeOp op);
  /// The expression that queues a communication and gives its event.
  std::string callOf(rank::ExchangeOp op);
  std::string callOf(rank::CollectiveOp op);
  void printEvent(Text &text, mlir::Operation *op, const std::string &call);

  /// "conv2_x", "absent".
  std::string tensor(mlir::Value buffer) const;
  std::string tensors(mlir::ValueRange buffers) const;
  std::string messages(mlir::ValueRange buffers, rank::PerAttr peers,
                       llvm::StringRef meaning);
  /// Column `column` of `per` as text, and all columns in braces.
  std::string number(rank::PerAttr per, size_t column, llvm::StringRef owner,
                     const llvm::Twine &meaning, Type type = Type::Int64);
  std::string numbersOf(rank::PerAttr per, llvm::StringRef owner,
                        llvm::StringRef meaning);
  /// What messages of the running program call a communication.
  std::string label(mlir::Operation *op, mlir::Value about) const;
  /// Fails unless the buffer is a box on every rank of the class.
  mlir::LogicalResult checkBox(mlir::Operation *op, mlir::Value buffer) const;

  mutable rank::FuncOp func; // operator accessors are not const
  const ProgramMeta &meta;
  std::string className;
  Functors &functors;
  Sections sections;
  RankTable numbers;
  NameScope scope;
  /// Names of buffers, of events that need one, of kernels and of methods. An
  /// event that the next statement waits for has no name.
  llvm::DenseMap<mlir::Value, std::string> valueNames;
  llvm::DenseMap<mlir::Operation *, std::string> kernelNames;
  std::vector<std::string> methodNames;
  /// Events that one method queues and another one waits for.
  std::vector<mlir::Value> sharedEvents;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_CLASSPRINTER_H
