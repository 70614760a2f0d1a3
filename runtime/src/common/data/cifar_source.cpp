//===- cifar_source.cpp - inputs out of records of CIFAR-10 ---------------===//
//
// A record is a byte with the label and 3 x 32 x 32 bytes of pixels: the red
// plane, row by row, then the green and the blue one.
//
//===----------------------------------------------------------------------===//
#include "common/data/byte_file.h"
#include "common/data/load.h"
#include "common/data/source.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

constexpr int64_t kPixels = 3 * 32 * 32, kRecord = 1 + kPixels;

class CifarSamples final : public Samples {
public:
  CifarSamples(const ProgramInfo &info, const std::string &folder,
               const FileNames &names)
      : info(info) {
    expect_images(info, folder, "CIFAR-10", kPixels);
    for (const std::string &name : names) {
      const std::string path = folder + "/" + name;
      files.emplace_back(path);
      const int64_t size = int64_t(files.back().size());
      if (size == 0 || size % kRecord != 0)
        throw Error("'" + path + "': expected records of " +
                    std::to_string(kRecord) + " bytes, found " +
                    std::to_string(size) + " bytes");
      total += size / kRecord;
    }
  }

  int64_t count() const override { return total; }

  void load(int64_t sample, std::size_t input, const Tensor &row) override {
    const unsigned char *record = record_of(sample);
    if (info.inputs[input].target)
      load_box(row, record, DType::u8);
    else
      load_box(row, record + 1, DType::u8, kPixelScale);
  }

  std::string place(int64_t sample, std::size_t) const override {
    const auto [file, number] = find(sample);
    return sample_place(files[file].path(), number);
  }

  void expect_unchanged() const override {
    for (const ByteFile &file : files)
      file.expect_unchanged();
  }

private:
  std::pair<std::size_t, int64_t> find(int64_t sample) const {
    return find_sample(sample, [this](std::size_t i) {
      return int64_t(files[i].size()) / kRecord;
    });
  }
  const unsigned char *record_of(int64_t sample) const {
    const auto [file, number] = find(sample);
    return files[file].data() + number * kRecord;
  }

  const ProgramInfo &info;
  std::vector<ByteFile> files;
  int64_t total = 0;
};

} // namespace

std::unique_ptr<Samples> open_cifar(const ProgramInfo &info,
                                    const std::string &folder,
                                    const FileNames &files) {
  return std::make_unique<CifarSamples>(info, folder, files);
}

} // namespace ffrt
