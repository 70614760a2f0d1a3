//===- file.h - files -------------------------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_FILE_H
#define FFRT_COMMON_FILE_H

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace ffrt {

/// A file mapped for reading. Throws Error naming the path.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();
  const unsigned char *data() const { return bytes; }
  std::size_t size() const { return length; }

private:
  const unsigned char *bytes = nullptr;
  std::size_t length = 0;
};

/// Contents of a gzip file.
std::vector<unsigned char> read_gzip(const std::string &path);

/// A file that is being written, under a temporary name until it is complete.
/// Members throw Error naming the path; the destructor removes what was not
/// committed.
class NewFile {
public:
  /// The temporary name ends in `ending`.
  explicit NewFile(const std::string &path, const std::string &ending = ".tmp");
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  void write(const void *data, std::size_t size);
  void write(const std::string &text) { write(text.data(), text.size()); }
  void commit();

private:
  std::string path, temporary;
  std::FILE *file;
};

/// Writes under a temporary name and renames, so that no half file is seen.
void write_file(const std::string &path, const std::string &head,
                const void *data, std::size_t size);

bool exists(const std::string &path);

/// Names in a folder, sorted.
std::vector<std::string> list_folder(const std::string &path);

/// Makes the folder and its parents.
void make_folder(const std::string &path);

} // namespace ffrt

#endif // FFRT_COMMON_FILE_H
