//===- refusals.h - what kernels say to operands ----------------*- C++ -*-===//
#ifndef FFRT_TEST_REFUSALS_H
#define FFRT_TEST_REFUSALS_H

#include "ffrt/context.h"
#include "ffrt/error.h"
#include "ffrt/kernel.h"

#include <functional>
#include <string>

namespace ffrt_test {

/// A tensor that is all of its value. It has data, which mean nothing.
inline ffrt::Tensor tensor(std::initializer_list<int64_t> shape,
                           ffrt::DType type = ffrt::DType::f32,
                           ffrt::Order order = ffrt::Order::row_major) {
  static float storage[4096];
  ffrt::Tensor t;
  t.data = storage;
  t.type = type;
  t.order = order;
  t.rank = int(shape.size());
  t.shape = t.global = ffrt::Index(shape);
  return t;
}

/// The message of a kernel that `f` makes, or "no error".
inline std::string error_of(const std::function<void(ffrt::Context &)> &f) {
  ffrt::Context cx;
  try {
    f(cx);
  } catch (const ffrt::Error &e) {
    return e.what();
  }
  return "no error";
}

} // namespace ffrt_test

#endif // FFRT_TEST_REFUSALS_H
