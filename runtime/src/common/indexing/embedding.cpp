//===- embedding.cpp - operands of looking up rows ------------------------===//
#include "ffrt/embedding.h"

#include "common/indexing/embedding.h"
#include "common/kernels/check.h"
#include "common/optimizer/optimizer.h"
#include "ffrt/error.h"

#include <cmath>

namespace ffrt {

static void check_lookup(const char *kernel, const Tensor &table,
                         const Tensor &indices, const char *looked_name,
                         const Tensor &looked) {
  expect_type(kernel, "table", table, kReal);
  expect_rank(kernel, "table", table, 2);
  expect_row_major(kernel, "table", table);
  expect(kernel, indices.type == DType::i32 || indices.type == DType::i64,
         std::string("indices: expected i32 or i64, found ") +
             name_of(indices.type));
  expect_row_major(kernel, "indices", indices);
  expect_type(kernel, looked_name, looked, kReal);
  expect_rank(kernel, looked_name, looked, indices.rank + 1);
  expect_row_major(kernel, looked_name, looked);
  Tensor like = indices;
  like.rank = looked.rank;
  like.shape[indices.rank] = table.shape[1];
  expect_same_shape(kernel, looked_name, looked, like);
}

void check_embedding_backward(const char *kernel, Tensors in, Tensors out) {
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  check_lookup(kernel, out.begin()[0], in.begin()[0], "dy", in.begin()[1]);
}

void check_row_update(const char *kernel, Tensors in, Tensors out,
                      std::size_t slots) {
  expect_count(kernel, "operands", in.size(), 4 + slots);
  expect_count(kernel, "results", out.size(), 1 + slots);
  const Tensor &w = in.begin()[0];
  check_lookup(kernel, w, in.begin()[1], "dy", in.begin()[2]);
  check_update_scale(kernel, in.begin()[3]);
  expect(kernel, out.begin()[0].data == w.data,
         "expected the result in place of w, found another buffer");
  for (std::size_t i = 0; i < slots; ++i) {
    const Tensor &slot = in.begin()[4 + i];
    expect_type(kernel, "slot", slot, kReal);
    expect_same_shape(kernel, "slot", slot, w);
    expect_row_major(kernel, "slot", slot);
    expect(kernel, out.begin()[1 + i].data == slot.data,
           "expected the result in place of its slot, found another buffer");
  }
}

Real share_of(const char *kernel, const Context &cx, const Tensor &table) {
  const UpdateRates rates = cx.rates_of(table.data);
  if (rates.weight_decay != 0)
    throw Error(std::string(kernel) +
                ": expected weight decay 0, which leaves the rows alone that "
                "were not looked up, found " +
                std::to_string(rates.weight_decay) +
                " (--group 'TABLE: wd=0' sets it apart; ffc "
                "--table-gradients=dense updates all)");
  // An element of a gradient is a sum over rows.
  if (std::isfinite(cx.clip_value))
    throw Error(
        std::string(kernel) +
        ": expected gradients that are not clipped, found --clip-value " +
        std::to_string(cx.clip_value) +
        " (ffc --table-gradients=dense updates all)");
  return Real(rates.share);
}

EmbeddingForward::EmbeddingForward(Context &, Tensors in, Tensors out) {
  const char *kernel = "embedding forward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  check_lookup(kernel, in.begin()[0], in.begin()[1], "y", out.begin()[0]);
}

} // namespace ffrt
