//===- safetensors_test.cpp - files of named tensors ----------------------===//
#include "common/checkpoint/safetensors.h"

#include "common/checkpoint/layout.h"
#include "common/checkpoint/saved_values.h"
#include "common/checkpoint/stored_tensors.h"
#include "data_fixture.h"

#include <cstring>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// A file with this head and `bytes` of elements.
std::string file_of(const std::string &head, std::size_t bytes) {
  const uint64_t length = head.size();
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  return text + head + std::string(bytes, '\0');
}

TEST_F(Data, SafetensorsAsWritten) {
  const std::string head = safetensors_head(
      {{"b/weight", {"F32", {2, 2}, 0, 16}}, {"a", {"I64", {}, 16, 24}}});
  EXPECT_EQ(head.size() % 8, 0u);
  const float values[] = {1, 2, 3, 4};
  const int64_t number = 7;
  write("f.safetensors",
        head + std::string(reinterpret_cast<const char *>(values), 16) +
            std::string(reinterpret_cast<const char *>(&number), 8));
  const SafetensorsFile file(path("f.safetensors"));
  ASSERT_EQ(file.tensors().size(), 2u);
  const StoredTensor &b = file.tensors().at("b/weight");
  EXPECT_EQ(b.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(std::memcmp(file.data(b), values, sizeof values), 0);
  EXPECT_EQ(std::memcmp(file.data(file.tensors().at("a")), &number, 8), 0);
}

TEST_F(Data, DamagedSafetensors) {
  const auto error = [&](const std::string &bytes) {
    write("f.safetensors", bytes);
    return error_of([&] { SafetensorsFile file(path("f.safetensors")); });
  };
  const std::string other =
      "'DIR/f.safetensors': expected a safetensors file, found other data";
  EXPECT_EQ(error(""), other);
  EXPECT_EQ(error("1234567"), other);
  EXPECT_EQ(error(std::string(8, '\0')), other);
  EXPECT_EQ(error(std::string(8, '\xff')), other);
  EXPECT_EQ(error(file_of("{}", 0).substr(0, 9)), other);
  EXPECT_EQ(error(file_of("{}", 0)), "no error");
  for (const char *head :
       {"{", "[1]", "{\"a\": 1}", "{\"a\": {\"dtype\": \"F32\"}}",
        "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0]}}",
        "{\"a\": {\"dtype\": 3, \"shape\": [1], \"data_offsets\": [0, 4]}}"})
    EXPECT_EQ(error(file_of(head, 4))
                  .rfind("'DIR/f.safetensors': expected the head of a "
                         "safetensors file, found ",
                         0),
              0u)
        << head;
  const auto tensor = [&](const char *shape, const char *offsets) {
    return error(
        file_of(std::string("{\"a\": {\"dtype\": \"F32\", \"shape\": ") +
                    shape + ", \"data_offsets\": " + offsets + "}}",
                8));
  };
  const std::string where = "'DIR/f.safetensors': tensor 'a': expected ";
  EXPECT_EQ(tensor("[2]", "[0, 8]"), "no error");
  EXPECT_EQ(tensor("[3]", "[0, 8]"), where + "12 bytes, found 8");
  EXPECT_EQ(tensor("[3]", "[0, 12]"), where + "bytes up to 8, found 0 to 12");
  EXPECT_EQ(tensor("[2]", "[8, 0]"), where + "bytes up to 8, found 8 to 0");
  EXPECT_EQ(tensor("[4611686018427387904, 4]", "[0, 8]"),
            where + "a shape of 8 bytes, found one that no file can hold");
  EXPECT_EQ(tensor("[-2]", "[0, 8]"),
            where + "a shape of 8 bytes, found one that no file can hold");
}

TEST_F(Data, TensorsOfSeveralFiles) {
  const auto file = [&](const char *name, const char *tensor) {
    write(name, safetensors_head({{tensor, {"F32", {2}, 0, 8}}}) +
                    std::string(8, '\0'));
    return path(name);
  };
  const std::string a = file("a.safetensors", "x"),
                    b = file("b.safetensors", "y");
  const StoredTensors both({a, b});
  const Tile t = blank({2}, {{0}, {2}}), wide = blank({3}, {{0}, {3}});
  both.load("y", t);
  EXPECT_EQ(t.get({1}), 0.0);
  EXPECT_EQ(
      error_of([&] { both.load("z", t); }),
      "expected tensor 'z' in 'DIR/a.safetensors' and others, found none");
  EXPECT_EQ(error_of([&] { both.load("x", wide); }),
            "expected shape [3] in 'DIR/a.safetensors', found [2]");
  const Tile i = blank({2}, {{0}, {2}}, Order::row_major, DType::i32);
  EXPECT_EQ(error_of([&] { both.load("x", i); }),
            "expected type i32 in 'DIR/a.safetensors', found f32");
  const std::string c = file("c.safetensors", "x");
  EXPECT_EQ(error_of([&] {
              StoredTensors all({a, b, c});
            }),
            "'DIR/c.safetensors': expected tensors that no other file has, "
            "found 'x', which 'DIR/a.safetensors' has, too");
}

TEST_F(Data, TypesThatProgramsDoNotHave) {
  write("f.safetensors", safetensors_head({{"q", {"F8_E4M3", {4}, 0, 4}}}) +
                             std::string(4, '\0'));
  const StoredTensors file({path("f.safetensors")});
  EXPECT_EQ(error_of([&] {
              file.load("q", blank({4}, {{0}, {4}}));
            }),
            "'DIR/f.safetensors': expected type F32, F64, BF16, F16, I32, I64, "
            "U8 or BOOL, found F8_E4M3");
}

TEST_F(Data, WhereParametersAre) {
  const Tile t = blank({2}, {{0}, {2}});
  const auto found = [&](const std::string &where) {
    return error_of([&] { open_parameters(path(where))->load("x", true, t); });
  };
  EXPECT_EQ(found("nowhere"),
            "cannot open folder 'DIR/nowhere': No such file or directory");
  std::filesystem::create_directories(path("empty"));
  EXPECT_EQ(found("empty"), "expected param/*.npy of a dump, a checkpoint or "
                            "*.safetensors in 'DIR/empty', found none");
  const std::string file =
      safetensors_head({{"x", {"F32", {2}, 0, 8}}}) + std::string(8, '\0');
  std::filesystem::create_directories(path("run/step-00000005"));
  std::filesystem::create_directories(path("run/step-00000020.partial"));
  write("run/step-00000005/model.safetensors", file);
  write("run/step-00000005/optimizer.safetensors", "not read");
  write("run/step-00000005/checkpoint.json", "{}");
  write("run/step-00000020.partial/checkpoint.json", "{}");
  write("one.safetensors", file);
  for (const char *where : {"run", "run/step-00000005", "one.safetensors",
                            "run/step-00000005/model.safetensors"})
    EXPECT_EQ(found(where), "no error") << where;
}

TEST(Layout, FilesOfLimitedSize) {
  std::vector<GlobalValue> values;
  const auto add = [&](const char *name, bool parameter, int64_t n) {
    values.push_back({name, parameter, DType::f32, 1, {n}, {}});
  };
  add("a", true, 10);
  add("b", true, 20);
  add("c", true, 5);
  add("a/moment", false, 10);
  const Layout one = make_layout(values);
  ASSERT_EQ(one.files.size(), 2u);
  EXPECT_EQ(one.files[0].name, "model.safetensors");
  EXPECT_EQ(one.files[1].name, "optimizer.safetensors");
  EXPECT_TRUE(one.indices.empty());
  EXPECT_EQ(one.places[1].offset, one.files[0].head.size() + 40);
  EXPECT_EQ(one.files[0].bytes, one.files[0].head.size() + 140);
  const Layout several = make_layout(values, 60);
  ASSERT_EQ(several.files.size(), 4u);
  EXPECT_EQ(several.files[0].name, "model-00001-of-00003.safetensors");
  EXPECT_EQ(several.places[1].file, 1u); // larger than a file may be
  EXPECT_EQ(several.places[2].file, 2u);
  EXPECT_EQ(several.files[3].name, "optimizer.safetensors");
  ASSERT_EQ(several.indices.size(), 1u);
  EXPECT_EQ(several.indices[0].first, "model.safetensors.index.json");
  EXPECT_NE(several.indices[0].second.find(
                "\"c\": \"model-00003-of-00003.safetensors\""),
            std::string::npos);
}

} // namespace
