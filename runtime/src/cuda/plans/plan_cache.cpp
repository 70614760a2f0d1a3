//===- plan_cache.cpp - plans of libraries as a file has them -------------===//
#include "cuda/plans/plan_cache.h"

#include "ffrt/error.h"

#include <algorithm>
#include <sstream>

namespace ffrt::cuda {

static const std::string kHead = "ffrt plans 1", kArrow = " -> ";

void PlanCache::read(const std::string &text, const std::string &name) {
  std::size_t number = 1;
  auto expected = [&](const std::string &what, const std::string &found) {
    constexpr std::size_t kShown = 60;
    throw Error(name + ":" + std::to_string(number) + ": expected " + what +
                ", found '" + found.substr(0, kShown) + "'");
  };
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kHead)
    expected("'" + kHead + "'", line);
  while (std::getline(lines, line)) {
    ++number;
    const std::size_t arrow = line.find(kArrow);
    if (lines.eof() || arrow == 0 || arrow == std::string::npos ||
        arrow + kArrow.size() == line.size() ||
        line.find(kArrow, arrow + 1) != std::string::npos)
      expected("'PROBLEM" + kArrow + "PLAN' and the end of a line", line);
    const std::string problem = line.substr(0, arrow);
    if (find(problem))
      expected("every problem once", problem);
    set(problem, line.substr(arrow + kArrow.size()));
  }
}

std::string PlanCache::text() const {
  std::string result = kHead + "\n";
  for (const auto &[problem, plan] : plans)
    result += problem + kArrow + plan + "\n";
  return result;
}

const std::string *PlanCache::find(const std::string &problem) const {
  const auto at = plans.find(problem);
  return at == plans.end() ? nullptr : &at->second;
}

void PlanCache::set(const std::string &problem, const std::string &plan) {
  plans[problem] = plan;
}

void PlanCache::add(const PlanCache &others) {
  plans.insert(others.plans.begin(), others.plans.end());
}

bool PlanCache::contradicts(const PlanCache &other) const {
  return std::any_of(plans.begin(), plans.end(), [&](const auto &entry) {
    const std::string *plan = other.find(entry.first);
    return plan && *plan != entry.second;
  });
}

} // namespace ffrt::cuda
