//===- names.cpp - file names of values -----------------------------------===//
#include "common/data/names.h"

namespace ffrt {

std::string file_name(const std::string &name) {
  std::string result = name;
  for (std::size_t i = 0; i < result.size(); ++i) {
    char c = result[i];
    bool usual = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                 (c == '.' && i > 0);
    if (!usual)
      result[i] = '_';
  }
  return result.empty() ? "_" : result;
}

std::string dump_path(const std::string &name) {
  std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0)
    return file_name(name);
  return file_name(name.substr(0, slash)) + "/" +
         file_name(name.substr(slash + 1));
}

} // namespace ffrt
