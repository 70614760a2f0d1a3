//===- Text.h - what the readers of text files share ------------*- C++ -*-===//
//
// Private to the library: files as strings, and the parts of messages.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TEXT_H
#define FFC_LIB_PLAN_TEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ffc::plan {

/// What is wrong with a line of a file, from 1. Thrown inside the readers only;
/// their public functions turn it into "FILE:LINE: MESSAGE".
struct Malformed {
  int line;
  std::string message;
};

/// The bytes of the regular file `path`, at most `limit` of them. On failure
/// returns nothing and sets `error` ("PATH: cannot be read: ...").
std::optional<std::string> readTextFile(const std::string &path, size_t limit,
                                        std::string &error);

/// "'text'" with unprintable bytes as \xHH, cut after 80 bytes: what a message
/// quotes from a file that may hold anything.
std::string quoted(const std::string &text);

/// "a, b, c".
std::string joined(const std::vector<std::string> &items);

/// "; did you mean 'conv1'?" with the item of `known` nearest to `text` by edit
/// distance, the first of equals; empty if none is near.
std::string suggestion(const std::string &text,
                       const std::vector<std::string> &known);

/// The non-negative decimal number that is all of `text`, if it is one and at
/// most `max`.
std::optional<long long> parseCount(const std::string &text, long long max);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TEXT_H
