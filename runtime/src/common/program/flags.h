//===- flags.h - the flags of a command line --------------------*- C++ -*-===//
#ifndef FFRT_COMMON_FLAGS_H
#define FFRT_COMMON_FLAGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ffrt {

/// Throws Error: "FLAG: expected WHAT, found 'FOUND'".
[[noreturn]] void expected(const std::string &flag, const std::string &what,
                           const std::string &found);

/// A value that must be a whole number within these bounds, which `what` names.
int64_t whole_number(const std::string &flag, const std::string &what,
                     const std::string &text, int64_t least, int64_t most);

/// A value that must be a finite number above 0.
double positive_number(const std::string &flag, const std::string &text);

/// A value that must not be empty.
std::string path(const std::string &flag, const char *what,
                 const std::string &text);

/// Goes through a command line, flag by flag. Values are given as
/// `--flag=value` or `--flag value`; those that begin with "--" only as the
/// former, since the next flag is easily taken for a value that was forgotten.
class Flags {
public:
  Flags(int argc, char **argv) : argc(argc), argv(argv) {}

  /// Moves on to the next flag; false at the end.
  bool next();
  /// The flag as it is given, without a value.
  const std::string &name() const { return given; }
  /// What is joined to it, or the next word. Throws Error without either, and
  /// if the next word is a flag.
  std::string value();
  /// What is joined to it, or the next word unless that is a flag; else empty.
  std::string optional_value();
  /// Throws Error if a value is joined to it.
  void expect_no_value() const;
  /// Throws Error: the program does not have the flag.
  [[noreturn]] void reject() const;
  /// The words of the command line that belong to the flag.
  std::vector<std::string> words() const { return {argv + first, argv + end}; }

private:
  int argc;
  char **argv;
  int first = 0, end = 1; ///< words of the flag
  std::string given, joined;
  bool is_joined = false;
};

} // namespace ffrt

#endif // FFRT_COMMON_FLAGS_H
