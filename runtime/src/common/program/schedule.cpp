//===- schedule.cpp - schedules as text and in steps ----------------------===//
#include "ffrt/schedule.h"

#include "ffrt/tables.h"

#include <algorithm>
#include <sstream>

namespace ffrt {

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

namespace {

/// Follows transfers in their order and says in which step each can be.
class StepNumbers {
public:
  explicit StepNumbers(const Schedule &schedule)
      : chunks(std::size_t(schedule.chunks)),
        last(std::size_t(schedule.members), 0),
        copies(std::size_t(schedule.members) * chunks) {}

  int next(const Schedule::Transfer &t, bool reduces) {
    Copy &from = copy_of(t.src, t.chunk), &to = copy_of(t.dst, t.chunk);
    int &of_src = last[std::size_t(t.src)], &of_dst = last[std::size_t(t.dst)];
    // What members do stays in order; a chunk goes on after it has arrived.
    int step = std::max({of_src, of_dst, from.arrived + 1});
    // What arrives in a step is reduced after it, in order; what overwrites
    // must be alone.
    if (!reduces)
      step = std::max({step, to.arrived + 1, to.left + 1});
    else if (!to.reduced)
      step = std::max(step, to.arrived + 1);
    of_src = of_dst = from.left = to.arrived = step;
    to.reduced = reduces;
    return step;
  }

private:
  /// What has happened to a member's copy of a chunk, by steps; -1: nothing.
  struct Copy {
    int arrived = -1, left = -1;
    bool reduced = false;
  };
  Copy &copy_of(int member, int chunk) {
    return copies[std::size_t(member) * chunks + std::size_t(chunk)];
  }

  const std::size_t chunks;
  std::vector<int> last; ///< by member
  std::vector<Copy> copies;
};

} // namespace

Schedule Schedule::read(const char *text) {
  std::istringstream words(text);
  Schedule schedule;
  std::string kind;
  words >> kind >> schedule.algorithm >> schedule.members >> schedule.chunks >>
      schedule.reducing;
  if (kind == "all_gather")
    schedule.kind = Kind::all_gather;
  else if (kind == "reduce_scatter")
    schedule.kind = Kind::reduce_scatter;
  else if (kind != "all_reduce")
    fail_in_tables("expected a schedule of a collective, found '" + kind + "'");
  bool fits = bool(words) && schedule.members > 0 && schedule.chunks > 0 &&
              (schedule.kind == Kind::all_reduce ||
               schedule.chunks % schedule.members == 0);
  for (Transfer t{}; fits && words >> t.chunk >> t.src >> t.dst;) {
    fits = t.chunk >= 0 && t.chunk < schedule.chunks && t.src >= 0 &&
           t.src < schedule.members && t.dst >= 0 && t.dst < schedule.members;
    schedule.transfers.push_back(t);
  }
  if (!fits || !words.eof())
    fail_in_tables("expected the numbers of a schedule, found others in '" +
                   schedule.algorithm + "'");
  StepNumbers steps(schedule);
  for (std::size_t i = 0; i < schedule.transfers.size(); ++i)
    schedule.transfers[i].step =
        steps.next(schedule.transfers[i], i < schedule.reducing);
  return schedule;
}

int64_t Schedule::chunk_begin(int64_t elements, int chunk) const {
  const int64_t blocks = kind == Kind::all_reduce ? 1 : members;
  const int64_t of_block = chunks / blocks, block = elements / blocks;
  const int64_t place = chunk % of_block;
  return block * (chunk / of_block) + block / of_block * place +
         std::min(place, block % of_block);
}

} // namespace ffrt
