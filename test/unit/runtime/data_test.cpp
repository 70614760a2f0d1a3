//===- data_test.cpp - files of values: fixed inputs, initial values ------===//
#include "common/checkpoint/saved_values.h"
#include "common/data/file_set.h"
#include "common/data/load.h"
#include "common/data/names.h"
#include "common/data/source.h"
#include "common/program/initial.h"
#include "data_fixture.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

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
  EXPECT_EQ(file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                 "(4611686018427387904, 4), }",
                 8),
            "'DIR/bad.npy': expected a shape, found a damaged header");
  EXPECT_EQ(error_of([&] { npy("no/x.npy", DType::f64, {1}, numbers(1)); }),
            "cannot write 'DIR/no/x.npy.tmp': No such file or directory");
  std::filesystem::create_directories(path("x.npy/y"));
  EXPECT_EQ(error_of([&] { npy("x.npy", DType::f64, {1}, numbers(1)); }),
            "cannot write 'DIR/x.npy': expected a regular file or a new name, "
            "found a folder");
  EXPECT_FALSE(std::filesystem::exists(path("x.npy.tmp")));
}

TEST_F(Data, FilesThatChangeWhileTheyAreRead) {
  write("x", std::string(10000, 'a'));
  const MappedFile file(path("x"));
  file.expect_unchanged();
  write("y", std::string(10, 'b'));
  std::filesystem::rename(path("y"), path("z"));
  file.expect_unchanged(); // another file
  std::filesystem::resize_file(path("x"), 100);
  EXPECT_EQ(error_of([&] { file.expect_unchanged(); }),
            "'DIR/x': expected 10000 bytes, as when the run began, found 100: "
            "what a run reads must stay as it is");
  // Of the last page that is there, zeros are read.
  EXPECT_EQ(file.data()[200], 0);
  EXPECT_EXIT(std::exit(file.data()[8192]), testing::ExitedWithCode(1),
              "error: rank 0: data: '.*/x': expected all of the 10000 bytes "
              "that it had when the run began, found none at byte 8192: it was "
              "cut off, or the disk can not read it");
  const MappedFile again(path("x"));
  std::filesystem::last_write_time(
      path("x"),
      std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(error_of([&] { again.expect_unchanged(); }),
            "'DIR/x': expected a file that is as when the run began, found one "
            "that was written since: what a run reads must stay as it is");
  std::filesystem::rename(path("z"), path("x"));
  again.expect_unchanged(); // its name is that of another file
}

TEST_F(Data, FixedInputs) {
  npy("a_x.npy", DType::f64, {4, 2, 3}, numbers(24));
  npy("target.npy", DType::i64, {4}, std::vector<int64_t>{1, 2, 3, 9});
  auto source = make_fixed(info, folder);
  EXPECT_EQ(source->batches_per_epoch(), 0);
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
                    "found type f64; for targets that are no classes, compile "
                    "with --loss=mse or --loss=bce");
  npy("target.npy", DType::i64, {4}, std::vector<int64_t>{1, 2, 3, 10});
  auto source = make_fixed(info, folder);
  const Tile t = blank({4}, {{0}, {4}}, Order::row_major, DType::i32);
  EXPECT_EQ(error_of([&] { source->fill(0, 1, t); }),
            "input 'target': expected classes from 0 to 9, found 10 in "
            "'DIR/target.npy', sample 3");
  EXPECT_EQ(error_of([&] { load_box(t, t.tensor.data, DType::f32); }),
            "expected integers, found type f32");
}

TEST_F(Data, SavedWeights) {
  std::filesystem::create_directories(path("param"));
  npy("param/a_w.npy", DType::f32, {2, 3},
      std::vector<float>{0, 1, 2, 3, 4, 5});
  const Tile w = blank({2, 3}, {{1, 0}, {1, 3}}), v = blank({2}, {{0}, {2}});
  const auto saved = open_parameters(folder);
  auto load = [&](const char *name, const Tile &t) {
    return error_of([&] {
      initialise({{name, StateKind::parameter, {Init::constant, 9.0, 0}, t},
                  {"other", StateKind::slot, {Init::constant, 8.0, 0}, v}},
                 0, {}, {saved.get(), false});
    });
  };
  EXPECT_EQ(load("a/w", w), "no error");
  EXPECT_EQ(w.get({1, 0}), 3.0);
  EXPECT_EQ(v.get({1}), 8.0);
  EXPECT_EQ(load("b", w), "parameter 'b': expected file 'DIR/param/b.npy', "
                          "found none");
  EXPECT_EQ(load("a/w", v), "parameter 'a/w': expected shape [2] in "
                            "'DIR/param/a_w.npy', found [2, 3]");
  // Programs in f64 and f32 read what the others have left.
  npy("param/a_w.npy", DType::f64, {2, 3}, numbers(6));
  EXPECT_EQ(load("a/w", w), "no error");
  npy("param/a_w.npy", DType::i32, {2, 3}, std::vector<int32_t>(6));
  EXPECT_EQ(load("a/w", w), "parameter 'a/w': expected type f32 in "
                            "'DIR/param/a_w.npy', found i32");
}

TEST_F(Data, SavedWeightsOfUnusualNames) {
  std::filesystem::create_directories(path("param"));
  DumpPaths paths;
  paths.add("a/b", true);
  npy(paths.add("a_b", true) + ".npy", DType::f32, {1}, std::vector<float>{7});
  npy("param/a_b.npy", DType::f32, {1}, std::vector<float>{5});
  write(kNamesFile, paths.unusual());
  const auto saved = open_parameters(folder);
  const Tile t = blank({1}, {{0}, {1}});
  saved->load("a_b", true, t);
  EXPECT_EQ(t.get({0}), 7.0);
  saved->load("a/b", true, t);
  EXPECT_EQ(t.get({0}), 5.0);
  write(kNamesFile, "[");
  EXPECT_EQ(error_of([&] {
              open_parameters(folder);
            }).rfind("'DIR/names.json': expected names by path, found ", 0),
            0u);
}

TEST_F(Data, FilesThatAppearTogether) {
  write("a", "old");
  {
    FileSet files(folder);
    files.add("a", "new", nullptr, 0);
    files.add("sub/b", "new", nullptr, 0);
    EXPECT_EQ(read_file(path("a")), "old");
    EXPECT_FALSE(exists(path("sub/b")));
  }
  EXPECT_EQ(list_folder(folder), (std::vector<std::string>{"a", "sub"}));
  EXPECT_TRUE(list_folder(path("sub")).empty());
  FileSet files(folder);
  files.add("a", "new", nullptr, 0);
  files.add("sub/b", "new", nullptr, 0);
  files.commit();
  EXPECT_EQ(read_file(path("a")) + read_file(path("sub/b")), "newnew");
  EXPECT_EQ(list_folder(path("sub")), std::vector<std::string>{"b"});
}

TEST_F(Data, OnlyRegularFilesAreReplaced) {
  std::filesystem::create_symlink("elsewhere", path("link"));
  const auto error = [&](const std::string &name) {
    return error_of([&] { write_file(name, "x", nullptr, 0); });
  };
  const std::string why = "': expected a regular file or a new name, found a ";
  EXPECT_EQ(error(path("link")), "cannot write 'DIR/link" + why + "link");
  EXPECT_EQ(error("/dev/null"),
            "cannot write '/dev/null" + why + "device or pipe");
  // What a process has left that was killed.
  write("f.tmp", "half");
  EXPECT_EQ(error(path("f")), "no error");
  EXPECT_FALSE(exists(path("f.tmp")));
}

TEST_F(Data, WeightsFile) {
  std::vector<float> values(24 + 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  write("w", std::string(reinterpret_cast<char *>(values.data()),
                         values.size() * 4));
  const Box box{{1, 0, 1}, {2, 2, 2}};
  const Tile t = blank({4, 2, 3}, box);
  initialise({{"w1", StateKind::parameter, {Init::file, 0.0, 8}, t}}, 0,
             {path("w"), ""});
  for_box(box, [&](const Shape &i) {
    EXPECT_EQ(t.get(i), 2.0 + double(i[0] * 6 + i[1] * 3 + i[2]));
  });
  EXPECT_EQ(error_of([&] {
              initialise(
                  {{"w1", StateKind::parameter, {Init::file, 0.0, 36}, t}}, 0,
                  {path("w"), ""});
            }),
            "w1: expected at least 108 bytes in 'DIR/w', found 104");
  EXPECT_EQ(error_of([&] {
              initialise(
                  {{"w1", StateKind::parameter, {Init::file, 0.0, 0}, t}}, 0,
                  {path("none"), ""});
            }),
            "expected 'DIR/none', which ffc has written beside the program, "
            "found none");
  const Tile i = blank({2}, {{0}, {2}}, Order::row_major, DType::i32);
  initialise({{"c", StateKind::parameter, {Init::constant, 3.0, 0}, i}}, 0, {});
  EXPECT_EQ(i.get({1}), 3.0);
  EXPECT_EQ(error_of([&] {
              initialise(
                  {{"c", StateKind::parameter, {Init::normal, 3.0, 0}, i}}, 0,
                  {});
            }),
            "c: initial value: expected type f32, found i32");
}

TEST_F(Data, NumbersByPlace) {
  const Box box{{1, 2, 1}, {1, 2, 3}};
  const Tile t = blank({2, 4, 5}, box);
  const auto expect = [&](Init::Kind kind, double value, auto expected) {
    initialise({{"c", StateKind::slot, {kind, value, 0}, t}}, 0, {});
    for_box(box, [&](const Shape &i) { EXPECT_EQ(t.get(i), expected(i)); });
  };
  expect(Init::positions, 7.0, [](const Shape &i) {
    return 7.0 + double((i[0] * 4 + i[1]) * 5 + i[2]);
  });
  expect(Init::upper, -HUGE_VAL,
         [](const Shape &i) { return i[2] > i[1] ? -HUGE_VAL : 0.0; });
  expect(Init::lower, 2.0,
         [](const Shape &i) { return i[2] > i[1] ? 0.0 : 2.0; });
  const Tile vector = blank({2}, {{0}, {2}});
  EXPECT_EQ(error_of([&] {
              initialise(
                  {{"c", StateKind::slot, {Init::upper, 1.0, 0}, vector}}, 0,
                  {});
            }),
            "c: initial value: expected a matrix or several, found rank 1");
}

} // namespace
