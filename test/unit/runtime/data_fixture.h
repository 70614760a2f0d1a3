//===- data_fixture.h - a folder of data files for a test -------*- C++ -*-===//
#ifndef FFRT_TEST_DATA_FIXTURE_H
#define FFRT_TEST_DATA_FIXTURE_H

#include "common/data/npy.h"
#include "ffrt/error.h"
#include "ffrt/program.h"
#include "geometry.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>

namespace ffrt_test {

/// A program of two inputs, and a folder that is gone after the test.
class Data : public testing::Test {
protected:
  void SetUp() override {
    const std::string name =
        testing::UnitTest::GetInstance()->current_test_info()->name();
    folder = testing::TempDir() + "ffrt_data_" + name + "_" +
             std::to_string(getpid());
    std::filesystem::create_directories(folder);
    info.batch = 4;
    info.inputs = {{"a/x", ffrt::DType::f32, 3, {4, 2, 3}, false, 0},
                   {"target", ffrt::DType::i32, 1, {4}, true, 10}};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  template <class T>
  void npy(const std::string &name, ffrt::DType type,
           std::vector<int64_t> shape, const std::vector<T> &data) const {
    ffrt::Index extents;
    for (std::size_t d = 0; d < shape.size(); ++d)
      extents[int(d)] = shape[d];
    ffrt::write_npy(path(name), type, int(shape.size()), extents, data.data());
  }
  std::string error_of(const std::function<void()> &f) const {
    std::string text = "no error";
    try {
      f();
    } catch (const ffrt::Error &e) {
      text = e.what();
    }
    // Messages hold the folder, which differs from run to run.
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
      text.replace(at, folder.size(), "DIR");
    return text;
  }

  std::string folder;
  ffrt::ProgramInfo info{};
};

/// 0, 0.5, 1, ...
inline std::vector<double> numbers(int64_t n) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i)
    v.push_back(double(i) * 0.5);
  return v;
}

} // namespace ffrt_test

#endif // FFRT_TEST_DATA_FIXTURE_H
