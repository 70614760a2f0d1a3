//===- recovery.cpp - what --on-nan asks for ------------------------------===//
#include "common/program/recovery.h"

#include "common/program/flags.h"
#include "common/program/say.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>

namespace ffrt {

OnNan parse_on_nan(const std::string &flag, const std::string &text) {
  if (text == "stop")
    return OnNan::stop;
  if (text == "skip")
    return OnNan::skip;
  if (text == "rollback")
    return OnNan::rollback;
  expected(flag, "stop, skip or rollback", text);
}

void Recovery::count(const BadStep &bad, int64_t from,
                     const std::string &path) {
  counted = from == last_from ? counted + 1 : 1;
  last_from = from;
  const bool skips = how == OnNan::skip;
  together(comm, world, "run", [&] {
    if (counted > kMost && comm.rank() == 0)
      throw Error(bad.what + ", after " + std::to_string(kMost) +
                  " such steps behind " + path +
                  " already: expected a run that goes on with --on-nan=" +
                  (skips ? "skip" : "rollback") +
                  ", found none; --on-nan=stop names the cause");
  });
  if (comm.rank() != 0)
    return;
  say(bad.what + ": goes back to " + path + " and " +
      (skips ? "leaves out step " : "on with the data behind step ") +
      std::to_string(bad.step) + " (" + std::to_string(counted) + " of " +
      std::to_string(kMost) + " from there)");
}

void Recovery::repeat_good(int64_t from, int64_t last, const Progress &progress,
                           Repeat &repeat, const Repeat::Hooks &hooks) const {
  for (int64_t done = from; done < last;) {
    const auto next = bad_steps.upper_bound(done);
    const int64_t end =
        next == bad_steps.end() ? last : std::min(*next - 1, last);
    if (end > done)
      repeat.run({done, progress.samples_after(done)}, end, batch, hooks);
    done = end < last ? end + 1 : end;
  }
}

BadStep
Recovery::find_first(const BadStep &bad, int64_t from, const Progress &progress,
                     Repeat &repeat, FiniteWatch &watch,
                     const std::function<void(int64_t step)> &begin_step) {
  try {
    repeat_good(from, bad.step, progress, repeat,
                {begin_step, {}, [&](int64_t step) {
                   watch.look_at_states(step + 1);
                 }});
  } catch (const BadStep &first) {
    return first;
  }
  together(comm, world, "run", [&] {
    if (comm.rank() == 0)
      throw Error(bad.what + "; run again, all are finite: a processor or "
                             "memory may be at fault");
  });
  return bad;
}

void Recovery::go_on(const BadStep &bad, int64_t from, const std::string &path,
                     Progress &progress, Repeat &repeat,
                     const std::function<void(int64_t step)> &begin_step) {
  count(bad, from, path);
  const int64_t behind = progress.samples_after(bad.step);
  if (how == OnNan::rollback) {
    progress.first_step = from;
    progress.first_sample = behind;
    return;
  }
  repeat_good(from, bad.step - 1, progress, repeat, {begin_step, {}, {}});
  bad_steps.insert(bad.step);
  progress.first_step = bad.step;
  progress.first_sample = behind;
}

} // namespace ffrt
