//===- text_source.cpp - inputs out of text -------------------------------===//
//
// A text is a row of tokens: the bytes of a file, or the integers of a .npy
// file of rank 1. With T positions per sample, sample i has tokens i * T to i *
// T + T - 1 as input, and the token after each as target; what is left at the
// end is not used. Files are read one after the other, and no sample is of two.
// An input called position_ids counts from 0 in every sample.
//
//===----------------------------------------------------------------------===//
#include "common/data/byte_file.h"
#include "common/data/load.h"
#include "common/data/npy.h"
#include "common/data/source.h"
#include "common/data/text_inputs.h"
#include "common/kernels/check.h"
#include "ffrt/error.h"

#include <numeric>

namespace ffrt {

namespace {

struct Tokens {
  std::string path;
  const unsigned char *data;
  DType type;
  int64_t count;

  Tokens(const ByteFile &file)
      : path(file.path()), data(file.data()), type(DType::u8),
        count(int64_t(file.size())) {}
  Tokens(const NpyFile &file)
      : path(file.mapped().path()), data(file.data()), type(file.type),
        count(file.shape[0]) {}
};

class TextSamples final : public Samples {
public:
  TextSamples(const ProgramInfo &info, const std::string &folder,
              const FileNames &names)
      : info(info), length(TextInputs(info, "'" + folder + "'").length),
        places(std::size_t(length)) {
    std::iota(places.begin(), places.end(), 0);
    // Files do not move once Tokens point into them.
    bytes.reserve(names.size());
    arrays.reserve(names.size());
    for (const std::string &name : names) {
      const std::string path = folder + "/" + name;
      if (path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0) {
        arrays.emplace_back(path);
        const NpyFile &file = arrays.back();
        if (file.shape.size() != 1 || !is_integer(file.type))
          throw Error("'" + path + "': expected integers of rank 1, found " +
                      name_of(file.type) + " of shape " +
                      to_string(file.shape));
        texts.emplace_back(file);
      } else {
        bytes.emplace_back(path);
        texts.emplace_back(bytes.back());
      }
      total += samples_of(texts.back());
    }
  }

  int64_t count() const override { return total; }

  void load(int64_t sample, std::size_t input, const Tensor &row) override {
    if (is_positions(info.inputs[input]))
      return load_box(row, places.data(), DType::i64);
    const auto [i, number] = find(sample);
    const int64_t first = number * length + info.inputs[input].target;
    load_box(row, texts[i].data + first * int64_t(size_of(texts[i].type)),
             texts[i].type);
  }

  std::string place(int64_t sample, std::size_t) const override {
    const auto [i, number] = find(sample);
    return sample_place(texts[i].path, number) + ", which begins with token " +
           std::to_string(number * length);
  }

  void expect_unchanged() const override {
    for (const ByteFile &file : bytes)
      file.expect_unchanged();
    for (const NpyFile &file : arrays)
      file.mapped().expect_unchanged();
  }

private:
  std::pair<std::size_t, int64_t> find(int64_t sample) const {
    return find_sample(sample,
                       [this](std::size_t i) { return samples_of(texts[i]); });
  }
  /// Each has a next token for its last one.
  int64_t samples_of(const Tokens &text) const {
    return text.count > 0 ? (text.count - 1) / length : 0;
  }

  const ProgramInfo &info;
  int64_t length;
  std::vector<int64_t> places;
  std::vector<ByteFile> bytes;
  std::vector<NpyFile> arrays;
  std::vector<Tokens> texts;
  int64_t total = 0;
};

} // namespace

std::unique_ptr<Samples> open_text(const ProgramInfo &info,
                                   const std::string &folder,
                                   const FileNames &files) {
  return std::make_unique<TextSamples>(info, folder, files);
}

} // namespace ffrt
