//===- names.h - file names of values ---------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_NAMES_H
#define FFRT_COMMON_NAMES_H

#include <map>
#include <set>
#include <string>

namespace ffrt {

/// File name of the value `name`: letters, digits, '_', '-' and '.' stay,
/// everything else and a leading '.' become '_'. Used for dumps and inputs.
std::string file_name(const std::string &name);

/// Path of the output `name` below the dump folder, without ".npy": up to the
/// first '/' the folder, then file_name of the rest.
std::string dump_path(const std::string &name);

/// Paths of values below a dump folder, without ".npy", by name: of parameters
/// param/<file_name>, of others dump_path. A path that another value has
/// already, whether or not capitals count, or whose file name is too long for
/// file systems, ends in "~" and the hash of the name.
class DumpPaths {
public:
  /// The path of the next value.
  std::string add(const std::string &name, bool parameter);
  /// Those that are not as usual, as a JSON object with the names by path;
  /// empty: there are none.
  std::string unusual() const;

private:
  std::set<std::string> taken;
  std::map<std::string, std::string> names;
};
constexpr const char *kNamesFile = "names.json"; ///< has unusual()

} // namespace ffrt

#endif // FFRT_COMMON_NAMES_H
