//===- text_inputs.cpp - the inputs of programs that read texts -----------===//
#include "common/data/text_inputs.h"

#include "common/data/source.h"
#include "common/kernels/check.h"
#include "ffrt/error.h"

#include <cstring>

namespace ffrt {

bool is_positions(const InputInfo &input) {
  return std::strcmp(input.name, "position_ids") == 0;
}

bool is_integer(DType type) { return type != DType::f32 && type != DType::f64; }

TextInputs::TextInputs(const ProgramInfo &info, const std::string &what)
    : length(0), tokens(0) {
  expect_sample_dimension(info);
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
    if (input.target || is_positions(input))
      continue;
    tokens = std::size_t(&input - info.inputs.data());
    ++plain;
  }
  if (plain != 1)
    throw Error(what +
                ": expected a model with one input besides the target and "
                "position_ids to read a text, found " +
                std::to_string(plain));
}

} // namespace ffrt
