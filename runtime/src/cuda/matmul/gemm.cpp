//===- gemm.cpp - products of matrices in a library -----------------------===//
#include "cuda/matmul/gemm.h"

#include "common/kernels/check.h"

#include <utility>

namespace ffrt::cuda {

std::string text_of(const GemmShape &s) {
  auto number = [](auto value) { return std::to_string(value); };
  std::string text =
      "product " + number(s.m) + "x" + number(s.n) + "x" + number(s.k) + " " +
      (s.tf32 && s.operand_type == DType::f32 ? "tf32"
                                              : name_of(s.operand_type));
  if (s.result != DType::f32)
    text += std::string(" to ") + name_of(s.result);
  if (s.trans_a)
    text += " a^T";
  if (s.trans_b)
    text += " b^T";
  for (const auto &[name, matrix] :
       {std::pair(" a", s.a()), {" b", s.b()}, {" y", s.y()}})
    if (matrix.pitch != matrix.columns)
      text += name + std::string(" pitch ") + number(matrix.pitch);
  if (s.count > 1)
    text += " batch " + number(s.count) + " at " + number(s.stride_a) + "," +
            number(s.stride_b) + "," + number(s.stride_y);
  if (s.row)
    text += " + row";
  switch (s.addend) {
  case GemmShape::Addend::none:
    break;
  case GemmShape::Addend::matrix:
    text += " + matrix";
    break;
  case GemmShape::Addend::result:
    text += " + result";
    break;
  }
  if (s.relu)
    text += " relu";
  if (s.sums != GemmShape::Sums::none)
    text += s.sums == GemmShape::Sums::a ? ", sums of a" : ", sums of b";
  switch (s.gelu) {
  case GemmShape::Gelu::none:
    break;
  case GemmShape::Gelu::forward:
    text += " gelu";
    break;
  case GemmShape::Gelu::forward_kept:
    text += " gelu, operand kept";
    break;
  case GemmShape::Gelu::backward:
    text += " gelu gradient";
    break;
  }
  return text + " aligned " + number(s.alignment);
}

} // namespace ffrt::cuda
