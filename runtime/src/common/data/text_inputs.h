//===- text_inputs.h - the inputs of programs that read texts ---*- C++ -*-===//
#ifndef FFRT_COMMON_TEXT_INPUTS_H
#define FFRT_COMMON_TEXT_INPUTS_H

#include "ffrt/program.h"

#include <string>

namespace ffrt {

/// Of a program whose inputs are integers [samples, positions]: tokens, what
/// follows them if it trains, and possibly position_ids.
struct TextInputs {
  int64_t length;     ///< positions of a sample
  std::size_t tokens; ///< the input with the tokens

  /// Throws Error unless `info` is such a program; `what` names who wants to
  /// know.
  TextInputs(const ProgramInfo &info, const std::string &what);
};

/// True for the input that counts from 0 in every sample.
bool is_positions(const InputInfo &input);

bool is_integer(DType type);

} // namespace ffrt

#endif // FFRT_COMMON_TEXT_INPUTS_H
