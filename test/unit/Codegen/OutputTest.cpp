//===- OutputTest.cpp - files that appear whole or not at all -------------===//

#include "ffc/Codegen/Output.h"
#include "ffc/Codegen/Runtime.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace ffc::codegen;

namespace {

class Output : public testing::Test {
protected:
  Output() {
    SmallString<128> created;
    sys::fs::createUniqueDirectory("ffc-output", created);
    folder = created.str().str();
  }
  ~Output() override { sys::fs::remove_directories(folder); }

  /// Names in the folder, sorted.
  std::vector<std::string> list() {
    std::vector<std::string> names;
    std::error_code code;
    for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
         it.increment(code))
      names.push_back(it->path().substr(folder.size() + 1));
    sort(names);
    return names;
  }
  std::string read(const std::string &name) {
    auto buffer = MemoryBuffer::getFile(folder + "/" + name);
    return buffer ? (*buffer)->getBuffer().str() : "missing";
  }

  std::string folder;
};

TEST_F(Output, ReplacesAFileWhole) {
  EXPECT_FALSE(errorToBool(writeFile(folder + "/a", "one")));
  EXPECT_FALSE(errorToBool(writeFile(folder + "/a", "two")));
  EXPECT_EQ(read("a"), "two");
  EXPECT_EQ(list(), std::vector<std::string>{"a"});
}

TEST_F(Output, LeavesNothingWithoutCommit) {
  {
    Pending file(folder + "/a"), tree(folder + "/b/");
    EXPECT_FALSE(errorToBool(writeText(file.path(), "one")));
    EXPECT_FALSE(errorToBool(writeText(tree.path() + "/c/d", "one")));
    EXPECT_EQ(list().size(), 2u);
  }
  EXPECT_TRUE(list().empty());
}

TEST_F(Output, KeepsWhatElseIsInAFolder) {
  EXPECT_FALSE(errorToBool(writeText(folder + "/out/mine", "mine")));
  EXPECT_FALSE(errorToBool(writeText(folder + "/out/sub/old", "old")));
  {
    Pending tree(folder + "/out");
    EXPECT_FALSE(errorToBool(writeText(tree.path() + "/sub/old", "new")));
    EXPECT_FALSE(errorToBool(tree.commit()));
  }
  EXPECT_EQ(read("out/mine"), "mine");
  EXPECT_EQ(read("out/sub/old"), "new");
  EXPECT_EQ(list(), std::vector<std::string>{"out"});
}

TEST_F(Output, NamesThePathOfAFailure) {
  EXPECT_FALSE(errorToBool(writeFile(folder + "/a", "one")));
  EXPECT_THAT(toString(writeFile(folder + "/a/b", "two")),
              testing::HasSubstr(folder + "/a"));
}

TEST(Runtime, CarriesItsSources) {
  auto has = [](StringRef path) {
    return any_of(runtimeFiles(), [&](const BundledFile &file) {
      return file.path == path && !file.contents.empty();
    });
  };
  EXPECT_TRUE(has("CMakeLists.txt"));
  EXPECT_TRUE(has("include/ffrt/program.h"));
  EXPECT_TRUE(has("src/common/program/run.cpp"));
  EXPECT_EQ(runtimeHash().size(), 40u);
}

} // namespace
