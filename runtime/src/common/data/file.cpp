//===- file.cpp - files ---------------------------------------------------===//
#include "common/data/file.h"

#include "common/data/file_error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#ifdef FFRT_ZLIB
#include <zlib.h>
#endif

namespace ffrt {

MappedFile::MappedFile(const std::string &path) : name(path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    file_error("open", path);
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    throw Error("cannot open '" + path + "': not a regular file");
  }
  length = std::size_t(status.st_size);
  if (length > 0) {
    void *map = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) {
      close(file);
      file_error("map", path);
    }
    bytes = static_cast<const unsigned char *>(map);
    range = std::make_unique<MappedRange>(map, length, path);
  }
  close(file);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : name(std::move(other.name)), bytes(std::exchange(other.bytes, nullptr)),
      length(std::exchange(other.length, 0)), status(other.status),
      range(std::move(other.range)) {}

void MappedFile::expect_unchanged() const {
  struct stat now;
  if (stat(name.c_str(), &now) != 0 || now.st_ino != status.st_ino ||
      now.st_dev != status.st_dev)
    return;
  if (now.st_size != status.st_size)
    throw Error("'" + name + "': expected " + std::to_string(status.st_size) +
                " bytes, as when the run began, found " +
                std::to_string(now.st_size) +
                ": what a run reads must stay as it is");
  if (now.st_mtim.tv_sec != status.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != status.st_mtim.tv_nsec)
    throw Error("'" + name +
                "': expected a file that is as when the run began, found one "
                "that was written since: what a run reads must stay as it is");
}

MappedFile::~MappedFile() {
  range.reset();
  if (bytes)
    munmap(const_cast<unsigned char *>(bytes), length);
}

#ifdef FFRT_ZLIB

std::vector<unsigned char> read_gzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    file_error("open", path);
  gzbuffer(file, 1 << 18);
  std::vector<unsigned char> bytes;
  std::size_t used = 0;
  for (;;) {
    bytes.resize(std::max<std::size_t>(1 << 20, used * 2));
    int n = gzread(file, bytes.data() + used, unsigned(bytes.size() - used));
    if (n < 0) {
      gzclose(file);
      throw Error("cannot read '" + path + "': damaged gzip data");
    }
    used += std::size_t(n);
    if (used < bytes.size())
      break;
  }
  bytes.resize(used);
  // The check sum is verified when the end is reached.
  if (gzclose(file) != Z_OK)
    throw Error("cannot read '" + path + "': damaged gzip data");
  return bytes;
}

#else

std::vector<unsigned char> read_gzip(const std::string &path) {
  throw Error("cannot read '" + path +
              "': expected a program that was built with zlib, found one "
              "without");
}

#endif

void expect_writable(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error("cannot write '" + path +
                "': expected a regular file or a new name, found " +
                (S_ISDIR(status.st_mode)   ? "a folder"
                 : S_ISLNK(status.st_mode) ? "a link"
                                           : "a device or pipe"));
}

NewFile::NewFile(const std::string &path, const std::string &ending)
    : path(path), temporary(path + ending), file(nullptr) {
  expect_writable(path);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int opened = open(temporary.c_str(), flags, 0666);
  if (opened < 0 && errno == EEXIST) {
    expect_writable(temporary);
    std::remove(temporary.c_str());
    opened = open(temporary.c_str(), flags, 0666);
  }
  if (opened >= 0)
    file = fdopen(opened, "wb");
  if (!file)
    file_error("write", temporary);
}

NewFile::~NewFile() {
  if (file)
    std::fclose(file);
  if (!published)
    std::remove(temporary.c_str());
}

void NewFile::write(const void *data, std::size_t size) {
  if (std::fwrite(data, 1, size, file) != size)
    file_error("write", path);
}

void NewFile::close(Sync sync) {
  // The rest is written when the file is closed.
  bool good =
      sync == Sync::no || (std::fflush(file) == 0 && is_on_disk(fileno(file)));
  good &= std::fclose(file) == 0;
  file = nullptr;
  if (!good)
    file_error("write", path);
}

void NewFile::publish() {
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    file_error("write", path);
  published = true;
}

void write_file(const std::string &path, const std::string &head,
                const void *data, std::size_t size, Sync sync) {
  NewFile file(path);
  file.write(head);
  file.write(data, size);
  file.commit(sync);
}

std::string read_file(const std::string &path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char *>(file.data()), file.size()};
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

std::vector<std::string> list_folder(const std::string &path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(path, error);
  if (error)
    throw Error("cannot open folder '" + path + "': " + error.message());
  for (const auto &entry : entries)
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void make_folder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw Error("cannot make folder '" + path + "': " + error.message());
}

void make_writable_folder(const std::string &path) {
  make_folder(path);
  const NewFile probe(path + "/writable");
}

void sync_folder(const std::string &path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = folder >= 0 && is_on_disk(folder);
  const int cause = errno;
  if (folder >= 0)
    close(folder);
  errno = cause;
  if (!good)
    file_error("write", path);
}

} // namespace ffrt
