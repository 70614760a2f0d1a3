//===- FileTest.cpp - model files, weights, external data -----------------===//

#include "TestModel.h"

#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"

#include <cstring>

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class FileTest : public ImportFixture {
protected:
  /// y = x + w, w being an initializer of `count` floats 0, 1, 2...
  onnx::ModelProto addModel(int64_t count) {
    std::string n = std::to_string(count);
    onnx::ModelProto model =
        parseModel("g (float[" + n + "] x, float[" + n +
                   "] w = {0}) => (float[" + n + "] y) { y = Add(x, w) }");
    onnx::TensorProto *w = model.mutable_graph()->mutable_initializer(0);
    w->clear_float_data();
    for (int64_t i = 0; i < count; ++i)
      w->add_float_data(static_cast<float>(i + 1));
    return model;
  }

  static std::string bytesOf(const onnx::TensorProto &tensor) {
    return {reinterpret_cast<const char *>(tensor.float_data().data()),
            tensor.float_data_size() * sizeof(float)};
  }

  /// Moves the data of the model's initializer to `location`.
  static void makeExternal(onnx::ModelProto &model, const std::string &location,
                           const std::string &offset,
                           const std::string &length) {
    onnx::TensorProto *w = model.mutable_graph()->mutable_initializer(0);
    w->clear_float_data();
    w->clear_external_data();
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    for (auto [key, value] :
         {std::pair("location", location), std::pair("offset", offset),
          std::pair("length", length)}) {
      auto *entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
  }
};

TEST_F(FileTest, NotModels) {
  EXPECT_THAT(importFile(path("none.onnx")),
              HasSubstr("error: loc(\"none.onnx\":0:0): cannot read the model: "
                        "No such file or directory"));
  EXPECT_THAT(importFile(folder), HasSubstr("found a directory"));
  EXPECT_THAT(importFile("/dev/null"), HasSubstr("found a special file"));
  EXPECT_THAT(importFile(write("a.onnx", "")),
              HasSubstr("found an empty file"));
  EXPECT_THAT(importFile(write("b.onnx", "PK\x03\x04 a zip archive")),
              HasSubstr("not an ONNX model: it is truncated, damaged, or "
                        "something else"));
  EXPECT_THAT(importFile(write("c.onnx", std::string("\x08\x07", 2))),
              HasSubstr("not an ONNX model: it has no graph"));
}

TEST_F(FileTest, BadText) {
  EXPECT_THAT(importText("<ir_version: 7, opset_import: [\"\" : 13]>\n"
                         "g (float[2] x) => (float[2] y) { y = Relu(x }"),
              HasSubstr("error: loc(\"m.onnxtxt\":2:45): not valid ONNX text: "
                        "Expected character )"));
  EXPECT_THAT(importText("<ir_version: 99999999999999999999>"),
              HasSubstr("Bad number"));
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) { y = Relu(x) } }"),
              HasSubstr("not valid ONNX text"));
  EXPECT_THAT(importText(std::string(1000, '{')),
              HasSubstr("expected at most 100 nested brackets"));
  EXPECT_THAT(importText(std::string("a\0b", 3)), HasSubstr("zero byte"));
}

/// No prefix of a model may crash the importer.
TEST_F(FileTest, TruncatedModels) {
  std::string bytes = addModel(2000).SerializeAsString();
  for (size_t size = 1; size < bytes.size();
       size += size < 200 || size + 200 > bytes.size() ? 1 : 97)
    EXPECT_THAT(importFile(write("t.onnx", bytes.substr(0, size))),
                HasSubstr("error: "))
        << size;
}

TEST_F(FileTest, WeightsFile) {
  // 9 floats take 36 bytes; the next tensor starts at 64.
  options.weightsPath = path("w");
  std::string text =
      importGraph("g (float[9] x, float[9] a = {1, 2, 3, 4, 5, 6, 7, 8, 9}, "
                  "float[9] b = {-1, 2, 3, 4, 5, 6, 7, 8, 9}) => (float[9] y) "
                  "{ h = Add(x, a) e = Exp(h) y = Mul(e, b) }");
  EXPECT_THAT(text, AllOf(HasSubstr("\"a\" \"parameter\" init <file, "
                                    "0.000000e+00 : f64, 0>"),
                          HasSubstr("\"b\" \"parameter\" init <file, "
                                    "0.000000e+00 : f64, 64>")));
  std::string bytes = read("w");
  ASSERT_EQ(bytes.size(), 100u);
  float numbers[25];
  std::memcpy(numbers, bytes.data(), bytes.size());
  EXPECT_EQ(numbers[0], 1);
  EXPECT_EQ(numbers[8], 9);
  EXPECT_EQ(numbers[9], 0);
  EXPECT_EQ(numbers[16], -1);
}

TEST_F(FileTest, NoWeightsFileAfterErrorOrWithoutValues) {
  options.weightsPath = path("w");
  importGraph("g (float[2] x, float[2] a = {1, 2}) => (float[2] y) "
              "{ h = Add(x, a) y = Foo(h) }");
  EXPECT_FALSE(llvm::sys::fs::exists(path("w")));
  importGraph("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  EXPECT_FALSE(llvm::sys::fs::exists(path("w")));
  options.weightsPath = path("none/w");
  EXPECT_THAT(importGraph("g (float[2] x, float[2] a = {1, 2}) => (float[2] y) "
                          "{ y = Add(x, a) }"),
              HasSubstr("cannot write 'none/w'"));
}

/// Large tensors stay in the model's file, in both of their encodings.
TEST_F(FileTest, LargeTensors) {
  options.weightsPath = path("w");
  onnx::ModelProto model = addModel(5000);
  onnx::TensorProto *w = model.mutable_graph()->mutable_initializer(0);
  std::string expected = bytesOf(*w);
  EXPECT_THAT(importProto(model), HasSubstr("\"w\" \"parameter\" init <file"));
  EXPECT_EQ(read("w"), expected);

  w->clear_float_data();
  w->set_raw_data(expected);
  EXPECT_THAT(importProto(model), HasSubstr("\"w\" \"parameter\" init <file"));
  EXPECT_EQ(read("w"), expected);

  w->set_raw_data(expected.substr(4));
  EXPECT_THAT(importProto(model),
              HasSubstr("initializer 'w': expected 20000 bytes for shape 5000, "
                        "found 19996"));
}

/// Floats of other widths are stored as those of 32 bits.
TEST_F(FileTest, OtherFloats) {
  options.weightsPath = path("w");
  onnx::ModelProto model =
      parseModel("g (double[3] x, double[3] w = {1.5, -2, 0.25}) => "
                 "(double[3] y) { y = Add(x, w) }");
  EXPECT_THAT(importProto(model),
              HasSubstr("\"w\" \"parameter\" init <file, 0.000000e+00 : f64, "
                        "0> : tensor<3xf32>"));
  float numbers[3];
  std::string bytes = read("w");
  ASSERT_EQ(bytes.size(), sizeof(numbers));
  std::memcpy(numbers, bytes.data(), sizeof(numbers));
  EXPECT_EQ(numbers[0], 1.5f);
  EXPECT_EQ(numbers[1], -2);
  EXPECT_EQ(numbers[2], 0.25f);

  model = parseModel("g (float16[5000] x, float[1] w = {0}) => "
                     "(float16[5000] y) { y = Add(x, w) }");
  onnx::TensorProto *w = model.mutable_graph()->mutable_initializer(0);
  w->set_data_type(onnx::TensorProto::FLOAT16);
  w->clear_float_data();
  w->set_dims(0, 5000);
  for (int i = 0; i < 5000; ++i) // 1.0
    w->mutable_raw_data()->append("\x00\x3c", 2);
  EXPECT_THAT(importProto(model),
              AllOf(HasSubstr("%arg0: tensor<5000xf32>"),
                    HasSubstr("\"w\" \"parameter\" init <file"),
                    Not(HasSubstr("f16"))));
  bytes = read("w");
  ASSERT_EQ(bytes.size(), 20000u);
  std::memcpy(numbers, bytes.data() + 19996, 4);
  EXPECT_EQ(numbers[0], 1);
}

TEST_F(FileTest, LargeConstants) {
  options.weightsPath = path("w");
  onnx::ModelProto model =
      parseModel("g (float[70000] x) => (float[70000] y) "
                 "{ c = Constant<value = float[1] {0}>() y = Add(x, c) }");
  onnx::TensorProto *c =
      model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t();
  c->clear_float_data();
  c->set_dims(0, 70000);
  c->set_raw_data(std::string(280000, 'a'));
  EXPECT_THAT(importProto(model), HasSubstr("\"c\" \"parameter\" init <file"));
  EXPECT_EQ(read("w"), std::string(280000, 'a'));
}

TEST_F(FileTest, ExternalData) {
  options.weightsPath = path("w");
  onnx::ModelProto model = addModel(3);
  std::string bytes = bytesOf(model.graph().initializer(0));
  write("data.bin", "pad!" + bytes);
  makeExternal(model, "data.bin", "4", "12");
  EXPECT_THAT(importProto(model), HasSubstr("\"w\" \"parameter\" init <file"));
  EXPECT_EQ(read("w"), bytes);
}

TEST_F(FileTest, ExternalDataIsChecked) {
  onnx::ModelProto model = addModel(3);
  write("data.bin", std::string(12, 'a'));
  auto expectError = [&](const char *location, const char *offset,
                         const char *length, const char *message) {
    makeExternal(model, location, offset, length);
    EXPECT_THAT(importProto(model),
                AllOf(HasSubstr("initializer 'w': "), HasSubstr(message)));
  };
  expectError("none.bin", "0", "12", "cannot read external data");
  expectError("/etc/passwd", "0", "12", "is not in the model's folder");
  expectError("../../etc/passwd", "0", "12", "external data");
  expectError("data.bin", "x", "12", "external data has offset 'x'");
  expectError("data.bin", "8", "12",
              "external data 'data.bin' has 12 bytes, expected 12 from offset "
              "8");
  expectError("data.bin", "18446744073709551615", "12", "has 12 bytes");
  expectError("data.bin", "0", "8", "expected 12 bytes for shape 3, found 8");
  expectError(".", "0", "12", "is not in the model's folder");
  // The way out through a link.
  ASSERT_FALSE(llvm::sys::fs::create_link("/etc/passwd", path("link")));
  expectError("link", "0", "12", "is not in the model's folder");
}

TEST_F(FileTest, BadInitializers) {
  auto expectError = [&](auto change, const char *message) {
    onnx::ModelProto model = addModel(3);
    change(*model.mutable_graph());
    EXPECT_THAT(importProto(model), HasSubstr(message));
  };
  using Graph = onnx::GraphProto;
  expectError([](Graph &g) { g.mutable_initializer(0)->set_dims(0, -3); },
              "initializer 'w': shape -3 has a negative extent");
  expectError(
      [](Graph &g) {
        g.mutable_initializer(0)->set_dims(0, int64_t(1) << 62);
        g.mutable_initializer(0)->add_dims(8);
      },
      "has a negative extent or too many elements");
  expectError(
      [](Graph &g) {
        g.mutable_initializer(0)->set_data_type(onnx::TensorProto::STRING);
      },
      "initializer 'w': element type string is not supported");
  expectError([](Graph &g) { *g.add_initializer() = g.initializer(0); },
              "initializer 'w' is defined already");
  expectError([](Graph &g) { g.mutable_initializer(0)->mutable_segment(); },
              "segmented tensors are not supported");
  expectError([](Graph &g) { g.add_sparse_initializer(); },
              "sparse initializers are not supported");
}

/// Bytes changed at random: whatever is found, it is reported or imported.
TEST_F(FileTest, DamagedModels) {
  std::string bytes = addModel(20).SerializeAsString();
  uint32_t state = 1;
  auto random = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = bytes;
    for (uint32_t changes = random() % 4 + 1; changes; --changes)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    std::string result = importFile(write("d.onnx", damaged));
    EXPECT_FALSE(result.empty()) << trial;
  }
}

} // namespace
