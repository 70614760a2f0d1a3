//===- SealWeightsTest.cpp - sums behind the values of a program ----------===//

#include "ffc/Codegen/SealWeights.h"

#include "common/program/weights_file.h"
#include "ffrt/error.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace ffc::codegen;
using namespace testing;

namespace {

constexpr int64_t kMebibyte = 1 << 20;

class SealWeights : public Test {
protected:
  /// A file with so many bytes of values, and its hash.
  std::string seal(int64_t bytes) {
    std::string values(size_t(bytes), '\0');
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = char(i * 7 + i / 251);
    std::ofstream(path, std::ios::binary) << values;
    auto hash = sealWeights(path);
    EXPECT_TRUE(static_cast<bool>(hash));
    return hash ? *hash : "";
  }
  void damage(int64_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    const char byte = char(file.get());
    file.seekp(at);
    file.put(char(byte + 1));
  }
  /// What the program says; empty: it reads all of them.
  std::string read(const std::string &hash, int64_t offset, int64_t first,
                   int64_t last) {
    try {
      ffrt::WeightsFile({path, hash}).read("w", offset, first, last);
    } catch (const ffrt::Error &error) {
      return error.what();
    }
    return "";
  }
  void TearDown() override { std::remove(path.c_str()); }

  const std::string path =
      TempDir() + "/sealed." + std::to_string(getpid()) + ".weights";
};

TEST_F(SealWeights, ProgramsReadThem) {
  for (int64_t bytes :
       {int64_t(1), int64_t(8), int64_t(100), kMebibyte, 2 * kMebibyte + 13}) {
    const std::string hash = seal(bytes);
    EXPECT_EQ(hash.size(), 16u);
    EXPECT_EQ(read(hash, 0, 0, bytes), "") << bytes;
  }
}

TEST_F(SealWeights, NothingWithoutValues) {
  auto hash = sealWeights(path);
  ASSERT_TRUE(static_cast<bool>(hash));
  EXPECT_EQ(*hash, "");
}

TEST_F(SealWeights, WhatIsReadIsChecked) {
  const int64_t bytes = 3 * kMebibyte + 100;
  const std::string hash = seal(bytes);
  damage(2 * kMebibyte + 5);
  EXPECT_EQ(read(hash, 64, 0, 2 * kMebibyte - 64), "");
  EXPECT_EQ(read(hash, 3 * kMebibyte, 0, 100), "");
  EXPECT_EQ(read(hash, 64, kMebibyte, 2 * kMebibyte),
            "w: expected bytes 2097152 to 3145728 of '" + path +
                "' as ffc wrote them, found others; the file is damaged, "
                "compile again");
  EXPECT_THAT(read(hash, bytes - 10, 0, 20), HasSubstr("w: expected at least"));
}

TEST_F(SealWeights, OtherFilesAreRefused) {
  const std::string other = seal(200), hash = seal(201);
  EXPECT_EQ(read(other, 0, 0, 8),
            "'" + path + "': expected the values of this program, hash " +
                other + ", found those of another compilation, hash " + hash +
                "; the two files belong together");
  damage(208); // a sum
  EXPECT_THAT(read(hash, 0, 0, 8),
              AllOf(HasSubstr(": expected sums with hash " + hash),
                    HasSubstr("the file is damaged, compile again")));
  seal(201);
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_EQ(read(hash, 0, 0, 8),
            "'" + path +
                "': expected values with their sums behind them, as ffc writes "
                "them, found another file or a part of one; compile again");
  std::remove(path.c_str());
  EXPECT_EQ(read(hash, 0, 0, 8),
            "expected '" + path +
                "', which ffc has written beside the program, found none");
}

} // namespace
