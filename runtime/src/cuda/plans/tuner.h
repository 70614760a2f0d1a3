//===- tuner.h - which plan of a library a problem takes --------*- C++ -*-===//
//
// A library proposes several plans for a problem, its best guess first. Which
// of them is fastest is measured once and kept (plan_cache.h). Sums differ in
// their last bits from plan to plan: ranks take the same ones, and so do all
// runs with the same file.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_TUNER_H
#define FFRT_CUDA_TUNER_H

#include "cuda/plans/plan_cache.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ffrt::cuda {

/// The plans for a problem, best guess first.
class Candidates {
public:
  virtual ~Candidates() = default;
  /// Their names, which are the same in every run.
  virtual std::vector<std::string> names() const = 0;
  /// Makes ready number i, which is taken until another one is. Throws Error if
  /// it does not work.
  virtual void take(std::size_t i) = 0;
  /// Seconds that the one taken needs. Throws Error where that cannot be
  /// measured.
  virtual double seconds() = 0;
};

class Tuner {
public:
  /// From now on plans are measured, on a device of this name, unless `known`
  /// has one for the problem.
  void start(const std::string &device, const PlanCache &known);
  /// From now on plans are taken as they are proposed.
  void stop();

  /// Takes one of the plans that work. The problem says the library and its
  /// version too. Throws Error when no plan works.
  void choose(const std::string &problem, Candidates &candidates);

  /// What has been known or found so far, and what of it was found.
  const PlanCache &plans() const { return all; }
  const PlanCache &found() const { return measured; }
  /// Plans that other ranks have found, and agreed on.
  void learn(const PlanCache &plans);

  /// Seconds after which no more plans of a problem are measured: some are
  /// compiled first.
  double most_seconds = 2;
  /// Where not null: gets every plan when it is found, so that a program that
  /// is ended while it measures has not measured in vain.
  std::function<void(const PlanCache &found)> keep;

private:
  bool take_known(const std::string &problem,
                  const std::vector<std::string> &names,
                  Candidates &candidates) const;
  void take_first(const std::vector<std::string> &names,
                  Candidates &candidates) const;
  void take_fastest(const std::string &problem,
                    const std::vector<std::string> &names,
                    Candidates &candidates);

  bool measures = false;
  std::string device;
  PlanCache all, measured;
};

/// This process's. It measures when the program has told it to.
Tuner &tuner();

} // namespace ffrt::cuda

#endif // FFRT_CUDA_TUNER_H
