//===- file_set.h - files that appear together ------------------*- C++ -*-===//
#ifndef FFRT_COMMON_FILE_SET_H
#define FFRT_COMMON_FILE_SET_H

#include "common/data/file.h"

#include <deque>
#include <string>

namespace ffrt {

/// Files of one folder that belong together. All are complete under temporary
/// names before any gets its own; those that they replace are removed first, so
/// that old and new ones are never taken for a whole. Members throw Error; the
/// destructor removes what was not committed.
class FileSet {
public:
  explicit FileSet(const std::string &folder) : folder(folder) {}

  /// Writes a file; makes the folders on its way.
  void add(const std::string &path, const std::string &head, const void *data,
           std::size_t size);
  void commit();

private:
  const std::string folder;
  std::deque<NewFile> files;
};

} // namespace ffrt

#endif // FFRT_COMMON_FILE_SET_H
