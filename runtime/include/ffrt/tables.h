//===- tables.h - what the ranks of a program have --------------*- C++ -*-===//
//
// The text of a program is the same for all ranks; what they have of it stands
// in tables: buffers, tiles, peers. Ranks that differ in a few numbers only
// share a list, a *class*, in which `own(i)` stands for number i of the rank's
// own row.
//
// The list of a class, in this order:
//   buffers   how many; of each: section, offset, type, order, rank, shape,
//             first coordinates, global shape
//   states    how many; of each: index into Tables::states, buffer
//   inputs    how many; of each: index into Tables::inputs, buffer
//   loss      its buffer, or -1
//   layers    how many; of each: how many numbers follow, then those of its
//             members in their order (layer.h, reshard.h)
//   passes    of a pipeline, how many a step has; of each its number in the
//   text
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_TABLES_H
#define FFRT_TABLES_H

#include "ffrt/program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// Words that stand for numbers in lists.
namespace words {
constexpr int64_t state = 0, arena = 1;
constexpr auto f32 = int64_t(DType::f32), f64 = int64_t(DType::f64),
               i32 = int64_t(DType::i32), i64 = int64_t(DType::i64),
               u8 = int64_t(DType::u8), boolean = int64_t(DType::boolean),
               bf16 = int64_t(DType::bf16), f16 = int64_t(DType::f16);
constexpr auto row_major = int64_t(Order::row_major),
               channels_last = int64_t(Order::channels_last),
               pitched = int64_t(Order::pitched);
constexpr int64_t copies = 0, exchange = 1, collective = 2, wait = 3;
constexpr int64_t replace = 0, add = 1, maximum = 2, mean = 3;
constexpr int64_t all_reduce = 0, all_gather = 1, reduce_scatter = 2,
                  broadcast = 3;
constexpr auto sum = int64_t(ReduceOp::sum), max = int64_t(ReduceOp::max);
constexpr auto library = int64_t(CollectiveAlgorithm::library),
               one_shot = int64_t(CollectiveAlgorithm::one_shot),
               two_shot = int64_t(CollectiveAlgorithm::two_shot),
               schedule = int64_t(CollectiveAlgorithm::schedule);
constexpr int64_t none = -1;
} // namespace words

/// Number `i` of the rank's own row.
constexpr int64_t own(int64_t i) { return INT64_MIN + i; }

/// A state, without what ranks have of it.
struct StateInfo {
  const char *name;
  StateKind kind;
  Init init;
  const char *of = nullptr;
};

/// Throws an internal Error about tables that do not fit the text.
[[noreturn]] void fail_in_tables(const std::string &what);

/// A part of a class's list for one rank, read from the front.
class Rows {
public:
  Rows() = default;
  Rows(const int64_t *first, std::size_t count, const int64_t *row,
       std::size_t width)
      : at(first), end(first + count), row(row), width(width) {}

  /// Throws an internal Error where the list ends.
  int64_t next();
  int next_int() { return static_cast<int>(next()); }
  /// How many rows follow.
  std::size_t next_count();
  /// An element of `list`, the number of which comes next.
  template <class T> T &next_of(std::vector<T> &list) {
    return list[next_below(list.size())];
  }
  template <class T> const T &next_of(const std::vector<T> &list) {
    return list[next_below(list.size())];
  }
  Index next_index(int rank);
  /// The next so many numbers, which are then behind.
  Rows take(std::size_t count);
  bool empty() const { return at == end; }

private:
  std::size_t next_below(std::size_t size);

  const int64_t *at = nullptr, *end = nullptr, *row = nullptr;
  std::size_t width = 0;
};

/// Ranks that share a list.
struct RankClass {
  const int64_t *numbers;
  std::size_t size;
  const int64_t *own; ///< the rows of its ranks, one after the other
  std::size_t width;  ///< of a row
};

/// Where a rank's numbers are.
struct Place {
  std::size_t number, row; ///< of the class, and in it
};

struct Tables {
  std::vector<std::vector<int>> groups; ///< members of each communicator
  /// Of collectives by schedules (Schedule::read).
  std::vector<const char *> schedules;
  std::vector<const char *> operators; ///< what tasks are of
  std::vector<const char *> transfers; ///< what is communicated: "b <- a"
  std::vector<const char *> inputs, outputs;
  std::vector<StateInfo> states;
  std::vector<RankClass> classes;
  std::vector<Place> places; ///< by rank
};

} // namespace ffrt

#endif // FFRT_TABLES_H
