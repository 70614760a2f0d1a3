//===- Action.h - one thing that a device does ------------------*- C++ -*-===//
#ifndef FFC_PLAN_ACTION_H
#define FFC_PLAN_ACTION_H

#include "ffc/Plan/TaskId.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ffc::plan {

using BufferId = int32_t; ///< index into DeviceProgram::buffers
using GroupId = int32_t;  ///< index into Program::groups

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// A phase of the task's operator on its grid point.
struct KernelAction {
  std::string kernel; ///< Phase::kernel
  PhaseKind part = PhaseKind::All;
  /// One per slot read or written by the phase, in its order; -1 absent.
  std::vector<BufferId> ins, outs;
  Tile tile;
  /// Indices of `outs`, ascending: adds its partial values to what is there.
  /// All others it overwrites.
  std::vector<int> addsTo;
  /// On how many devices, this one included, the operator has a kernel. They
  /// share what their node has.
  int devices = 1;
};

/// Copies a box of one buffer to another, or combines it into what is there.
struct CopyAction {
  BufferId dst = -1, src = -1;
  Shape dstAt, srcAt, size; ///< boxes of equal size in local coordinates
  Reduction combine = Reduction::None; ///< None copies
  /// `dst`, in the state, gets the mean of `src` over the micro-batches of a
  /// step.
  bool accumulates = false;
  /// On how many devices, this one included, the operator or the step of the
  /// reshard has such copies. They share what their node has.
  int devices = 1;
};

/// One message of an exchange: the whole contiguous buffer.
struct Message {
  DeviceId peer = -1;
  BufferId buffer = -1;
};

/// Grouped sends and receives, asynchronous.
struct ExchangeAction {
  int tag = 0;
  std::vector<Message> sends, receives;
};

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, Broadcast };
constexpr int kNumCollectiveKinds = 4;
/// Its word: "all_reduce", "all_gather", "reduce_scatter", "broadcast".
const char *str(CollectiveKind kind);

/// How the members of a collective do it. What it takes says CostModel.
enum class CollectiveAlgorithm : uint8_t {
  Library, ///< as NCCL or MPI choose
  /// Ranks that share memory: each reads from all others what it needs, at
  /// once.
  OneShot,
  /// AllReduce of ranks that share memory: each reduces its share of the whole
  /// from what all have, then reads the shares of the others.
  TwoShot,
  /// By messages of the program's own, as a schedule says
  /// (CollectiveSchedule.h).
  Schedule,
};
/// All of them.
constexpr CollectiveAlgorithm kCollectiveAlgorithms[] = {
    CollectiveAlgorithm::Library, CollectiveAlgorithm::OneShot,
    CollectiveAlgorithm::TwoShot, CollectiveAlgorithm::Schedule};
/// Its word: "library", "one_shot", "two_shot", "schedule".
const char *str(CollectiveAlgorithm algorithm);
/// Can collectives of this kind be done so?
bool canDo(CollectiveAlgorithm algorithm, CollectiveKind kind);
/// What ranks that share memory keep for the data of all members of an
/// all-reduce in one shot.
constexpr int64_t kOneShotBytes = 16 << 10;

/// A member's part of a collective, asynchronous. AllReduce and Broadcast use
/// `src` in place; AllGather reads `src` and writes `dst`; ReduceScatter the
/// reverse roles of sizes.
struct CollectiveAction {
  CollectiveKind kind = CollectiveKind::AllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Library;
  GroupId group = -1;
  BufferId dst = -1, src = -1;
  Reduction combine = Reduction::None; ///< of what reduces
  int root = 0;                        ///< index into the group's members
  int schedule = -1; ///< index into Program::schedules, by Schedule only
  int together = -1; ///< index into Program::together
  int batch = -1;    ///< index into Program::batches; -1: on its own
};

/// Waits for an exchange or collective.
struct WaitAction {
  int event = -1; ///< index of its action on the device
};

/// Offers a buffer for dumping.
struct ProbeAction {
  std::string output; ///< Output::name
  BufferId buffer = -1;
};

//===----------------------------------------------------------------------===//
// Action
//===----------------------------------------------------------------------===//

struct Action {
  TaskId task;
  std::string name; ///< "conv2", "conv2.x <- pool1.y"; for text and reports
  std::variant<KernelAction, CopyAction, ExchangeAction, CollectiveAction,
               WaitAction, ProbeAction>
      what;

  template <class Kind> bool is() const {
    return std::holds_alternative<Kind>(what);
  }
  /// Null if it is of another kind.
  template <class Kind> const Kind *as() const {
    return std::get_if<Kind>(&what);
  }
  template <class Kind> Kind *as() { return std::get_if<Kind>(&what); }
  /// It must be of this kind.
  template <class Kind> const Kind &get() const { return std::get<Kind>(what); }
  template <class Kind> Kind &get() { return std::get<Kind>(what); }

  /// Calls the case that takes what it is. There must be one for every kind.
  template <class... Cases> decltype(auto) visit(Cases &&...cases) const {
    return std::visit(
        Overloads<std::decay_t<Cases>...>{std::forward<Cases>(cases)...}, what);
  }

private:
  template <class... Cases> struct Overloads : Cases... {
    using Cases::operator()...;
  };
};

/// Exchanges and collectives.
bool isCommunication(const Action &action);
/// Communication and what a device does itself: kernels and copies. Waits and
/// probes are not.
bool isTask(const Action &action);
/// "kernel", "copy", "exchange", "collective", "wait" or "probe".
const char *kindOf(const Action &action);

} // namespace ffc::plan

#endif // FFC_PLAN_ACTION_H
