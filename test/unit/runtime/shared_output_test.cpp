//===- shared_output_test.cpp - files that several processes write --------===//
#include "common/data/file.h"
#include "common/data/shared_output.h"
#include "data_fixture.h"

#include <cstdlib>
#include <random>

using namespace ffrt;
using namespace ffrt_test;

namespace {

using Bytes = std::vector<std::byte>;

/// What is to be written, from memory that is `behind` a multiple of a block.
class Source {
public:
  Source(const Bytes &bytes, std::size_t behind)
      : memory(bytes.size() + 2 * SharedOutput::kBlock) {
    void *at = memory.data();
    std::size_t room = memory.size();
    std::align(SharedOutput::kBlock, 1, at, room);
    begin = static_cast<std::byte *>(at) + behind;
    std::copy(bytes.begin(), bytes.end(), begin);
  }
  const std::byte *data() const { return begin; }

private:
  Bytes memory;
  std::byte *begin;
};

std::string text_of(const Bytes &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Two writers of one file, of which neither begins or ends where a block does;
/// `behind` of the second one's memory.
void write_both(const std::string &path, std::size_t behind) {
  std::mt19937 random(3);
  Bytes bytes(2 * SharedOutput::kDirectBytes + 30001);
  for (std::byte &byte : bytes)
    byte = std::byte(random());
  const std::size_t first = SharedOutput::kDirectBytes + 777;
  const Bytes begin(bytes.begin(), bytes.begin() + int64_t(first)),
      end(bytes.begin() + int64_t(first), bytes.end());
  const Source of_first(begin, 0), of_second(end, behind);
  SharedOutput one(path, SharedOutput::Mode::create);
  one.reserve(bytes.size());
  SharedOutput other(path, SharedOutput::Mode::open);
  other.write(first, of_second.data(), end.size());
  one.write(0, of_first.data(), begin.size());
  other.sync();
  one.sync();
  EXPECT_TRUE(read_file(path) == text_of(bytes)) << behind;
}

using SharedOutputTest = Data;

TEST_F(SharedOutputTest, PartsOfSeveralWriters) {
  constexpr std::size_t block = SharedOutput::kBlock;
  const std::size_t like_the_file = (SharedOutput::kDirectBytes + 777) % block;
  for (std::size_t behind : {like_the_file, std::size_t(0), block - 1})
    write_both(path("file" + std::to_string(behind)), behind);
}

TEST_F(SharedOutputTest, Errors) {
  const auto error = [&](const char *name, SharedOutput::Mode mode) {
    return error_of([&] { SharedOutput output(path(name), mode); });
  };
  EXPECT_EQ(error("file", SharedOutput::Mode::create), "no error");
  EXPECT_EQ(error("file", SharedOutput::Mode::create),
            "cannot write 'DIR/file': File exists");
  EXPECT_EQ(error("none", SharedOutput::Mode::open),
            "cannot write 'DIR/none': No such file or directory");
}

} // namespace
