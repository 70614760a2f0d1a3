//===- json.h - texts in JSON -----------------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_JSON_H
#define FFRT_COMMON_JSON_H

#include <cstdio>
#include <string>

namespace ffrt {

/// In quotation marks, as JSON has it.
inline std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c >= 0 && c < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

} // namespace ffrt

#endif // FFRT_COMMON_JSON_H
