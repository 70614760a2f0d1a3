//===- byte_file.h - data sets of bytes -------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_BYTE_FILE_H
#define FFRT_COMMON_BYTE_FILE_H

#include "common/data/file.h"

#include <memory>
#include <string>
#include <vector>

namespace ffrt {

/// Pixels from 0 to 255 become numbers from 0 to 1.
constexpr double kPixelScale = 1.0 / 255.0;

/// A file, mapped, or, when its name ends in ".gz", unpacked into memory.
class ByteFile {
public:
  explicit ByteFile(const std::string &path) : name(path) {
    if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0)
      unpacked = read_gzip(path);
    else
      mapped = std::make_unique<MappedFile>(path);
  }
  const unsigned char *data() const {
    return mapped ? mapped->data() : unpacked.data();
  }
  std::size_t size() const { return mapped ? mapped->size() : unpacked.size(); }
  const std::string &path() const { return name; }
  /// As MappedFile. What was unpacked stays.
  void expect_unchanged() const {
    if (mapped)
      mapped->expect_unchanged();
  }

private:
  std::string name;
  std::vector<unsigned char> unpacked;
  std::unique_ptr<MappedFile> mapped;
};

} // namespace ffrt

#endif // FFRT_COMMON_BYTE_FILE_H
