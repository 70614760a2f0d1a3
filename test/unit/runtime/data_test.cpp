//===- data_test.cpp - .npy and IDX files, data sets, initial values ------===//
#include "common/initial.h"
#include "common/load.h"
#include "common/npy.h"
#include "common/source.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <zlib.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

class Data : public testing::Test {
protected:
  void SetUp() override {
    const std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    folder = testing::TempDir() + "ffrt_data_" + name + "_" +
             std::to_string(getpid());
    std::filesystem::create_directories(folder);
    info.batch = 4;
    info.inputs = {{"a/x", DType::f32, 3, {4, 2, 3}, false, 0},
                   {"target", DType::i32, 1, {4}, true, 10}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  template <class T>
  void npy(const std::string &name, DType type, std::vector<int64_t> shape,
           const std::vector<T> &data) const {
    Index extents;
    for (std::size_t d = 0; d < shape.size(); ++d)
      extents[int(d)] = shape[d];
    write_npy(path(name), type, int(shape.size()), extents, data.data());
  }
  std::string error_of(const std::function<void()> &f) const {
    std::string text = "no error";
    try {
      f();
    } catch (const Error &e) {
      text = e.what();
    }
    // Messages hold the folder, which differs from run to run.
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
      text.replace(at, folder.size(), "DIR");
    return text;
  }

  std::string folder;
  ProgramInfo info{};
};

std::vector<double> numbers(int64_t n) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i)
    v.push_back(double(i) * 0.5);
  return v;
}

TEST_F(Data, NpyRoundTripAndConversion) {
  npy("x.npy", DType::f64, {4, 2, 3}, numbers(24));
  const NpyFile file(path("x.npy"));
  EXPECT_EQ(file.type, DType::f64);
  EXPECT_EQ(file.shape, (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.data()) % 64, 0u);
  const Box box{{1, 0, 1}, {2, 2, 2}};
  const Tile tile = blank({4, 2, 3}, box, Order::channels_last);
  load_box(tile, file.data(), file.type);
  for_box(box, [&](const Shape &i) {
    EXPECT_EQ(tile.get(i), 0.5 * double(i[0] * 6 + i[1] * 3 + i[2]));
  });
  // Rank 0 and rank 1 headers.
  npy("s.npy", DType::i64, {}, std::vector<int64_t>{7});
  EXPECT_TRUE(NpyFile(path("s.npy")).shape.empty());
  npy("v.npy", DType::u8, {3}, std::vector<uint8_t>{1, 2, 3});
  EXPECT_EQ(NpyFile(path("v.npy")).shape, (std::vector<int64_t>{3}));
}

TEST_F(Data, NpyErrors) {
  auto open = [&](const std::string &name) {
    return error_of([&] { NpyFile file(path(name)); });
  };
  auto file = [&](const std::string &header, std::size_t data) {
    std::string text = header;
    text.append(117 - header.size(), ' ');
    write("bad.npy", std::string("\x93NUMPY\x01\x00", 8) + char(118) + char(0) +
                         text + "\n" + std::string(data, 'x'));
    return open("bad.npy");
  };
  EXPECT_EQ(open("none.npy"),
            "cannot open 'DIR/none.npy': No such file or directory");
  EXPECT_EQ(error_of([&] { NpyFile f(folder); }),
            "cannot open 'DIR': not a regular file");
  write("text.npy", "hello");
  EXPECT_EQ(open("text.npy"),
            "'DIR/text.npy': expected a .npy file, found other data");
  write("long.npy", std::string("\x93NUMPY\x01\x00\xff\xff", 10));
  EXPECT_EQ(open("long.npy"), "'DIR/long.npy': expected a .npy header of "
                              "version 1 to 3, found a damaged one");
  EXPECT_EQ(
      file("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8),
      "'DIR/bad.npy': expected type f4, f8, i4, i8, u1 or b1 "
      "(little-endian), found '>f4'");
  EXPECT_EQ(file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8),
            "'DIR/bad.npy': expected row-major order, found fortran order");
  EXPECT_EQ(file("{'descr': '<f4', 'fortran_order': False, }", 8),
            "'DIR/bad.npy': expected a shape, found a damaged header");
  EXPECT_EQ(
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", 8),
      "'DIR/bad.npy': expected a shape, found a damaged header");
  EXPECT_EQ(
      file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8),
      "'DIR/bad.npy': expected 12 bytes of data, found 8");
  EXPECT_EQ(error_of([&] { npy("no/x.npy", DType::f64, {1}, numbers(1)); }),
            "cannot write 'DIR/no/x.npy.tmp': No such file or directory");
  std::filesystem::create_directories(path("x.npy/y"));
  EXPECT_EQ(error_of([&] { npy("x.npy", DType::f64, {1}, numbers(1)); }),
            "cannot write 'DIR/x.npy': Is a directory");
  EXPECT_FALSE(std::filesystem::exists(path("x.npy.tmp")));
}

TEST_F(Data, FixedInputs) {
  npy("a_x.npy", DType::f64, {4, 2, 3}, numbers(24));
  npy("target.npy", DType::i64, {4}, std::vector<int64_t>{1, 2, 3, 9});
  auto source = make_fixed(info, folder);
  EXPECT_EQ(source->steps_per_epoch(), 0);
  for (int64_t step : {0, 5}) {
    const Tile x = blank({4, 2, 3}, {{2, 0, 0}, {2, 2, 3}});
    source->fill(step, 0, x);
    EXPECT_EQ(x.get({2, 0, 0}), 6.0);
    const Tile t = blank({4}, {{0}, {4}}, Order::row_major, DType::i32);
    source->fill(step, 1, t);
    EXPECT_EQ(t.get({3}), 9.0);
  }
}

TEST_F(Data, FixedInputErrors) {
  auto make = [&] { return error_of([&] { make_fixed(info, folder); }); };
  EXPECT_EQ(make(), "input 'a/x': expected file 'DIR/a_x.npy', found none");
  npy("a_x.npy", DType::f64, {4, 6}, numbers(24));
  EXPECT_EQ(make(), "input 'a/x': expected shape [4, 2, 3] in 'DIR/a_x.npy', "
                    "found [4, 6]");
  npy("a_x.npy", DType::f64, {4, 2, 3}, numbers(24));
  npy("target.npy", DType::f64, {4}, numbers(4));
  EXPECT_EQ(make(), "input 'target': expected integers in 'DIR/target.npy', "
                    "found type f64");
  npy("target.npy", DType::i64, {4}, std::vector<int64_t>{1, 2, 3, 10});
  auto source = make_fixed(info, folder);
  const Tile t = blank({4}, {{0}, {4}}, Order::row_major, DType::i32);
  EXPECT_EQ(error_of([&] { source->fill(0, 1, t); }),
            "input 'target': expected classes from 0 to 9, found 10");
  EXPECT_EQ(error_of([&] { load_box(t, t.tensor.data, DType::f32); }),
            "expected integers, found type f32");
}

TEST_F(Data, NpyDataset) {
  npy("a_x.npy", DType::f64, {11, 2, 3}, numbers(66));
  npy("target.npy", DType::u8, {11}, std::vector<uint8_t>(11, 3));
  auto source = make_dataset(info, folder);
  EXPECT_EQ(source->steps_per_epoch(), 2);
  for (int64_t step = 0; step < 5; ++step) {
    const Tile x = blank({4, 2, 3}, {{1, 0, 0}, {3, 2, 3}});
    source->fill(step, 0, x);
    EXPECT_EQ(x.get({1, 1, 2}), 0.5 * double((step % 2 * 4 + 1) * 6 + 5));
  }
}

TEST_F(Data, NpyDatasetErrors) {
  auto make = [&] { return error_of([&] { make_dataset(info, folder); }); };
  EXPECT_EQ(error_of([&] { make_dataset(info, "/nowhere"); }),
            "cannot open folder '/nowhere': No such file or directory");
  npy("a_x.npy", DType::f64, {11, 3, 2}, numbers(66));
  EXPECT_EQ(make(), "input 'a/x': expected shape [samples, 2, 3] in "
                    "'DIR/a_x.npy', found [11, 3, 2]");
  npy("a_x.npy", DType::f64, {11, 2, 3}, numbers(66));
  npy("target.npy", DType::u8, {10}, std::vector<uint8_t>(10, 3));
  EXPECT_EQ(make(), "input 'target': expected 11 samples as the inputs "
                    "before, found 10");
  npy("a_x.npy", DType::f64, {3, 2, 3}, numbers(18));
  npy("target.npy", DType::u8, {3}, std::vector<uint8_t>(3, 3));
  EXPECT_EQ(make(), "'DIR': expected at least 4 samples, found 3");
  info.inputs[0].shape = {5, 2, 3};
  EXPECT_EQ(make(), "input 'a/x': expected the batch of 4 as first dimension "
                    "to read a data set, found shape [5, 2, 3]");
}

std::string idx(std::vector<int> shape, int seed) {
  std::string text = {0, 0, 8, char(shape.size())};
  int n = 1;
  for (int extent : shape) {
    text += {0, 0, char(extent >> 8), char(extent & 255)};
    n *= extent;
  }
  for (int i = 0; i < n; ++i)
    text += char((i + seed) % 10);
  return text;
}

TEST_F(Data, IdxDataset) {
  write("t10k-images-idx3-ubyte", idx({4, 2, 3}, 5));
  write("t10k-labels-idx1-ubyte", idx({4}, 5));
  write("train-images-idx3-ubyte", idx({9, 2, 3}, 0));
  const std::string labels = idx({9}, 0);
  gzFile gz = gzopen(path("train-labels-idx1-ubyte.gz").c_str(), "wb");
  gzwrite(gz, labels.data(), unsigned(labels.size()));
  gzclose(gz);
  auto source = make_dataset(info, folder);
  EXPECT_EQ(source->steps_per_epoch(), 2);
  const Tile x = blank({4, 2, 3}, {{1, 0, 0}, {2, 2, 3}});
  const Tile t = blank({4}, {{1}, {2}}, Order::row_major, DType::i32);
  source->fill(3, 0, x);
  source->fill(3, 1, t);
  EXPECT_FLOAT_EQ(float(x.get({2, 1, 1})), float((6 * 6 + 4) % 10) / 255.0f);
  EXPECT_EQ(t.get({2}), 6.0);
}

TEST_F(Data, IdxErrors) {
  auto make = [&] { return error_of([&] { make_dataset(info, folder); }); };
  write("labels-idx1-ubyte", idx({9}, 0));
  EXPECT_EQ(make(), "'DIR': expected a file named "
                    "*-images-idx3-ubyte[.gz], found none");
  write("images-idx3-ubyte", idx({9}, 0));
  EXPECT_EQ(make(), "'DIR/images-idx3-ubyte': expected an IDX file of "
                    "unsigned bytes, 3 dimensions, found other data");
  write("images-idx3-ubyte", idx({9, 2, 3}, 0) + "x");
  EXPECT_EQ(make(), "'DIR/images-idx3-ubyte': expected 54 bytes of data, "
                    "found 55");
  write("images-idx3-ubyte", idx({8, 2, 3}, 0));
  EXPECT_EQ(make(), "'DIR': expected as many labels as images, 8, found 9");
  write("images-idx3-ubyte", idx({9, 2, 4}, 0));
  EXPECT_EQ(make(), "input 'a/x': expected 6 values per sample, found 8 in "
                    "the files of 'DIR'");
  write("images-idx3-ubyte", idx({9, 2, 3}, 0));
  info.inputs.push_back(info.inputs[0]);
  EXPECT_EQ(make(), "'DIR': expected a model with one input besides the "
                    "target to read IDX files, found 2");
  std::filesystem::remove(path("images-idx3-ubyte"));
  write("images-idx3-ubyte.gz", "\x1f\x8b\x08 damaged");
  EXPECT_EQ(make(), "cannot read 'DIR/images-idx3-ubyte.gz': damaged gzip "
                    "data");
}

TEST_F(Data, WeightsFile) {
  std::vector<float> values(24 + 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  write("w", std::string(reinterpret_cast<char *>(values.data()),
                         values.size() * 4));
  const Box box{{1, 0, 1}, {2, 2, 2}};
  const Tile t = blank({4, 2, 3}, box);
  initialise({{"w1", true, {Init::file, 0.0, 8}, t}}, 0, path("w"));
  for_box(box, [&](const Shape &i) {
    EXPECT_EQ(t.get(i), 2.0 + double(i[0] * 6 + i[1] * 3 + i[2]));
  });
  EXPECT_EQ(
      error_of([&] {
        initialise({{"w1", true, {Init::file, 0.0, 12}, t}}, 0, path("w"));
      }),
      "w1: expected at least 108 bytes in 'DIR/w', found 104");
  EXPECT_EQ(
      error_of([&] {
        initialise({{"w1", true, {Init::file, 0.0, 0}, t}}, 0, path("none"));
      }),
      "cannot open 'DIR/none': No such file or directory");
  const Tile i = blank({2}, {{0}, {2}}, Order::row_major, DType::i32);
  initialise({{"c", true, {Init::constant, 3.0, 0}, i}}, 0, "");
  EXPECT_EQ(i.get({1}), 3.0);
  EXPECT_EQ(error_of([&] {
              initialise({{"c", true, {Init::normal, 3.0, 0}, i}}, 0, "");
            }),
            "c: random initial value: expected type f32, found i32");
}

} // namespace
