//===- result_check.h - looks at what tasks compute -------------*- C++ -*-===//
#ifndef FFRT_RESULT_CHECK_H
#define FFRT_RESULT_CHECK_H

#include "ffrt/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace ffrt {

/// A tensor with values that are infinite or no numbers.
struct BadValues {
  Tensor tensor; ///< its elements are not to be read any more
  Index at;      ///< the first in memory, by its global coordinates
  double value = 0;
  int64_t count = 0;
};

/// None: all are finite, as integers are. Waits for the device.
std::optional<BadValues> find_bad_values(const Tensor &tensor);

/// "shape [2, 3] at [0, 4] of [2, 12]: element [1, 5] is nan, 3 of 6 are not
/// finite"
std::string to_string(const BadValues &bad);

/// Finds out, while a step runs, which task is the first one of a rank whose
/// result is not finite. Programs have one only where that is asked for, since
/// it reads all results.
class ResultCheck {
public:
  struct Finding {
    std::size_t task = 0; ///< number in RankProgram::tasks()
    int result = 0;
    BadValues bad;
    /// Of two ranks, the smaller one came first.
    int64_t moment = 0;
  };

  /// `by_clock`: ranks do their tasks in orders of their own, as in pipelines,
  /// so that moments are those of the clock. Else they are places in the text
  /// of the step, which all ranks have in common.
  explicit ResultCheck(bool by_clock) : by_clock(by_clock) {}

  void begin_step();
  /// The statement of the step's text that is run now, on all ranks.
  void next_statement() { ++statement; }
  void look(std::size_t task, int result, const Tensor &tensor);
  /// The first one of this step, but for tasks that are usual.
  const std::optional<Finding> &first() const { return found; }
  /// What had such results in this step may have them: masks are minus
  /// infinity.
  void accept();

private:
  const bool by_clock;
  int64_t statement = 0;
  std::optional<Finding> found;
  std::set<std::size_t> bad, usual; ///< tasks: of this step, of all
};

} // namespace ffrt

#endif // FFRT_RESULT_CHECK_H
