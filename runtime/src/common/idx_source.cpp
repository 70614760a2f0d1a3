//===- idx_source.cpp - inputs out of IDX files (MNIST) -------------------===//
#include "common/check.h"
#include "common/file.h"
#include "common/load.h"
#include "common/source.h"
#include "ffrt/error.h"

namespace ffrt {

namespace {

/// Unsigned bytes with a shape, mapped or unpacked.
class IdxFile {
public:
  IdxFile(const std::string &path, int rank) {
    const unsigned char *bytes;
    std::size_t size;
    if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
      unpacked = read_gzip(path);
      bytes = unpacked.data();
      size = unpacked.size();
    } else {
      mapped = std::make_unique<MappedFile>(path);
      bytes = mapped->data();
      size = mapped->size();
    }
    const std::size_t head = 4 + 4 * std::size_t(rank);
    if (size < head || bytes[0] || bytes[1] || bytes[2] != 8 ||
        bytes[3] != rank)
      throw Error("'" + path + "': expected an IDX file of unsigned bytes, " +
                  std::to_string(rank) + " dimensions, found other data");
    std::size_t elements = 1;
    for (int d = 0; d < rank; ++d) {
      const unsigned char *p = bytes + 4 + 4 * d;
      shape[d] = int64_t(p[0]) << 24 | p[1] << 16 | p[2] << 8 | p[3];
      elements *= std::size_t(shape[d]);
    }
    if (size - head != elements)
      throw Error("'" + path + "': expected " + std::to_string(elements) +
                  " bytes of data, found " + std::to_string(size - head));
    data = bytes + head;
  }
  Index shape;
  const unsigned char *data;

private:
  std::vector<unsigned char> unpacked;
  std::unique_ptr<MappedFile> mapped;
};

std::string in_folder(const std::string &folder, const std::string &name,
                      const char *pattern) {
  if (name.empty())
    throw Error("'" + folder + "': expected a file named " + pattern +
                ", found none");
  return folder + "/" + name;
}

class IdxSource final : public Source {
public:
  IdxSource(const ProgramInfo &info, const std::string &folder,
            const std::string &images, const std::string &labels)
      : info(info),
        images(in_folder(folder, images, "*-images-idx3-ubyte[.gz]"), 3),
        labels(in_folder(folder, labels, "*-labels-idx1-ubyte[.gz]"), 1) {
    expect_sample_dimension(info);
    if (this->images.shape[0] != this->labels.shape[0])
      throw Error("'" + folder + "': expected as many labels as images, " +
                  std::to_string(this->images.shape[0]) + ", found " +
                  std::to_string(this->labels.shape[0]));
    int plain = 0;
    for (const InputInfo &input : info.inputs) {
      const int64_t found = sample_elements(input);
      const int64_t wanted = elements_for(input);
      if (found != wanted)
        throw Error(name_of(input) + ": expected " + std::to_string(found) +
                    " values per sample, found " + std::to_string(wanted) +
                    " in the files of '" + folder + "'");
      plain += !input.target;
    }
    if (plain != 1)
      throw Error("'" + folder +
                  "': expected a model with one input besides "
                  "the target to read IDX files, found " +
                  std::to_string(plain));
    batches = whole_batches(info, folder, this->images.shape[0]);
  }

  int64_t steps_per_epoch() const override { return batches; }

  void fill(int64_t step, std::size_t index, const Tensor &t) override {
    const InputInfo &input = info.inputs[index];
    const IdxFile &file = input.target ? labels : images;
    const int64_t skipped =
        step % batches * info.batch * sample_elements(input);
    load_box(t, file.data + skipped, DType::u8,
             input.target ? 1.0 : 1.0 / 255.0);
    expect_classes(input, t);
  }

private:
  static int64_t sample_elements(const InputInfo &input) {
    int64_t n = 1;
    for (int d = 1; d < input.rank; ++d)
      n *= input.shape[d];
    return n;
  }
  int64_t elements_for(const InputInfo &input) const {
    return input.target ? 1 : images.shape[1] * images.shape[2];
  }

  const ProgramInfo &info;
  IdxFile images, labels;
  int64_t batches = 0;
};

} // namespace

std::unique_ptr<Source> make_idx(const ProgramInfo &info,
                                 const std::string &folder,
                                 const std::string &images,
                                 const std::string &labels) {
  return std::make_unique<IdxSource>(info, folder, images, labels);
}

} // namespace ffrt
