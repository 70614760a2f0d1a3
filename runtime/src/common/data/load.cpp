//===- load.cpp - boxes out of row-major arrays ---------------------------===//
#include "common/data/load.h"

#include "common/kernels/check.h"
#include "common/kernels/nest.h"
#include "common/kernels/random.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"

#include <cstring>

namespace ffrt {

namespace {

/// Files may put elements at any address.
template <class From> From read(const unsigned char *p) {
  From value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class From, class To>
void load_as(const Tensor &dst, const unsigned char *data, double scale) {
  const Index from = global_strides(dst);
  int64_t origin = 0;
  for (int d = 0; d < dst.rank; ++d)
    origin += dst.lo[d] * from[d];
  const Nest<2> nest(dst.rank, dst.shape, {dst.strides(), from});
  const Nest<2>::Offsets s = nest.inner_stride();
  To *to = dst.as<To>();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    const unsigned char *p = data + (origin + at[1]) * int64_t(sizeof(From));
    if (std::is_same_v<From, To> && s[0] == 1 && s[1] == 1 && scale == 1.0) {
      std::memcpy(to + at[0], p, std::size_t(n) * sizeof(To));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      From value = read<From>(p + i * s[1] * int64_t(sizeof(From)));
      to[at[0] + i * s[0]] =
          scale == 1.0 ? To(value) : To(double(value) * scale);
    }
  });
}

template <class From>
void load_from(const Tensor &dst, const unsigned char *data, double scale) {
  switch (dst.type) {
  case DType::f32:
    return load_as<From, float>(dst, data, scale);
  case DType::f64:
    return load_as<From, double>(dst, data, scale);
  case DType::i32:
    return load_as<From, int32_t>(dst, data, scale);
  case DType::i64:
    return load_as<From, int64_t>(dst, data, scale);
  case DType::u8:
  case DType::boolean:
    return load_as<From, uint8_t>(dst, data, scale);
  case DType::bf16:
    return load_as<From, BFloat16>(dst, data, scale);
  case DType::f16:
    return load_as<From, Float16>(dst, data, scale);
  }
}

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::bf16 ||
         type == DType::f16;
}

} // namespace

void load_box(const Tensor &dst, const void *data, DType type, double scale) {
  if (dst.elements() == 0)
    return;
  if (is_float(type) && !is_float(dst.type))
    throw Error(std::string("expected integers, found type ") + name_of(type));
  const unsigned char *bytes = static_cast<const unsigned char *>(data);
  switch (type) {
  case DType::f32:
    return load_from<float>(dst, bytes, scale);
  case DType::f64:
    return load_from<double>(dst, bytes, scale);
  case DType::i32:
    return load_from<int32_t>(dst, bytes, scale);
  case DType::i64:
    return load_from<int64_t>(dst, bytes, scale);
  case DType::u8:
  case DType::boolean:
    return load_from<uint8_t>(dst, bytes, scale);
  case DType::bf16:
    return load_from<BFloat16>(dst, bytes, scale);
  case DType::f16:
    return load_from<Float16>(dst, bytes, scale);
  }
}

} // namespace ffrt
