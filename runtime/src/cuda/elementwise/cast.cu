//===- cast.cu - elements as another type ---------------------------------===//
#include "common/elementwise/cast.h"

#include "ffrt/cuda/group.h"

namespace ffrt {

template <class To, class From>
static void cast(const Tensor &x, const Tensor &y) {
  const From *from = x.as<From>();
  To *to = y.as<To>();
  cuda::for_spans(
      y.span(), cuda::begins_group(from) && cuda::begins_group(to),
      FFRT_LAMBDA(const cuda::Span &span) {
        const cuda::Group<From> read = cuda::read(from, span);
        cuda::Group<To> written;
        FFRT_UNROLL
        for (int i = 0; i < cuda::kGroup; ++i)
          written[i] = convert<To>(read[i]);
        cuda::write(to, span, written);
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
