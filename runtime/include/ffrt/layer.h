//===- layer.h - what a layer of an emitted program is made of --*- C++ -*-===//
//
// An emitted program has a class for every kind of layer and an object for
// every layer. Members are the values that it works on, its kernels and its
// communication; each reads from the tables, in the order of the members, what
// this rank has of it. Nothing is allocated by calls.
//
// A program is compiled while its user waits. So what does not depend on a
// kernel's type is in the runtime, destructors included.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_LAYER_H
#define FFRT_LAYER_H

#include "ffrt/instances.h"
#include "ffrt/kernel.h"
#include "ffrt/schedule.h"
#include "ffrt/tables.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace ffrt {

/// The shards of a value that this rank holds: often one, of the values of
/// other ranks none.
class Shards {
public:
  Shards() = default;
  Shards(const std::vector<Tensor> &buffers, Rows rows);
  Shards(Shards &&) = default;
  ~Shards();

  const Tensor &at(std::size_t i) const;
  std::size_t size() const { return tensors.size(); }

private:
  std::vector<const Tensor *> tensors; ///< owned by the program
};

/// An operand or result that a kernel does without.
inline const Shards absent;

/// An operand or result of a kernel: a view of what outlives the call.
struct Operand {
  Operand(const Shards &shards) : shards(&shards) {}
  const Shards *shards;
};
using Operands = std::initializer_list<Operand>;

/// A rank's program. Everything that differs from rank to rank is in tables.
class Program : public RankProgram {
public:
  Program(Host &host, const Tables &tables);
  ~Program() override;

  std::vector<StateSlot> states() final;
  std::vector<InputSlot> inputs() final;
  std::vector<TaskId> tasks() final;
  Tensor loss() final;
  bool has_own_order() const final;
  /// Tasks must be started in their order, all of them: `end` throws Error
  /// else, and so does start_task().
  void begin(StepPart part) final;
  void end(StepPart part) final;

  // for steps

  /// The passes of a pipeline in the order in which this rank does them.
  template <class Step>
  void run(std::initializer_list<void (Step::*)()> passes) {
    for (std::size_t pass : pass_order)
      if (pass < passes.size())
        (static_cast<Step *>(this)->*passes.begin()[pass])();
      else
        fail_in_tables("expected the number of a pass below " +
                       std::to_string(passes.size()) + ", found " +
                       std::to_string(pass));
  }

  // for layers and their members

  /// Layer `number`'s part of the list. A layer is made once.
  Rows &layer(std::size_t number);
  /// A task that the step starts as number `position`.
  void add_task(std::size_t position, TaskId task);
  /// Called before `count` tasks that begin with number `position`.
  void start_tasks(std::size_t position, std::size_t count) {
    if (position != next_task)
      fail_out_of_order(position);
    next_task += count;
  }

  const Tables &tables;
  Host &host;
  std::vector<Group> groups;
  std::vector<Schedule> schedules;
  std::vector<Tensor> buffers;
  /// Of a number of collectives by a schedule, which start as one, those that
  /// have come.
  std::vector<ScheduledCollective *> starting;
  int to_start = 1;

private:
  void read_buffers(Rows &rows);
  void read_slots(Rows &rows);
  Tensor read_tensor(Rows &rows);
  [[noreturn]] void fail_out_of_order(std::size_t found) const;

  std::vector<StateSlot> state_slots;
  std::vector<InputSlot> input_slots;
  Tensor loss_tensor;
  std::vector<Rows> layers;
  std::vector<std::size_t> pass_order;
  std::vector<TaskId> task_list;
  std::size_t next_task = 0;
  std::size_t first_of_update = 0; ///< after the tasks of a micro-batch
};

/// The base of the classes of layers.
struct Layer {
  Layer(Program &program, std::size_t number)
      : program(program), rows(program.layer(number)) {}
  Layer(const Layer &) = delete;
  Layer &operator=(const Layer &) = delete;

  /// The value whose shards come next.
  Shards shards() { return {program.buffers, rows.take(rows.next_count())}; }

  Program &program;
  Rows &rows;
};

/// A kernel on tiles, whatever kernel it is: apart from it, so that a program
/// has little to compile.
class KernelTiles {
public:
  KernelTiles(const KernelTiles &) = delete;
  KernelTiles &operator=(const KernelTiles &) = delete;

  /// All turns.
  void operator()();
  /// The next one, after the last one the first.
  void next();

protected:
  struct Tile {
    std::size_t position; ///< among the tasks of the step
    std::vector<Tensor> in, out;
    void *kernel = nullptr;
  };
  /// What is done with a tile's kernel.
  struct Functions {
    void (*call)(void *kernel, Tensors in, Tensors out);
    void (*destroy)(void *kernel);
  };

  KernelTiles(Layer &layer, Operands in, Operands out, Functions functions);
  ~KernelTiles();

  Program &program;
  std::vector<Tile> tiles; ///< of all turns

private:
  void read_tile(Rows &rows, TaskId task, Operands in, Operands out);
  void begin_call() const;
  void run(const Tile &tile) const;
  void look_at(const Tile &tile) const;

  std::vector<std::size_t> turns; ///< the first tile of each
  std::size_t turn = 0;           ///< the next one
  const Functions functions;
};

/// A kernel on the tiles that this rank has of an operator.
///
/// Rows: how many turns it takes in a step, one or, in a pipeline, one for
/// every micro-batch; operator, phase, instance of the tasks (trace.h); of each
/// turn how many tiles; of each tile its position among the tasks of the step,
/// its grid point, the shard of every operand and result that is not absent,
/// and how many results it adds to, with their numbers.
template <class K> class Kernel : public KernelTiles {
public:
  template <class... Arguments>
  Kernel(Layer &layer, Operands in, Operands out, const Arguments &...arguments)
      : KernelTiles(layer, in, out,
                    {[](void *kernel, Tensors in, Tensors out) {
                       (*static_cast<K *>(kernel))(in, out);
                     },
                     [](void *kernel) { delete static_cast<K *>(kernel); }}) {
    for (Tile &tile : tiles)
      tile.kernel =
          new K(program.host.context, tile.in, tile.out, arguments...);
  }
};

/// Offers values for dumping.
///
/// Rows: how many turns it takes in a step; of each how many values; of each
/// the output and the buffer.
class Dump {
public:
  explicit Dump(Layer &layer);
  ~Dump();
  Dump(const Dump &) = delete;
  Dump &operator=(const Dump &) = delete;

  /// All turns.
  void operator()() const;
  /// The next one, after the last one the first.
  void next();

private:
  struct Offer {
    const char *output;
    Tensor tensor;
  };
  void offer(const std::vector<Offer> &offers) const;

  Probe &probe;
  std::vector<std::vector<Offer>> turns;
  std::size_t turn = 0; ///< the next one
};

} // namespace ffrt

#endif // FFRT_LAYER_H
