//===- source.cpp - checks that all sources share -------------------------===//
#include "common/data/source.h"

#include "common/kernels/check.h"
#include "ffrt/error.h"

#include <algorithm>

namespace ffrt {

std::string name_of(const InputInfo &input) {
  return std::string("input '") + input.name + "'";
}

std::string sample_place(const std::string &path, int64_t sample) {
  return "'" + path + "', sample " + std::to_string(sample);
}

void expect_sample_dimension(const ProgramInfo &info) {
  for (const InputInfo &input : info.inputs)
    if (input.rank < 1 || input.shape[0] != info.batch)
      throw Error(name_of(input) + ": expected the batch of " +
                  std::to_string(info.batch) +
                  " as first dimension to read a data set, found shape " +
                  to_string(input.rank, input.shape));
}

void expect_images(const ProgramInfo &info, const std::string &folder,
                   const char *format, int64_t values) {
  expect_sample_dimension(info);
  int plain = 0;
  for (const InputInfo &input : info.inputs) {
    int64_t expected = 1;
    for (int d = 1; d < input.rank; ++d)
      expected *= input.shape[d];
    const int64_t found = input.target ? 1 : values;
    if (expected != found)
      throw Error(name_of(input) + ": expected " + std::to_string(expected) +
                  " values per sample, found " + std::to_string(found) +
                  " in the files of '" + folder + "'");
    plain += !input.target;
  }
  if (plain != 1)
    throw Error("'" + folder +
                "': expected a model with one input besides the target to "
                "read " +
                format + " files, found " + std::to_string(plain));
}

bool wants_labels(const ProgramInfo &info) {
  for (const InputInfo &input : info.inputs)
    if (input.target)
      return true;
  return false;
}

namespace {
template <class T>
void expect_below(const InputInfo &input, const Tensor &tensor,
                  const std::function<std::string(int64_t row)> &place) {
  const int64_t row =
      tensor.rank > 0 ? std::max<int64_t>(tensor.strides()[0], 1) : 1;
  const T *value = tensor.as<T>();
  // Indices of rows may count from the end.
  const int64_t least = input.target ? 0 : -input.classes;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (value[i] < least || value[i] >= input.classes)
      throw Error(name_of(input) + ": expected " +
                  (input.target ? "classes" : "indices") + " from " +
                  std::to_string(least) + " to " +
                  std::to_string(input.classes - 1) + ", found " +
                  std::to_string(value[i]) + " in " + place(i / row));
}
} // namespace

void expect_classes(const InputInfo &input, const Tensor &tensor,
                    const std::function<std::string(int64_t row)> &place) {
  if (input.classes == 0)
    return;
  if (tensor.type == DType::i32)
    expect_below<int32_t>(input, tensor, place);
  else if (tensor.type == DType::i64)
    expect_below<int64_t>(input, tensor, place);
}

} // namespace ffrt
