//===- link_watch.h - links that are slower than they should be -*- C++ -*-===//
#ifndef FFRT_COMMON_LINK_WATCH_H
#define FFRT_COMMON_LINK_WATCH_H

#include "common/device/memory.h"
#include "common/program/outliers.h"
#include "common/program/rank_map.h"
#include "ffrt/comm.h"
#include "ffrt/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// Exchanges messages between steps, for nothing but to see how long they take,
/// and finds the pairs of ranks between which that is longer than predicted,
/// and than between others (Outliers).
///
/// Messages take about 1 % of a run at most: rounds of longer ones are further
/// apart.
///
/// Pairs on one machine whose ranks compute on its cores have no link, and are
/// left out; so is everything where memory is less than 128 KiB. A round has
/// the pairs of one distance (ffrt::LinkProbe), or those of them that are left;
/// rounds take turns.
class LinkWatch {
public:
  /// `comm` is that of the steps, `host` that of the host, `places` are those
  /// of all ranks, `memory` has the same size on all. All must outlive it.
  LinkWatch(Comm &host, Comm &comm, const ProgramInfo &info,
            const std::vector<RankPlace> &places, IdleMemory memory);

  /// False: there is nothing to watch.
  bool any() const { return !rounds.empty(); }

  /// Collective: exchanges the messages of all rounds once, so that connections
  /// are there.
  void connect();
  /// The next steps are followed by a probe().
  bool is_due() const { return talks_left == 0; }
  /// Collective, between two steps: exchanges the messages of this round, and
  /// gives the seconds on this rank; 0 if it has no partner.
  double probe();

  /// Warnings of pairs that are newly found to be slow. `times` has kWindow
  /// results of probe() in this round, of all ranks, rank after rank.
  std::vector<std::string> find_slow(const double *times);

  /// When ranks have told each other, the same on all of them: the seconds that
  /// the probes of a window took the slowest, if they were due, and those since
  /// the ranks talked before.
  void talked(double seconds, double since);

private:
  struct Pair {
    int low, high; ///< ranks
  };
  struct Round {
    int distance;
    int64_t bytes;
    std::size_t first, count; ///< among `pairs`
    /// What its last windows took. The least counts, so that a link that has
    /// become slow is soon found.
    std::array<double, kSlowWindows + 2> seconds{};
    std::size_t windows = 0;
  };
  double exchange(const Round &round);
  /// A pair of this round.
  std::string describe(const Outliers::Found &slow) const;

  Comm &host, &comm;
  const std::vector<RankPlace> &places;
  const IdleMemory memory;
  std::vector<Round> rounds;
  std::vector<Pair> pairs;
  std::size_t now = 0;    ///< round
  int64_t talks_left = 0; ///< until it begins
  Outliers outliers;
  std::vector<double> times; ///< of a round's pairs
  std::vector<Message> sent, received;
};

} // namespace ffrt

#endif // FFRT_COMMON_LINK_WATCH_H
