//===- dataset_test.cpp - data sets in every format, order, prefetch ------===//
#include "common/data/feeder.h"
#include "common/data/sample_order.h"
#include "common/data/source.h"
#include "data_fixture.h"

#include <atomic>
#include <zlib.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

using Dataset = Data;

std::vector<float> rows(Source &source, int64_t step, int64_t begin,
                        int64_t count) {
  const Tile t = blank({4, 2, 3}, {{begin, 0, 0}, {count, 2, 3}});
  source.fill(step, 0, t);
  std::vector<float> result;
  for (int64_t i = begin; i < begin + count; ++i)
    result.push_back(float(t.get({i, 0, 0})));
  return result;
}

TEST_F(Dataset, ShuffledDataset) {
  info.training = true;
  std::vector<double> values(11 * 6);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double(i / 6);
  npy("a_x.npy", DType::f64, {11, 2, 3}, values);
  std::vector<uint8_t> labels;
  for (int i = 0; i < 11; ++i)
    labels.push_back(uint8_t(i % 10));
  npy("target.npy", DType::u8, {11}, labels);
  auto source = make_dataset(info, folder, true, 1);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  EXPECT_EQ(source->samples(), 11);
  // The same rows whatever the box; labels stay with their samples.
  const std::vector<float> all = rows(*source, 3, 0, 4);
  EXPECT_EQ(rows(*source, 3, 2, 1)[0], all[2]);
  const Tile t = blank({4}, {{0}, {4}}, Order::row_major, DType::i32);
  source->fill(3, 1, t);
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(t.get({i}), double(int(all[std::size_t(i)]) % 10));
  // Each epoch has another order, each seed as well.
  EXPECT_NE(rows(*source, 0, 0, 4), rows(*source, 2, 0, 4));
  EXPECT_NE(rows(*source, 0, 0, 4),
            rows(*make_dataset(info, folder, true, 2), 0, 0, 4));
  EXPECT_EQ(rows(*source, 0, 0, 4),
            rows(*make_dataset(info, folder, true, 1), 0, 0, 4));
  EXPECT_EQ(rows(*make_dataset(info, folder, false, 1), 0, 0, 4),
            (std::vector<float>{0, 1, 2, 3}));
}

TEST_F(Dataset, HeldOutSamples) {
  info.training = true;
  std::vector<double> values(21 * 6);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double(i / 6);
  npy("a_x.npy", DType::f64, {21, 2, 3}, values);
  npy("target.npy", DType::u8, {21}, std::vector<uint8_t>(21, 3));
  const auto train = make_dataset(info, folder, true, 1, {false, 0.25, false});
  EXPECT_EQ(train->samples(), 16);
  for (int64_t batch = 0; batch < 8; ++batch)
    for (float row : rows(*train, batch, 0, 4))
      EXPECT_LT(row, 16);
  info.training = false;
  const auto rest = make_dataset(info, folder, false, 1, {false, 0.25, true});
  EXPECT_EQ(rest->samples(), 5);
  EXPECT_EQ(rows(*rest, 0, 0, 4), (std::vector<float>{16, 17, 18, 19}));
  EXPECT_EQ(rows(*rest, 1, 0, 1), (std::vector<float>{20}));
  // A tiny share is one sample.
  EXPECT_EQ(
      make_dataset(info, folder, false, 1, {false, 1e-9, true})->samples(), 1);
  info.training = true;
  EXPECT_EQ(
      error_of([&] {
        make_dataset(info, folder, true, 1, {false, 0.9, false});
      }),
      "'DIR': expected at least 4 samples, found 2 besides those held out");
}

TEST_F(Dataset, OrderIsAPermutation) {
  for (int64_t n : {1, 2, 3, 7, 64, 65, 1000, 12345}) {
    const SampleOrder order(n, true, 7);
    double displaced = 0;
    for (int64_t epoch : {0, 1}) {
      std::vector<bool> seen(static_cast<std::size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t sample = order.at(epoch, i);
        ASSERT_TRUE(sample >= 0 && sample < n && !seen[std::size_t(sample)]);
        seen[std::size_t(sample)] = true;
        displaced += std::abs(double(sample - i)) / double(n);
      }
    }
    // Of random permutations: a third of n on average.
    if (n >= 1000) {
      EXPECT_NEAR(displaced / double(2 * n), 1.0 / 3.0, 0.02) << n;
    }
  }
  EXPECT_EQ(SampleOrder(9, false, 7).at(3, 5), 5);
}

TEST_F(Dataset, EvaluationCoversAllSamples) {
  npy("a_x.npy", DType::f64, {6, 2, 3}, numbers(36));
  npy("target.npy", DType::u8, {6}, std::vector<uint8_t>(6, 3));
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  EXPECT_EQ(rows(*source, 1, 0, 4), (std::vector<float>{12, 15, 0, 3}));
}

TEST_F(Dataset, NpyDataset) {
  info.training = true;
  npy("a_x.npy", DType::f64, {11, 2, 3}, numbers(66));
  npy("target.npy", DType::u8, {11}, std::vector<uint8_t>(11, 3));
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  for (int64_t step = 0; step < 5; ++step) {
    const Tile x = blank({4, 2, 3}, {{1, 0, 0}, {3, 2, 3}});
    source->fill(step, 0, x);
    EXPECT_EQ(x.get({1, 1, 2}), 0.5 * double((step % 2 * 4 + 1) * 6 + 5));
  }
}

TEST_F(Dataset, ErrorsNameTheFileAndTheSample) {
  info.training = true;
  npy("a_x.npy", DType::f64, {11, 2, 3}, numbers(66));
  std::vector<uint8_t> labels(11, 3);
  labels[5] = 10;
  npy("target.npy", DType::u8, {11}, labels);
  auto source = make_dataset(info, folder, true, 1);
  std::string text;
  for (int64_t step = 0; step < 2; ++step) {
    const Tile t = blank({4}, {{1}, {3}}, Order::row_major, DType::i32);
    const std::string error = error_of([&] { source->fill(step, 1, t); });
    text = error == "no error" ? text : error;
  }
  EXPECT_EQ(text, "input 'target': expected classes from 0 to 9, found 10 in "
                  "'DIR/target.npy', sample 5");
  source = make_dataset(info, folder, true, 1);
  npy("target.npy", DType::u8, {11}, labels); // a new file of that name
  const Tile x = blank({4, 2, 3}, {{0, 0, 0}, {4, 2, 3}});
  source->fill(0, 0, x);
  source = make_dataset(info, folder, true, 1);
  std::filesystem::resize_file(path("target.npy"), 130);
  EXPECT_EQ(
      error_of([&] { source->fill(0, 0, x); }),
      "'DIR/target.npy': expected 139 bytes, as when the run began, found "
      "130: what a run reads must stay as it is");
}

TEST_F(Dataset, NpyDatasetErrors) {
  info.training = true;
  auto make = [&] {
    return error_of([&] { make_dataset(info, folder, false, 0); });
  };
  EXPECT_EQ(error_of([&] { make_dataset(info, "/nowhere", false, 0); }),
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

void gzip(const std::string &path, const std::string &bytes) {
  gzFile gz = gzopen(path.c_str(), "wb");
  gzwrite(gz, bytes.data(), unsigned(bytes.size()));
  gzclose(gz);
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

TEST_F(Dataset, IdxDataset) {
  info.training = true;
  write("t10k-images-idx3-ubyte", idx({4, 2, 3}, 5));
  write("t10k-labels-idx1-ubyte", idx({4}, 5));
  write("train-images-idx3-ubyte", idx({9, 2, 3}, 0));
  gzip(path("train-labels-idx1-ubyte.gz"), idx({9}, 0));
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  const Tile x = blank({4, 2, 3}, {{1, 0, 0}, {2, 2, 3}});
  const Tile t = blank({4}, {{1}, {2}}, Order::row_major, DType::i32);
  source->fill(3, 0, x);
  source->fill(3, 1, t);
  EXPECT_FLOAT_EQ(float(x.get({2, 1, 1})), float((6 * 6 + 4) % 10) / 255.0f);
  EXPECT_EQ(t.get({2}), 6.0);
}

TEST_F(Dataset, IdxErrors) {
  auto make = [&] {
    return error_of([&] { make_dataset(info, folder, false, 0); });
  };
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

TEST_F(Dataset, IdxImagesAloneEvaluate) {
  write("t10k-images-idx3-ubyte", idx({4, 2, 3}, 5));
  info.inputs.pop_back();
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_FLOAT_EQ(rows(*source, 0, 1, 1)[0], float((6 + 5) % 10) / 255.0f);
}

/// Records whose first pixel is the label plus 10 and the others are 7.
std::string cifar(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += {char(i % 10), char(i % 10 + 10)};
    text += std::string(3071, 7);
  }
  return text;
}

TEST_F(Dataset, CifarDataset) {
  info.training = true;
  info.inputs[0] = {"x", DType::f32, 4, {4, 3, 32, 32}, false, 0};
  write("data_batch_1.bin", cifar(0, 5));
  gzip(path("data_batch_2.bin.gz"), cifar(5, 4));
  write("test_batch.bin", cifar(0, 1));
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->samples(), 9);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  const Tile x = blank({4, 3, 32, 32}, {{1, 0, 0, 0}, {2, 2, 32, 16}},
                       Order::channels_last);
  const Tile t = blank({4}, {{1}, {2}}, Order::row_major, DType::i32);
  source->fill(1, 0, x);
  source->fill(1, 1, t);
  EXPECT_EQ(t.get({1}), 5.0);
  EXPECT_EQ(t.get({2}), 6.0);
  EXPECT_FLOAT_EQ(float(x.get({2, 0, 0, 0})), 16.0f / 255.0f);
  EXPECT_FLOAT_EQ(float(x.get({2, 1, 31, 15})), 7.0f / 255.0f);
}

TEST_F(Dataset, CifarErrors) {
  auto make = [&] {
    return error_of([&] { make_dataset(info, folder, false, 0); });
  };
  write("a.bin", cifar(0, 5));
  EXPECT_EQ(make(), "input 'a/x': expected 6 values per sample, found 3072 in "
                    "the files of 'DIR'");
  info.inputs[0] = {"x", DType::f32, 2, {4, 3072}, false, 0};
  write("b.bin", cifar(0, 1) + "x");
  EXPECT_EQ(make(), "'DIR/b.bin': expected records of 3073 bytes, found 3074 "
                    "bytes");
  write("b.bin", "");
  EXPECT_EQ(make(),
            "'DIR/b.bin': expected records of 3073 bytes, found 0 bytes");
  info.inputs.push_back(info.inputs[0]);
  EXPECT_EQ(make(), "'DIR': expected a model with one input besides the "
                    "target to read CIFAR-10 files, found 2");
}

/// Remembers the step of a call; throws at step 3.
class Counting final : public Source {
public:
  explicit Counting(bool same) : same(same) {}
  bool constant() const override { return same; }
  int64_t samples() const override { return 9; }
  void fill(int64_t step, std::size_t input, const Tensor &t) override {
    if (step == 3)
      throw Error("no more");
    std::fill_n(t.as<float>(), t.elements(), float(10 * step + int64_t(input)));
    ++calls;
  }
  bool same;
  std::atomic<int> calls{0};
};

TEST_F(Dataset, FeederGivesEachStepItsBatch) {
  // In place, by a thread, and kept.
  for (int64_t n : {8, 100000})
    for (bool same : {false, true}) {
      Counting source(same);
      const Tile a = blank({n}, {{0}, {n}}), b = blank({2}, {{0}, {2}});
      Tensor absent;
      absent.rank = 1;
      Feeder feeder(source,
                    {{"a", a.tensor}, {"b", b.tensor}, {"none", absent}},
                    {0, 1, 0}, 0, 3);
      for (int64_t step = 0; step < 3; ++step) {
        a.tensor.as<float>()[n - 1] = b.tensor.as<float>()[0] = -1.0f;
        feeder.next();
        const double first = same ? 0.0 : double(10 * step);
        EXPECT_EQ(a.get({n - 1}), first);
        EXPECT_EQ(b.get({0}), first + 1.0);
      }
      EXPECT_EQ(source.calls, same ? 3 : 9);
    }
}

TEST_F(Dataset, FeederPassesErrorsOn) {
  for (int64_t n : {8, 100000}) {
    Counting source(false);
    const Tile a = blank({n}, {{0}, {n}});
    Feeder feeder(source, {{"a", a.tensor}}, {0}, 0, 9);
    for (int step = 0; step < 3; ++step)
      feeder.next();
    EXPECT_EQ(error_of([&] { feeder.next(); }), "no more");
  }
  // Not all batches taken.
  Counting source(false);
  const Tile a = blank({100000}, {{0}, {100000}});
  Feeder feeder(source, {{"a", a.tensor}}, {0}, 0, 3);
  feeder.next();
}

} // namespace
