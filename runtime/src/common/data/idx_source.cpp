//===- idx_source.cpp - inputs out of IDX files (MNIST) -------------------===//
#include "common/data/byte_file.h"
#include "common/data/load.h"
#include "common/data/source.h"
#include "ffrt/error.h"

#include <cstdint>
#include <optional>

namespace ffrt {

namespace {

/// Unsigned bytes with a shape.
struct IdxFile {
  IdxFile(const std::string &path, int rank) : file(path) {
    const unsigned char *bytes = file.data();
    const std::size_t size = file.size();
    const std::size_t head = 4 + 4 * std::size_t(rank);
    if (size < head || bytes[0] || bytes[1] || bytes[2] != 8 ||
        bytes[3] != rank)
      throw Error("'" + path + "': expected an IDX file of unsigned bytes, " +
                  std::to_string(rank) + " dimensions, found other data");
    std::size_t elements = 1;
    for (int d = 0; d < rank; ++d) {
      const unsigned char *p = bytes + 4 + 4 * d;
      shape[d] = int64_t(p[0]) << 24 | p[1] << 16 | p[2] << 8 | p[3];
      if (__builtin_mul_overflow(elements, std::size_t(shape[d]), &elements))
        elements = SIZE_MAX;
    }
    if (size - head != elements)
      throw Error("'" + path + "': expected " + std::to_string(elements) +
                  " bytes of data, found " + std::to_string(size - head));
    data = bytes + head;
  }
  Index shape;
  const unsigned char *data;
  ByteFile file;
};

std::string in_folder(const std::string &folder, const std::string &name,
                      const char *pattern) {
  if (name.empty())
    throw Error("'" + folder + "': expected a file named " + pattern +
                ", found none");
  return folder + "/" + name;
}

class IdxSamples final : public Samples {
public:
  IdxSamples(const ProgramInfo &info, const std::string &folder,
             const std::string &image_file, const std::string &label_file)
      : info(info),
        images(in_folder(folder, image_file, "*-images-idx3-ubyte[.gz]"), 3) {
    if (wants_labels(info)) {
      labels.emplace(in_folder(folder, label_file, "*-labels-idx1-ubyte[.gz]"),
                     1);
      if (images.shape[0] != labels->shape[0])
        throw Error("'" + folder + "': expected as many labels as images, " +
                    std::to_string(images.shape[0]) + ", found " +
                    std::to_string(labels->shape[0]));
    }
    // Files of no images may have them of any size.
    values = int64_t(uint64_t(images.shape[1]) * uint64_t(images.shape[2]));
    expect_images(info, folder, "IDX", values);
  }

  int64_t count() const override { return images.shape[0]; }

  void load(int64_t sample, std::size_t input, const Tensor &row) override {
    if (info.inputs[input].target)
      load_box(row, labels->data + sample, DType::u8);
    else
      load_box(row, images.data + sample * values, DType::u8, kPixelScale);
  }

  std::string place(int64_t sample, std::size_t input) const override {
    const IdxFile &from = info.inputs[input].target ? *labels : images;
    return sample_place(from.file.path(), sample);
  }

  void expect_unchanged() const override {
    images.file.expect_unchanged();
    if (labels)
      labels->file.expect_unchanged();
  }

private:
  const ProgramInfo &info;
  IdxFile images;
  std::optional<IdxFile> labels;
  int64_t values = 0;
};

} // namespace

std::unique_ptr<Samples> open_idx(const ProgramInfo &info,
                                  const std::string &folder,
                                  const std::string &images,
                                  const std::string &labels) {
  return std::make_unique<IdxSamples>(info, folder, images, labels);
}

} // namespace ffrt
