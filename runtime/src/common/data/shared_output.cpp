//===- shared_output.cpp - files that several processes write -------------===//
#include "common/data/shared_output.h"

#include "common/data/file_error.h"

#include <cstdint>
#include <fcntl.h>
#include <unistd.h>

namespace ffrt {

SharedOutput::SharedOutput(const std::string &path, Mode mode)
    : path(path), file(open(path.c_str(),
                            O_WRONLY | O_CLOEXEC |
                                (mode == Mode::create ? O_CREAT | O_EXCL : 0),
                            0666)) {
  if (file < 0)
    file_error("write", path);
  direct = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT);
}

SharedOutput::~SharedOutput() {
  close(file);
  if (direct >= 0)
    close(direct);
}

void SharedOutput::reserve(std::size_t bytes) {
  // Where the file system can not reserve room, the size alone is set.
  if (bytes > 0 && fallocate(file, 0, 0, off_t(bytes)) != 0 &&
      ((errno != EOPNOTSUPP && errno != ENOSYS) ||
       ftruncate(file, off_t(bytes)) != 0))
    file_error("write", path);
}

void SharedOutput::write(std::size_t offset, const void *data,
                         std::size_t size) {
  const auto *from = static_cast<const std::byte *>(data);
  const std::size_t ahead = (kBlock - offset % kBlock) % kBlock;
  if (size >= kDirectBytes &&
      reinterpret_cast<std::uintptr_t>(from + ahead) % kBlock == 0) {
    write_cached(offset, from, ahead);
    const std::size_t done =
        ahead + write_direct(offset + ahead, from + ahead, size - ahead);
    write_cached(offset + done, from + done, size - done);
  } else {
    write_cached(offset, from, size);
  }
}

std::size_t SharedOutput::write_direct(std::size_t offset,
                                       const std::byte *data,
                                       std::size_t size) {
  const std::size_t blocks = size / kBlock * kBlock;
  std::size_t done = 0;
  while (direct >= 0 && done < blocks) {
    const ssize_t n =
        pwrite(direct, data + done, blocks - done, off_t(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    // This disk wants larger blocks.
    if (n < 0 && errno == EINVAL)
      break;
    if (n < 0)
      file_error("write", path);
    done += std::size_t(n);
    if (std::size_t(n) % kBlock != 0)
      break;
  }
  return done;
}

void SharedOutput::write_cached(std::size_t offset, const std::byte *data,
                                std::size_t size) {
  while (size > 0) {
    const ssize_t n = pwrite(file, data, size, off_t(offset));
    if (n < 0 && errno != EINTR)
      file_error("write", path);
    if (n <= 0)
      continue;
    data += n;
    offset += std::size_t(n);
    size -= std::size_t(n);
  }
}

void SharedOutput::sync() {
  if (!is_on_disk(file))
    file_error("write", path);
}

} // namespace ffrt
