//===- tuned.h - kernels by the algorithm that a test wants -----*- C++ -*-===//
#ifndef FFRT_TEST_TUNED_H
#define FFRT_TEST_TUNED_H

#include "cuda/plans/tuner.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace ffrt_test {

/// What call() gives when everything in it that has several algorithms
/// (problems called "algorithm of") takes `algorithm`; there are `choices` of
/// them.
template <class F>
auto by_algorithm(const std::string &algorithm, std::size_t choices,
                  const F &call) {
  using ffrt::cuda::PlanCache;
  using ffrt::cuda::tuner;
  tuner().start("gpu", {});
  call();
  std::size_t found = 0;
  std::string text;
  std::istringstream lines(tuner().found().text());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("; algorithm of ") < line.size()) {
      line = line.substr(0, line.find(" -> ")) + " -> " + algorithm;
      ++found;
    }
    text += line + "\n";
  }
  EXPECT_EQ(found, choices);
  PlanCache known;
  known.read(text, "known");
  tuner().start("gpu", known);
  const auto result = call();
  // Only what belongs to the other algorithm is new.
  EXPECT_EQ(tuner().found().text().find("; algorithm of "), std::string::npos);
  tuner().stop();
  return result;
}

} // namespace ffrt_test

#endif // FFRT_TEST_TUNED_H
