//===- npy_source.cpp - inputs out of .npy files --------------------------===//
#include "common/check.h"
#include "common/load.h"
#include "common/names.h"
#include "common/npy.h"
#include "common/source.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

std::string shape_text(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

/// The file of an input; `samples`: its first dimension is free.
NpyFile open_input(const InputInfo &input, const std::string &folder,
                   bool samples) {
  const std::string path = folder + "/" + file_name(input.name) + ".npy";
  if (!exists(path))
    throw Error(name_of(input) + ": expected file '" + path + "', found none");
  NpyFile file(path);
  bool same = int(file.shape.size()) == input.rank;
  for (int d = samples; same && d < input.rank; ++d)
    same = file.shape[d] == input.shape[d];
  if (!same) {
    std::string expected = to_string(input.rank, input.shape);
    if (samples)
      expected = "[samples" + expected.substr(expected.find_first_of(",]"));
    throw Error(name_of(input) + ": expected shape " + expected + " in '" +
                path + "', found " + shape_text(file.shape));
  }
  const bool integers = file.type != DType::f32 && file.type != DType::f64;
  if (!integers && input.type != DType::f32 && input.type != DType::f64)
    throw Error(name_of(input) + ": expected integers in '" + path +
                "', found type " + name_of(file.type));
  return file;
}

class NpySource final : public Source {
public:
  NpySource(const ProgramInfo &info, const std::string &folder, bool dataset)
      : info(info) {
    if (dataset)
      expect_sample_dimension(info);
    int64_t samples = -1;
    for (const InputInfo &input : info.inputs) {
      files.push_back(open_input(input, folder, dataset));
      if (!dataset)
        continue;
      const int64_t found = files.back().shape[0];
      if (samples >= 0 && found != samples)
        throw Error(name_of(input) + ": expected " + std::to_string(samples) +
                    " samples as the inputs before, found " +
                    std::to_string(found));
      samples = found;
    }
    if (dataset)
      batches = whole_batches(info, folder, samples);
  }

  int64_t steps_per_epoch() const override { return batches; }

  void fill(int64_t step, std::size_t index, const Tensor &t) override {
    const InputInfo &input = info.inputs[index];
    const NpyFile &file = files[index];
    int64_t skipped = 0;
    if (batches > 0) {
      skipped = step % batches * int64_t(size_of(file.type));
      for (int d = 0; d < input.rank; ++d)
        skipped *= input.shape[d];
    }
    load_box(t, file.data() + skipped, file.type);
    expect_classes(input, t);
  }

private:
  const ProgramInfo &info;
  std::vector<NpyFile> files;
  int64_t batches = 0;
};

} // namespace

std::unique_ptr<Source> make_fixed(const ProgramInfo &info,
                                   const std::string &folder) {
  return std::make_unique<NpySource>(info, folder, false);
}

std::unique_ptr<Source> make_dataset(const ProgramInfo &info,
                                     const std::string &folder) {
  std::string images, labels;
  auto pick = [](std::string &chosen, const std::string &name,
                 const std::string &part) {
    // Folders may hold the test set as well: training files win.
    if (name.find(part) != std::string::npos &&
        (chosen.empty() || name.rfind("train", 0) == 0))
      chosen = name;
  };
  for (const std::string &name : list_folder(folder)) {
    pick(images, name, "images-idx");
    pick(labels, name, "labels-idx");
  }
  if (images.empty() && labels.empty())
    return std::make_unique<NpySource>(info, folder, true);
  return make_idx(info, folder, images, labels);
}

} // namespace ffrt
