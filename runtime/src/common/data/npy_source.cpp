//===- npy_source.cpp - inputs out of .npy files --------------------------===//
#include "common/data/load.h"
#include "common/data/names.h"
#include "common/data/npy.h"
#include "common/data/source.h"
#include "common/kernels/check.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

/// The file of an input; `samples`: its first dimension is free.
NpyFile open_input(const InputInfo &input, const std::string &folder,
                   bool samples) {
  const std::string path = folder + "/" + file_name(input.name) + ".npy";
  if (!exists(path))
    throw Error(name_of(input) + ": expected file '" + path + "', found none");
  NpyFile file(path);
  const bool integers = file.type != DType::f32 && file.type != DType::f64;
  if (!integers && input.type != DType::f32 && input.type != DType::f64)
    throw Error(name_of(input) + ": expected integers in '" + path +
                "', found type " + name_of(file.type) +
                (input.target ? "; for targets that are no classes, compile "
                                "with --loss=mse or --loss=bce"
                              : ""));
  bool same = int(file.shape.size()) == input.rank;
  for (int d = samples; same && d < input.rank; ++d)
    same = file.shape[d] == input.shape[d];
  if (!same) {
    std::string expected = to_string(input.rank, input.shape);
    if (samples)
      expected = "[samples" + expected.substr(expected.find_first_of(",]"));
    throw Error(name_of(input) + ": expected shape " + expected + " in '" +
                path + "', found " + to_string(file.shape));
  }
  return file;
}

/// The same arrays in every step.
class Fixed final : public Source {
public:
  Fixed(const ProgramInfo &info, const std::string &folder) : info(info) {
    for (const InputInfo &input : info.inputs)
      files.push_back(open_input(input, folder, false));
  }

  bool constant() const override { return true; }

  void fill(int64_t, std::size_t input, const Tensor &t) override {
    load_box(t, files[input].data(), files[input].type);
    expect_classes(info.inputs[input], t, [&](int64_t row) {
      return sample_place(files[input].mapped().path(), t.lo[0] + row);
    });
  }

private:
  const ProgramInfo &info;
  std::vector<NpyFile> files;
};

class NpySamples final : public Samples {
public:
  NpySamples(const ProgramInfo &info, const std::string &folder) {
    expect_sample_dimension(info);
    for (const InputInfo &input : info.inputs) {
      files.push_back(open_input(input, folder, true));
      const NpyFile &file = files.back();
      if (file.shape[0] != files.front().shape[0])
        throw Error(name_of(input) + ": expected " + std::to_string(count()) +
                    " samples as the inputs before, found " +
                    std::to_string(file.shape[0]));
      int64_t bytes = int64_t(size_of(file.type));
      for (int d = 1; d < input.rank; ++d)
        bytes *= input.shape[d];
      row_bytes.push_back(bytes);
    }
  }

  int64_t count() const override {
    return files.empty() ? 0 : files.front().shape[0];
  }

  void load(int64_t sample, std::size_t input, const Tensor &row) override {
    const NpyFile &file = files[input];
    load_box(row, file.data() + sample * row_bytes[input], file.type);
  }

  std::string place(int64_t sample, std::size_t input) const override {
    return sample_place(files[input].mapped().path(), sample);
  }

  void expect_unchanged() const override {
    for (const NpyFile &file : files)
      file.mapped().expect_unchanged();
  }

private:
  std::vector<NpyFile> files;
  std::vector<int64_t> row_bytes;
};

} // namespace

std::unique_ptr<Source> make_fixed(const ProgramInfo &info,
                                   const std::string &folder) {
  return std::make_unique<Fixed>(info, folder);
}

std::unique_ptr<Samples> open_npy(const ProgramInfo &info,
                                  const std::string &folder) {
  return std::make_unique<NpySamples>(info, folder);
}

} // namespace ffrt
