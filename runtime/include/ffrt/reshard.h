//===- reshard.h - a value on its way to those that read it -----*- C++ -*-===//
#ifndef FFRT_RESHARD_H
#define FFRT_RESHARD_H

#include "ffrt/layer.h"

#include <memory>
#include <variant>
#include <vector>

namespace ffrt {

/// What this rank does for a value that is needed elsewhere, or otherwise, than
/// it was made: copies, an exchange of messages, collectives. It starts when
/// the value is there and ends when what needs it has it.
///
/// Rows: operator, phase; how many parts, and of each how many actions; the
/// actions, each of which is one of
///   copies      position, point and instance of the first task; how many
///               copies, how many loops they are the body of, the turns of
///               each; of each copy what it does with the target (replace, add,
///               maximum, or mean over micro-batches), both buffers, the target
///               first, both places, size, and by loop how far both places move
///   exchange    position, point, instance, transfer, tag; how many messages
///               are sent, peer and buffer of each; the same of what is
///               received
///   collective  position, point, instance, transfer, what it does, group,
///               source, target, reduction, algorithm, root, schedule or none,
///               how many start as one with it (Comm::start_together): 0 if it
///               starts with one before
///   wait        the communication waited for, counted from 0
class Reshard {
public:
  explicit Reshard(Layer &layer);
  ~Reshard();
  Reshard(const Reshard &) = delete;
  Reshard &operator=(const Reshard &) = delete;

  /// All of it.
  void operator()();
  /// Of what starts early, and waits later: the first part and the last one.
  void start() { part(0); }
  void finish() { part(parts.size() - 1); }
  void part(std::size_t number);
  /// The next part, in a pipeline that of the next micro-batch; after the last
  /// one the first.
  void next();

private:
  struct Copy {
    enum class How : int64_t {
      copy = words::replace,
      add = words::add,
      maximum = words::maximum,
      mean = words::mean
    };
    How how;
    Tensor dst, src;
    Index dst_at, src_at, size;
    std::vector<Index> dst_step, src_step; ///< by loop
  };
  struct Copies {
    std::size_t position, tasks; ///< among the tasks of the step
    std::vector<Copy> body;
    std::vector<int64_t> turns; ///< of the loops, outermost first
    std::vector<int64_t> at;    ///< the turn that each is in
  };
  struct Exchange {
    std::size_t position;
    const char *transfer;
    int tag;
    std::vector<Message> sends, receives;
  };
  struct Collective {
    std::size_t position;
    enum class Kind : int64_t {
      all_reduce = words::all_reduce,
      all_gather = words::all_gather,
      reduce_scatter = words::reduce_scatter,
      broadcast = words::broadcast
    };
    const char *transfer;
    Kind kind;
    const Group *group;
    Tensor src, dst;
    ReduceOp reduce;
    CollectiveAlgorithm algorithm;
    int root;
    std::shared_ptr<ScheduledCollective> scheduled; ///< null: not by a schedule
    int starts;
  };
  struct Wait {
    std::size_t communication;
  };
  using Action = std::variant<Copies, Exchange, Collective, Wait>;

  struct Reader;

  void run(Action &action);
  void copy(Copies &copies) const;
  void copy(const Copy &copy, const std::vector<int64_t> &at) const;
  Event begin(const Exchange &exchange);
  Event begin(const Collective &collective);
  Event begin_scheduled(const Collective &collective);
  /// For Host::check: what is a sum of others may not be finite although they
  /// are.
  void look_at_sums(const Action &action) const;

  Program &program;
  std::vector<std::vector<Action>> parts;
  std::vector<Event> events; ///< of the communication started so far
  std::vector<const Collective *> collectives; ///< of events; null: exchanges
  std::size_t started = 0;
  std::size_t turn = 0; ///< the next part
};

} // namespace ffrt

#endif // FFRT_RESHARD_H
