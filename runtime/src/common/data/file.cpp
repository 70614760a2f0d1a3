//===- file.cpp - files ---------------------------------------------------===//
#include "common/data/file.h"

#include "ffrt/error.h"

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

namespace {

[[noreturn]] void failed(const char *verb, const std::string &path) {
  throw Error(std::string("cannot ") + verb + " '" + path +
              "': " + std::strerror(errno));
}

} // namespace

MappedFile::MappedFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    failed("open", path);
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    throw Error("cannot open '" + path + "': not a regular file");
  }
  length = std::size_t(status.st_size);
  if (length > 0) {
    void *map = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) {
      close(file);
      failed("map", path);
    }
    bytes = static_cast<const unsigned char *>(map);
  }
  close(file);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : bytes(std::exchange(other.bytes, nullptr)),
      length(std::exchange(other.length, 0)) {}

MappedFile::~MappedFile() {
  if (bytes)
    munmap(const_cast<unsigned char *>(bytes), length);
}

#ifdef FFRT_ZLIB

std::vector<unsigned char> read_gzip(const std::string &path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    failed("open", path);
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

NewFile::NewFile(const std::string &path, const std::string &ending)
    : path(path), temporary(path + ending),
      file(std::fopen(temporary.c_str(), "wb")) {
  if (!file)
    failed("write", temporary);
}

NewFile::~NewFile() {
  if (!file)
    return;
  std::fclose(file);
  std::remove(temporary.c_str());
}

void NewFile::write(const void *data, std::size_t size) {
  if (std::fwrite(data, 1, size, file) != size)
    failed("write", path);
}

void NewFile::commit() {
  // The rest is written when the file is closed.
  const bool good = std::fclose(file) == 0;
  file = nullptr;
  if (good && std::rename(temporary.c_str(), path.c_str()) == 0)
    return;
  const int cause = errno;
  std::remove(temporary.c_str());
  errno = cause;
  failed("write", path);
}

void write_file(const std::string &path, const std::string &head,
                const void *data, std::size_t size) {
  NewFile file(path);
  file.write(head);
  file.write(data, size);
  file.commit();
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

} // namespace ffrt
