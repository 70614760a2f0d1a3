//===- Population.h - chains that learn from each other ---------*- C++ -*-===//
#ifndef FFC_LIB_SEARCH_POPULATION_H
#define FFC_LIB_SEARCH_POPULATION_H

#include "Kicks.h"

#include <functional>
#include <memory>
#include <vector>

namespace ffc::search {

/// A gain that is smaller is not worth another strategy.
constexpr double kWorthwhile = 0.01;

/// Chains on several threads. After each third of what they do the best answer
/// is repaired with what the others found, and those whose own is not nearly as
/// good go on from it; at the end it is repaired again, and the best ones are
/// kicked. What comes out does not depend on the threads.
class Population {
public:
  /// `stopped` says whether a share of the time is over, or all of it has to
  /// end. The walker, of the whole space, is that of repairs. Arguments must
  /// outlive it.
  Population(const Space &space, Walker &walker, const Options &options,
             const std::vector<int64_t> &room,
             std::function<bool(double)> stopped);

  /// Thread t of T runs chains t, t + T, ..., which may share what only one
  /// thread may use; the walker is used by the first one.
  void add(std::unique_ptr<Chain> chain) { chains.push_back(std::move(chain)); }
  /// One more thread that kicks, whose table this is.
  void addThread(plan::SegmentTable &table) { kicks.addThread(table); }
  /// What is good, too: repairs choose from its configurations, kicks take over
  /// its branches.
  void note(const plan::Strategy &strategy);

  /// `report` is called now and then by the first thread, and may be empty.
  void run(int threads, const std::function<void(const Chain &)> &report);

  /// The best one of every chain, and the repaired one. Best first.
  std::vector<Baseline> answers() const;
  void addCounts(Result &result) const;

private:
  void runChains(int threads, double share,
                 const std::function<void(const Chain &)> &report);
  void runShare(size_t first, size_t threads, double share,
                const std::function<void(const Chain &)> &report);
  void kick(const std::vector<Baseline> &all, int64_t budget);
  void sortByTime(std::vector<plan::Strategy> &strategies);
  void improve(bool isLast);
  void keep();

  Walker &walker;
  const Options &options;
  const std::vector<int64_t> &room;
  const Space &space;
  const bool hasBranches;
  const std::function<bool(double)> stopped;
  RoomWatch watch;
  Repair repair;
  Kicks kicks;
  std::vector<std::unique_ptr<Chain>> chains;
  std::optional<Baseline> repaired; ///< of their answers
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_POPULATION_H
