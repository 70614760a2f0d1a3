//===- weights_file.cpp - the values that a program comes with ------------===//
#include "common/program/weights_file.h"

#include "comm/launch.h"
#include "common/checkpoint/checksum.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace ffrt {

namespace {

constexpr int64_t kChunk = int64_t(1) << 20;
constexpr int64_t kWord = 8;
constexpr char kMagic[] = "ffcsums2";
/// What the file ends with.
struct Tail {
  uint64_t bytes, hash;
  char magic[8];
};

int64_t words_in(int64_t bytes) { return (bytes + kWord - 1) / kWord; }

/// Of n words, the first with number `first`.
uint64_t sum_of(const void *words, int64_t first, int64_t n) {
  Tensor box = flat(const_cast<void *>(words), DType::i64, n);
  box.lo[0] = first;
  box.global[0] = first + n;
  return checksum(box);
}

std::string text_of(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

MappedFile open_beside(const std::string &path) {
  if (!exists(path))
    throw Error("expected '" + path +
                "', which ffc has written beside the program, found none");
  return MappedFile(path);
}

} // namespace

WeightsPlace weights_of(const ProgramInfo &info) {
  return {this_program() + ".weights", info.weights_hash};
}

WeightsFile::WeightsFile(const WeightsPlace &place)
    : path(place.path), file(open_beside(path)), bytes(int64_t(file.size())),
      sums(nullptr) {
  if (!place.hash.empty())
    read_sums(place.hash);
}

void WeightsFile::read_sums(const std::string &hash) {
  const int64_t size = int64_t(file.size());
  Tail tail = {};
  if (size >= int64_t(sizeof tail))
    std::memcpy(&tail, file.data() + size - sizeof tail, sizeof tail);
  // More than the file has is wrong, and may be too much to count with.
  bytes = int64_t(std::min(tail.bytes, uint64_t(size)));
  const int64_t chunks = bytes / kChunk + (bytes % kChunk != 0);
  const int64_t expected =
      (words_in(bytes) + chunks) * kWord + int64_t(sizeof tail);
  if (std::memcmp(tail.magic, kMagic, sizeof tail.magic) != 0 ||
      tail.bytes != uint64_t(bytes) || size != expected)
    throw Error("'" + path +
                "': expected values with their sums behind them, as ffc writes "
                "them, found another file or a part of one; compile again");
  sums = file.data() + words_in(bytes) * kWord;
  const uint64_t found = sum_of(sums, 1, chunks) + sum_of(&tail.bytes, 0, 1);
  if (found != tail.hash)
    throw Error("'" + path + "': expected sums with hash " +
                text_of(tail.hash) + ", found " + text_of(found) +
                "; the file is damaged, compile again");
  if (text_of(found) != hash)
    throw Error("'" + path + "': expected the values of this program, hash " +
                hash + ", found those of another compilation, hash " +
                text_of(found) + "; the two files belong together");
  verified.resize(std::size_t(chunks));
}

uint64_t WeightsFile::sum(std::size_t chunk) const {
  const int64_t begin = int64_t(chunk) * kChunk,
                end = std::min(begin + kChunk, bytes);
  return sum_of(file.data() + begin, begin / kWord, words_in(end - begin));
}

const unsigned char *WeightsFile::read(const std::string &name, int64_t offset,
                                       int64_t first, int64_t last) {
  if (offset + last > bytes)
    throw Error(name + ": expected at least " + std::to_string(offset + last) +
                " bytes in '" + path + "', found " + std::to_string(bytes));
  if (sums && last > first)
    for (int64_t chunk = (offset + first) / kChunk;
         chunk <= (offset + last - 1) / kChunk; ++chunk) {
      const auto c = std::size_t(chunk);
      if (verified[c])
        continue;
      uint64_t expected;
      std::memcpy(&expected, sums + chunk * kWord, sizeof expected);
      if (sum(c) != expected)
        throw Error(name + ": expected bytes " +
                    std::to_string(chunk * kChunk) + " to " +
                    std::to_string(std::min((chunk + 1) * kChunk, bytes)) +
                    " of '" + path +
                    "' as ffc wrote them, found others; the file is damaged, "
                    "compile again");
      verified[c] = true;
    }
  return file.data() + offset;
}

} // namespace ffrt
