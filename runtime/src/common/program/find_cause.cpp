//===- find_cause.cpp - where values began not to be finite ---------------===//
#include "common/program/find_cause.h"

#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/error.h"
#include "ffrt/result_check.h"

#include <cmath>
#include <limits>

namespace ffrt {

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
constexpr int64_t kBeforeAll = -1;
/// Of steps that are run again.
constexpr double kMostSeconds = 600;
constexpr const char *kAdvice =
    "a smaller --lr, or gradients that are clipped (ffc --clip-norm), may "
    "help; --on-nan=skip leaves such steps out, --any-loss goes on";

std::string text_of(const TaskId &task) {
  return "operator '" + std::string(task.op) + "' (task " + task.op + "#" +
         std::to_string(task.phase) + "@" + std::to_string(task.point) + "." +
         std::to_string(task.instance) + ")";
}

/// Looks on this rank, and asks the others.
class Search {
public:
  Search(Comm &comm, const Group &world, const BadStep &bad, Instance &instance,
         Place from)
      : comm(comm), world(world), bad(bad), instance(instance), from(from),
        check(instance.program().has_own_order()) {}

  ResultCheck *results() { return &check; }

  void end_if_long(double seconds) {
    const auto is_long = int64_t(seconds > kMostSeconds);
    int64_t anywhere = is_long;
    comm.wait(comm.all_reduce("find cause", world,
                              flat(&anywhere, DType::i64, 1), ReduceOp::max));
    if (anywhere)
      end("it is more than " + std::to_string(int(kMostSeconds)) +
          " s of steps behind the beginning and the newest checkpoint, so that "
          "they are not run again to find the cause (--checkpoint-every)");
  }

  void parameters() {
    for (const StateSlot &slot : instance.states())
      if (slot.kind != StateKind::constant && moment == kNone)
        if (const auto values = find_bad_values(slot.tensor);
            values && std::isnan(values->value))
          found(kBeforeAll,
                "the first value that is not finite is before step " +
                    std::to_string(from.step + 1) + " that of '" + slot.name +
                    "', " + to_string(*values));
    end_if_found();
  }

  /// Looks at what a micro-batch begins with.
  void inputs() {
    for (const InputSlot &slot : instance.inputs())
      if (bad_input.empty())
        if (const auto values = find_bad_values(slot.tensor))
          bad_input = std::string("of the input '") + slot.name + "', " +
                      to_string(*values);
  }

  void after(int64_t step) {
    if (step == from.step && step + 1 < bad.step)
      check.accept();
    else if (const auto &first = check.first()) {
      const bool begins = bad_input.empty();
      found(begins ? first->moment : kBeforeAll,
            "the first value that is not finite is in step " +
                std::to_string(step + 1) + " that " +
                (begins ? "" : bad_input + "; the first result is that ") +
                describe(*first));
    }
    bad_input.clear();
    end_if_found();
  }

  [[noreturn]] void end(const std::string &what) {
    together(comm, world, "run", [&] {
      if (comm.rank() == 0)
        throw Error(message(what));
    });
    throw Stop{1};
  }

private:
  std::string message(const std::string &what) const {
    return bad.what + "; " + what + "; " + kAdvice;
  }

  void found(int64_t when, const std::string &what) {
    moment = when;
    cause = what;
  }

  std::string describe(const ResultCheck::Finding &found) const {
    const Tensor &t = found.bad.tensor;
    std::string what = "result " + std::to_string(found.result);
    for (const StateSlot &slot : instance.states())
      if (slot.tensor.data == t.data)
        what += std::string(", '") + slot.name + "'";
    return "of " + text_of(instance.program().tasks().at(found.task)) + ": " +
           what + ", " + to_string(found.bad);
  }

  /// The first of all ranks ends them.
  void end_if_found() {
    int64_t first = -moment;
    comm.wait(comm.all_reduce("find cause", world, flat(&first, DType::i64, 1),
                              ReduceOp::max));
    if (-first == kNone)
      return;
    together(comm, world, "run", [&] {
      if (moment == -first)
        throw Error(message(cause));
    });
  }

  Comm &comm;
  const Group &world;
  const BadStep &bad;
  Instance &instance;
  const Place from;
  ResultCheck check;
  int64_t moment = kNone;       ///< of what was found
  std::string cause, bad_input; ///< of this rank; empty: none
};

} // namespace

void end_with_cause(Comm &comm, const Group &world, const BadStep &bad,
                    Instance &instance, Repeat &repeat, Place from,
                    int64_t batch, std::function<void(int64_t)> begin_step,
                    double seconds) {
  Search search(comm, world, bad, instance, from);
  search.end_if_long(seconds);
  if (comm.rank() == 0) {
    say(bad.what + ": runs again from step " + std::to_string(from.step + 1) +
        " on, with checks, to find the cause");
  }
  search.parameters();
  repeat.run(from, bad.step, batch,
             {std::move(begin_step), [&](int64_t) { search.inputs(); },
              [&](int64_t step) { search.after(step); }},
             search.results());
  search.end(
      "all results of operators are finite now: a processor or memory may "
      "be at fault");
}

} // namespace ffrt
