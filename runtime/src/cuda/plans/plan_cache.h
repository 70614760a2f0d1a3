//===- plan_cache.h - plans of libraries as a file has them -----*- C++ -*-===//
//
// One line for every problem: what is computed, where and by which library, and
// the name of the plan that is taken.
//
//   ffrt plans 1
//   DEVICE; PROBLEM -> PLAN
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_PLAN_CACHE_H
#define FFRT_CUDA_PLAN_CACHE_H

#include <map>
#include <string>

namespace ffrt::cuda {

class PlanCache {
public:
  /// Adds the lines of a file called `name`, as text() wrote them. Throws Error
  /// where they are none.
  void read(const std::string &text, const std::string &name);
  std::string text() const;

  /// Null where there is none.
  const std::string *find(const std::string &problem) const;
  /// Instead of what was there.
  void set(const std::string &problem, const std::string &plan);
  /// Those of problems that are not there yet.
  void add(const PlanCache &others);

  std::size_t size() const { return plans.size(); }
  /// Has it another plan than `other` for a problem of both?
  bool contradicts(const PlanCache &other) const;

private:
  std::map<std::string, std::string> plans; ///< by problem
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PLAN_CACHE_H
