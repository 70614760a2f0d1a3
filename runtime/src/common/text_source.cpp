//===- text_source.cpp - inputs out of text -------------------------------===//
//
// A text is a row of tokens: the bytes of a file, or the integers of a .npy
// file of rank 1. With T positions per sample, sample i has tokens i * T to i *
// T + T - 1 as input, and the token after each as target; what is left at the
// end is not used. Files are read one after the other, and no sample is of two.
// An input called position_ids counts from 0 in every sample.
//
//===----------------------------------------------------------------------===//
#include "common/byte_file.h"
#include "common/check.h"
#include "common/load.h"
#include "common/npy.h"
#include "common/source.h"
#include "ffrt/error.h"

#include <cstring>
#include <numeric>

namespace ffrt {

namespace {

struct Tokens {
  const unsigned char *data;
  DType type;
  int64_t count;

  Tokens(const ByteFile &file)
      : data(file.data()), type(DType::u8), count(int64_t(file.size())) {}
  Tokens(const NpyFile &file)
      : data(file.data()), type(file.type), count(file.shape[0]) {}
};

bool is_positions(const InputInfo &input) {
  return std::strcmp(input.name, "position_ids") == 0;
}

bool is_integer(DType type) { return type != DType::f32 && type != DType::f64; }

class TextSamples final : public Samples {
public:
  TextSamples(const ProgramInfo &info, const std::string &folder,
              const FileNames &names)
      : info(info), length(positions(info, folder)),
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
    std::size_t i = 0;
    for (; sample >= samples_of(texts[i]); ++i)
      sample -= samples_of(texts[i]);
    const int64_t first = sample * length + info.inputs[input].target;
    load_box(row, texts[i].data + first * int64_t(size_of(texts[i].type)),
             texts[i].type);
  }

private:
  /// Each has a next token for its last one.
  int64_t samples_of(const Tokens &text) const {
    return text.count > 0 ? (text.count - 1) / length : 0;
  }

  /// Of every sample; throws Error unless the program reads tokens.
  static int64_t positions(const ProgramInfo &info, const std::string &folder) {
    expect_sample_dimension(info);
    int64_t length = 0;
    int plain = 0;
    for (const InputInfo &input : info.inputs) {
      if (input.rank != 2 || !is_integer(input.type))
        throw Error(name_of(input) +
                    ": expected integers of rank 2, samples and positions, to "
                    "read a text, found " +
                    name_of(input.type) + " of shape " +
                    to_string(input.rank, input.shape));
      if (length != 0 && input.shape[1] != length)
        throw Error(name_of(input) + ": expected " + std::to_string(length) +
                    " positions as the input before, found " +
                    std::to_string(input.shape[1]));
      length = input.shape[1];
      plain += !input.target && !is_positions(input);
    }
    if (plain != 1)
      throw Error("'" + folder +
                  "': expected a model with one input besides the target and "
                  "position_ids to read a text, found " +
                  std::to_string(plain));
    return length;
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
