//===- program.h - what an emitted program tells the runtime ----*- C++ -*-===//
//
// The emitted source defines a RankProgram, most of which is layer.h's Program,
// and one ProgramInfo; its main() calls ffrt::run. The runtime owns the command
// line, memory, data, initial values, the step loop, dumps and messages.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_PROGRAM_H
#define FFRT_PROGRAM_H

#include "ffrt/comm.h"
#include "ffrt/context.h"
#include "ffrt/tensor.h"
#include "ffrt/trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ffrt {

class ResultCheck;

/// How a state value gets its first contents.
struct Init {
  enum Kind : int {
    file = 0,      ///< row-major in the weights file at `offset` bytes
    constant = 1,  ///< `value` everywhere
    uniform = 2,   ///< uniform in [-value, value)
    normal = 3,    ///< normal with mean 0 and standard deviation `value`
    positions = 4, ///< `value`, `value` + 1 ... row-major
    upper = 5, ///< `value` where the last index is above the one before, else 0
    lower = 6, ///< `value` where it is not, else 0
  };
  Kind kind = constant;
  double value = 0.0;
  int64_t offset = 0;
};

/// What a state value is.
enum class StateKind : int {
  parameter, ///< or a running statistic: dumped as param/<name>.npy, read by
             ///< --weights, part of a checkpoint
  slot,      ///< of the optimizer, the loss scale, or a running mean of a
             ///< parameter: part of a checkpoint
  constant,  ///< never changes, and is made anew
};

/// Part of a loop-carried state value on this rank (a parameter, a momentum, a
/// frozen constant). Random initial values depend on seed, the hash of `name`
/// and the global element index only.
struct StateSlot {
  const char *name; ///< ONNX name of the parameter; slots append "/NAME"
  StateKind kind;
  Init init;
  Tensor tensor;
  /// The parameter that this is a rounded copy of, or a slot the running mean
  /// of, with the same init; or null.
  const char *of = nullptr;
};

/// Part of a graph input on this rank, refilled before every micro-batch.
struct InputSlot {
  const char *name; ///< ONNX input name, or "target"
  Tensor tensor;
};

/// Description of one graph input, the same on all ranks.
struct InputInfo {
  const char *name;
  DType type; ///< type in the program; files of wider types are converted
  int rank;
  Index shape; ///< global
  bool target; ///< class indices or regression target
  /// What the numbers lie below where they are classes or rows of a table:
  /// files are checked. Of float targets what synthetic ones lie below. Else 0.
  int64_t classes;
};

/// One graph output, the loss, or a gradient: dumped from `probe` calls.
struct OutputInfo {
  const char *name; ///< path below the dump folder without ".npy"
  DType type;
  int rank;
  Index shape;
};

/// Per-rank figures printed by --info, and checked against what is used.
struct RankInfo {
  int64_t state_bytes;
  int64_t arena_bytes;
  double flops; ///< per step
  /// Predicted, of a step: kernels and copies, without waits; 0: unknown.
  double busy_seconds = 0;
  int node = 0; ///< of the topology
};

/// Messages that show whether links are as fast as they should be: ranks r and
/// r ^ distance exchange so many bytes, all such pairs at once, and each takes
/// the seconds that are predicted.
struct LinkProbe {
  int distance;
  int64_t bytes;
  /// So many pairs, in the order of their lower ranks.
  struct Pairs {
    int count;
    double seconds;
  };
  std::vector<Pairs> pairs;
};

struct ProgramInfo {
  const char *model;
  const char *model_hash;
  const char *topology_hash;
  const char *strategy_hash;
  int ranks;
  bool training;
  int64_t batch; ///< samples of a micro-batch
  double default_learning_rate, default_weight_decay;
  double predicted_step_seconds;
  std::vector<InputInfo> inputs;
  std::vector<OutputInfo> outputs;
  std::vector<RankInfo> rank_info;
  int micro_batches = 1;     ///< of a step
  bool tf32 = false;         ///< Context::tf32
  bool switches_add = false; ///< NCCL may let switches add up, in any order
  const char *trained = "";  ///< what is, in words
  /// Of every rank's state and arena, so many bytes at the beginning are
  /// symmetric: the buffers of a collective lie there at one offset on all of
  /// its ranks, or not at all.
  int64_t symmetric_state = 0, symmetric_arena = 0;
  const char *weights_hash =
      "";                    ///< of the file of values; empty: there is none
  const char *strategy = ""; ///< in one line
  double peak_flops = 0;     ///< per second, of all devices; 0: unknown
  /// The strategy in the format of docs/strategy.md, and hashes (hash.h) of
  /// files in any format that say the same.
  std::vector<const char *> strategy_lines;
  std::vector<uint64_t> strategy_files;
  std::vector<const char *> updated; ///< parameters, by name
  double default_clip_value = 0;     ///< 0: none
  std::vector<LinkProbe> link_probes;
};

/// Receives tensors that the program offers for dumping.
class Probe {
public:
  virtual ~Probe() = default;
  /// Called inside a step when `name`'s value is complete on this rank. The
  /// box of `tensor` is this rank's share; several ranks may offer copies.
  virtual void offer(const char *name, const Tensor &tensor) = 0;
};

/// Memory of a rank. The symmetric part, at the beginning, may lie apart from
/// the rest.
struct Section {
  std::byte *symmetric, *rest;
  int64_t symmetric_bytes;
  std::byte *operator+(int64_t offset) const {
    return offset < symmetric_bytes ? symmetric + offset
                                    : rest + (offset - symmetric_bytes);
  }
};

/// Everything a rank's program needs from the runtime.
struct Host {
  Context &context;
  Comm &comm;
  Probe &probe;
  Section state; ///< RankInfo::state_bytes, 64-byte aligned
  Section arena; ///< RankInfo::arena_bytes, 64-byte aligned
  Trace *trace;  ///< null: no task is traced
  /// Looks at the results of tasks; null: nobody does. May change between
  /// steps.
  ResultCheck *check = nullptr;
};

/// What is done for a micro-batch, and after the last one.
enum class StepPart { micro_batch, update };

/// The program of one rank, built once before the first step.
class RankProgram {
public:
  virtual ~RankProgram() = default;
  virtual std::vector<StateSlot> states() = 0;
  virtual std::vector<InputSlot> inputs() = 0;
  /// What a step starts, in this order: kernels, copies and communication.
  virtual std::vector<TaskId> tasks() = 0;
  /// Does each rank do its tasks in an order of its own?
  virtual bool has_own_order() const { return false; }
  /// One training step (or one forward evaluation); of a program with several
  /// micro-batches, one of them.
  virtual void step() = 0;
  /// What a step does after its last micro-batch.
  virtual void update() {}
  /// Called before and after step() and update(), for checks of what they do.
  virtual void begin(StepPart) {}
  virtual void end(StepPart) {}
  /// One element, on rank 0: the global loss of the last micro-batch. Absent on
  /// other ranks, and where the program has none.
  virtual Tensor loss() = 0;
};

/// Builds the program of `host.context.rank`.
using MakeProgram = std::unique_ptr<RankProgram> (*)(Host &host);

/// What an evaluation offers of every batch. A row is of a sample, or of each
/// of its positions.
enum class EvaluationRows {
  losses,  ///< "rows/loss": one number, the model's own loss of the batch
  classes, ///< "rows/loss", "rows/top" (likeliest classes, in descending order,
           ///< along the last dimension) and "rows/target"
  numbers, ///< "rows/prediction" and "rows/target", of mean squares
  logits,  ///< the same, of yes or no
};

/// The forward pass with what is trained. It has the state of the training
/// program, whose offsets are the same, and may have more behind that; it uses
/// the arena while no step does.
struct Evaluation {
  ProgramInfo info;
  MakeProgram make;
  EvaluationRows rows;
};
using MakeEvaluation = Evaluation (*)();

/// Parses the command line, runs, and returns the exit status. `evaluation`:
/// null if the program has none.
int run(int argc, char **argv, const ProgramInfo &info, MakeProgram make,
        MakeEvaluation evaluation = nullptr);

} // namespace ffrt

#endif // FFRT_PROGRAM_H
