//===- error.h - the runtime's one exception type ---------------*- C++ -*-===//
#ifndef FFRT_ERROR_H
#define FFRT_ERROR_H

#include <stdexcept>
#include <string>

namespace ffrt {

/// Bad input or an unsupported request found before or between steps. The text
/// is lower case, without a final stop, and says what was expected and found.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &text) : std::runtime_error(text) {}
};

} // namespace ffrt

#endif // FFRT_ERROR_H
