//===- source.cpp - checks that all sources share -------------------------===//
#include "common/source.h"

#include "common/check.h"
#include "ffrt/error.h"

namespace ffrt {

std::string name_of(const InputInfo &input) {
  return std::string("input '") + input.name + "'";
}

void expect_sample_dimension(const ProgramInfo &info) {
  for (const InputInfo &input : info.inputs)
    if (input.rank < 1 || input.shape[0] != info.batch)
      throw Error(name_of(input) + ": expected the batch of " +
                  std::to_string(info.batch) +
                  " as first dimension to read a data set, found shape " +
                  to_string(input.rank, input.shape));
}

int64_t whole_batches(const ProgramInfo &info, const std::string &folder,
                      int64_t samples) {
  if (samples < info.batch)
    throw Error("'" + folder + "': expected at least " +
                std::to_string(info.batch) + " samples, found " +
                std::to_string(samples));
  return samples / info.batch;
}

void expect_classes(const InputInfo &input, const Tensor &tensor) {
  if (input.classes == 0 || tensor.type != DType::i32)
    return;
  const int32_t *label = tensor.as<int32_t>();
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (label[i] < 0 || label[i] >= input.classes)
      throw Error(name_of(input) + ": expected classes from 0 to " +
                  std::to_string(input.classes - 1) + ", found " +
                  std::to_string(label[i]));
}

} // namespace ffrt
