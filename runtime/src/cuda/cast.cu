//===- cast.cu - elements as another type ---------------------------------===//
#include "common/cast.h"

#include "ffrt/cuda/launch.h"

namespace ffrt {

template <class To, class From>
static void cast(const Tensor &x, const Tensor &y) {
  const From *from = x.as<From>();
  To *to = y.as<To>();
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) { to[i] = convert<To>(from[i]); });
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
