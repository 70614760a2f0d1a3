//===- file.h - files -------------------------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_FILE_H
#define FFRT_COMMON_FILE_H

#include "common/data/mapped_range.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace ffrt {

/// A file mapped for reading. Members throw Error naming the path. When it is
/// cut off while it is read, the process ends (MappedRange).
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();
  const std::string &path() const { return name; }
  /// Fails if somebody has written into the file since it was opened. Another
  /// one that has taken its name does no harm.
  void expect_unchanged() const;
  const unsigned char *data() const { return bytes; }
  std::size_t size() const { return length; }

private:
  std::string name;
  const unsigned char *bytes = nullptr;
  std::size_t length = 0;
  struct stat status; ///< when it was opened
  std::unique_ptr<MappedRange> range;
};

/// Contents of a gzip file.
std::vector<unsigned char> read_gzip(const std::string &path);

/// Whether what is written must be on the disk, and stay there when the machine
/// stops, before anybody goes on.
enum class Sync { no, yes };

/// A file that is being written, under a temporary name, which is new, until it
/// is complete. Only a regular file is replaced: no device, pipe
/// or link. Members throw Error naming the path; the destructor removes what
/// was not committed.
class NewFile {
public:
  /// The temporary name ends in `ending`; one that a process has left there
  /// that was killed is removed.
  explicit NewFile(const std::string &path, const std::string &ending = ".tmp");
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  void write(const void *data, std::size_t size);
  void write(const std::string &text) { write(text.data(), text.size()); }
  /// Everything is written; the file has its temporary name.
  void close(Sync sync = Sync::no);
  /// Gives it its name.
  void publish();
  void commit(Sync sync = Sync::no) {
    close(sync);
    publish();
  }
  const std::string &name() const { return path; }

private:
  std::string path, temporary;
  std::FILE *file;
  bool published = false;
};

/// Throws Error where NewFile would, before there is anything to write.
void expect_writable(const std::string &path);

/// A NewFile of these bytes.
void write_file(const std::string &path, const std::string &head,
                const void *data, std::size_t size, Sync sync = Sync::no);

/// Contents of a regular file.
std::string read_file(const std::string &path);

bool exists(const std::string &path);

/// Names in a folder, sorted.
std::vector<std::string> list_folder(const std::string &path);

/// Makes the folder and its parents.
void make_folder(const std::string &path);

/// Makes the folder, and throws Error where no file can be written into it.
void make_writable_folder(const std::string &path);

/// Returns when the names in a folder are on the disk.
void sync_folder(const std::string &path);

} // namespace ffrt

#endif // FFRT_COMMON_FILE_H
