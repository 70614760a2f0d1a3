//===- shell.h - programs that tests run ------------------------*- C++ -*-===//
#ifndef FFRT_TEST_SHELL_H
#define FFRT_TEST_SHELL_H

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace ffrt {

struct Result {
  int status;       ///< 124: ended by the clock
  std::string text; ///< stdout and stderr
};

Result shell(const std::string &command);

/// How often a part occurs in a text.
int count(const std::string &text, const std::string &part);

/// The numbers of a .npy file.
std::vector<double> read(const std::string &path);

#define EXPECT_HAS(result, part)                                               \
  EXPECT_EQ(count((result).text, part), 1) << (result).text

} // namespace ffrt

#endif // FFRT_TEST_SHELL_H
