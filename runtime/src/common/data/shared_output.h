//===- shared_output.h - files that several processes write -----*- C++ -*-===//
#ifndef FFRT_COMMON_SHARED_OUTPUT_H
#define FFRT_COMMON_SHARED_OUTPUT_H

#include <cstddef>
#include <string>

namespace ffrt {

/// A file of which several processes write parts. Members throw Error naming
/// the path.
///
/// What is large goes to the disk from where it lies, past the page cache,
/// where the file system has that (O_DIRECT): it is not read again soon, and
/// copies into the cache take memory, and time of the cores, from the steps.
class SharedOutput {
public:
  /// The unit of disks. What is as far behind a multiple of it in memory as in
  /// the file, and kDirectBytes or more, needs no copy but for its ends.
  static constexpr std::size_t kBlock = 4096, kDirectBytes = 256 * 1024;

  enum class Mode {
    create, ///< there is none
    open,   ///< another process has created it
  };
  SharedOutput(const std::string &path, Mode mode);
  ~SharedOutput();
  SharedOutput(const SharedOutput &) = delete;
  SharedOutput &operator=(const SharedOutput &) = delete;
  /// Its size, and room on the disk for so much.
  void reserve(std::size_t bytes);
  void write(std::size_t offset, const void *data, std::size_t size);
  /// Returns when what this process has written is on the disk.
  void sync();

private:
  /// Whole blocks, past the page cache; returns how many bytes that were: it
  /// may be none.
  std::size_t write_direct(std::size_t offset, const std::byte *data,
                           std::size_t size);
  void write_cached(std::size_t offset, const std::byte *data,
                    std::size_t size);

  std::string path;
  int file;
  int direct; ///< the same file, written past the page cache; -1: it cannot be
};

} // namespace ffrt

#endif // FFRT_COMMON_SHARED_OUTPUT_H
