//===- RankMachine.h - the inside of the rank evaluator ---------*- C++ -*-===//
#ifndef FFC_LIB_REFERENCE_RANKMACHINE_H
#define FFC_LIB_REFERENCE_RANKMACHINE_H

#include "RankMemory.h"
#include "RankTransport.h"
#include "ffc/Reference/RankEvaluator.h"

#include "llvm/ADT/StringMap.h"

namespace ffc::rank {

/// A communication between its operator and its wait.
struct Pending {
  std::vector<Transport::Ticket> sends;
  std::vector<std::pair<Transport::Ticket, const LocalBuffer *>> receives;
  std::optional<Transport::Seat> seat;
  const LocalBuffer *target = nullptr; ///< of a collective
  /// Buffers in flight and their contents after posting.
  std::vector<std::pair<const LocalBuffer *, std::vector<double>>> watched;

  void watch(const LocalBuffer *buffer) {
    watched.push_back({buffer, buffer->load()});
  }
};

/// One rank: its memory and where it stands in its function.
struct Rank {
  FuncOp func;
  mlir::Block *body;
  size_t row; ///< number in its class
  int64_t id;
  std::vector<double> state, arena;
  llvm::DenseMap<mlir::Value, LocalBuffer> buffers;
  llvm::StringMap<llvm::SmallVector<StateOp, 1>> states; ///< by name
  mlir::Block::iterator next;
  llvm::DenseMap<mlir::Operation *, Pending> pending;

  Rank(FuncOp func, size_t row);
  /// Null for an absent buffer.
  const LocalBuffer *find(mlir::Value value) const {
    auto it = buffers.find(value);
    return it == buffers.end() ? nullptr : &it->second;
  }
  const LocalBuffer &get(mlir::Value value) const { return *find(value); }
  bool isDone() const { return next == body->end(); }
};

/// All ranks and what is between them. RankEvaluator.cpp schedules,
/// RankActions.cpp holds the meaning of the operators.
struct RankEvaluator::Impl {
  mlir::ModuleOp module;
  bool poison;
  std::vector<std::unique_ptr<Rank>> ranks; ///< by number
  std::map<std::string, ff::TensorValue> inputs, outputs;
  std::map<std::string, ff::TensorValue> firstStates; ///< as they were set
  std::vector<double> losses;

  Transport transport;
  std::map<std::string, Gather> offers;
  /// The first kernel of the step that wrote NaN, and its rank; a hint.
  KernelOp firstNaN;
  int64_t firstNaNRank = -1;

  mlir::LogicalResult begin();
  mlir::LogicalResult run(const ff::ReferenceContext &context);
  mlir::LogicalResult finish();

  /// Runs `rank` until it blocks; sets `moved` if it did anything.
  mlir::LogicalResult advance(Rank &rank, const ff::ReferenceContext &context,
                              bool &moved);
  mlir::LogicalResult kernel(Rank &rank, KernelOp op,
                             const ff::ReferenceContext &context);
  void copy(Rank &rank, CopyOp op);
  void exchange(Rank &rank, ExchangeOp op);
  mlir::LogicalResult collective(Rank &rank, CollectiveOp op);
  bool isReady(const Pending &pending) const;
  mlir::LogicalResult complete(Rank &rank, WaitOp wait);
  mlir::LogicalResult probe(Rank &rank, ProbeOp op);
  mlir::LogicalResult deadlock() const;

  void noteNaN(mlir::InFlightDiagnostic &diag) const;
};

} // namespace ffc::rank

#endif // FFC_LIB_REFERENCE_RANKMACHINE_H
