//===- DatasetFuzz.cpp - data sets in every format ------------------------===//
//
// The first byte says which format the others are: .npy, IDX (images, behind
// the labels of two of them), CIFAR-10, or a text.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include "common/data/npy.h"
#include "common/data/source.h"
#include "ffrt/error.h"

#include <filesystem>
#include <vector>

namespace {

ffrt::ProgramInfo programOf(int format) {
  using ffrt::DType;
  ffrt::ProgramInfo info{};
  info.training = true;
  info.batch = 2;
  if (format == 3)
    info.inputs = {{"tokens", DType::i64, 2, {2, 4}, false, 256},
                   {"target", DType::i32, 2, {2, 4}, true, 256}};
  else if (format == 2)
    info.inputs = {{"x", DType::f32, 4, {2, 3, 32, 32}, false, 0},
                   {"target", DType::i32, 1, {2}, true, 10}};
  else
    info.inputs = {{"x", DType::f32, 3, {2, 2, 3}, false, 0},
                   {"target", DType::i32, 1, {2}, true, 10}};
  return info;
}

void write(const std::string &folder, int format, const std::string &bytes) {
  ffrt::Index two = {2};
  const int32_t labels[] = {3, 4};
  auto put = [&](const char *name, const std::string &text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  };
  switch (format) {
  case 0:
    ffrt::write_npy(folder + "/target.npy", ffrt::DType::i32, 1, two, labels);
    return put("x.npy", bytes);
  case 1:
    put("train-labels-idx1-ubyte",
        std::string("\0\0\x08\x01\0\0\0\x02\x03\x04", 10));
    return put("train-images-idx3-ubyte", bytes);
  case 2:
    return put("data_batch_1.bin", bytes);
  default:
    return put("train.txt", bytes);
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const int format = data[0] & 3;
  const std::string folder = ffc::fuzz::folder() + "/set";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  write(folder, format, ffc::fuzz::textOf(data + 1, size - 1));
  const ffrt::ProgramInfo info = programOf(format);
  try {
    const auto source = ffrt::make_dataset(info, folder, /*shuffled=*/false, 1);
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const ffrt::InputInfo &input = info.inputs[i];
      ffrt::Tensor tensor;
      tensor.type = input.type;
      tensor.rank = input.rank;
      tensor.shape = tensor.global = input.shape;
      int64_t elements = 1;
      for (int d = 0; d < input.rank; ++d)
        elements *= input.shape[d];
      std::vector<double> room(static_cast<size_t>(elements));
      tensor.data = room.data();
      source->fill(0, i, tensor);
    }
  } catch (const ffrt::Error &) {
  }
  return 0;
}
