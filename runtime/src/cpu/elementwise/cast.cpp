//===- cast.cpp - elements as another type --------------------------------===//
#include "common/elementwise/cast.h"

#include "ffrt/parallel.h"

namespace ffrt {

template <class To, class From>
static void cast(const Tensor &x, const Tensor &y) {
  const From *from = x.as<From>();
  To *to = y.as<To>();
  parallel_for(y.span(), 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i)
      to[i] = convert<To>(from[i]);
  });
}

void cast_elements(const Tensor &x, const Tensor &y) {
  with_type(x.type, [&](auto *from) {
    with_type(y.type, [&](auto *to) {
      cast<std::remove_pointer_t<decltype(to)>,
           std::remove_pointer_t<decltype(from)>>(x, y);
    });
  });
}

} // namespace ffrt
