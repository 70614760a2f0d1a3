//===- names.cpp - file names of values -----------------------------------===//
#include "common/data/names.h"

#include "common/profiling/json.h"
#include "ffrt/hash.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

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

std::string DumpPaths::add(const std::string &name, bool parameter) {
  constexpr std::size_t kMostBytes = 200; // and an ending
  std::string path = parameter ? "param/" + file_name(name) : dump_path(name);
  const auto key = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  const bool is_long = path.size() - path.find_last_of('/') - 1 > kMostBytes;
  if (is_long || !taken.insert(key(path)).second) {
    char hash[24];
    std::snprintf(hash, sizeof hash, "~%016llx",
                  static_cast<unsigned long long>(hash_name(name)));
    path = path.substr(0, path.find_last_of('/') + 1 + kMostBytes) + hash;
    taken.insert(key(path));
    names[path] = name;
  }
  return path;
}

std::string DumpPaths::unusual() const {
  std::string text;
  for (const auto &[path, name] : names)
    text += (text.empty() ? "{\n" : ",\n") + quoted(path) + ": " + quoted(name);
  return text.empty() ? text : text + "\n}\n";
}

} // namespace ffrt
