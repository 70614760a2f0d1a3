//===- piece.cpp - what a rank has of a value, in the host's memory -------===//
#include "common/data/piece.h"

#include "common/checkpoint/box_rows.h"
#include "common/copy/host_copy.h"
#include "common/device/host_tensor.h"
#include "common/elementwise/cast.h"

#include <cstring>
#include <type_traits>

namespace ffrt {

namespace {

/// Entries past the rank are not part of a box.
Index cut(int rank, const Index &values) {
  Index result;
  for (int d = 0; d < rank; ++d)
    result[d] = values[d];
  return result;
}

/// bf16 and f16 become f32.
void widen(const Tensor &narrow, std::byte *wide) {
  with_float(narrow.type, [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    const T *from = narrow.as<T>();
    for (int64_t i = 0; i < narrow.elements(); ++i) {
      const float value = from[i];
      std::memcpy(wide + std::size_t(i) * sizeof value, &value, sizeof value);
    }
  });
}

} // namespace

bool same_box(const Tensor &a, const Tensor &b) {
  return std::memcmp(&a.lo, &b.lo, sizeof a.lo) == 0 &&
         std::memcmp(&a.shape, &b.shape, sizeof a.shape) == 0;
}

std::shared_ptr<std::byte[]> host_bytes(std::size_t bytes) {
  return std::shared_ptr<std::byte[]>(new std::byte[bytes]);
}

Piece keep_piece(const Tensor &on_device) {
  const HostTensor copy(on_device, HostTensor::Contents::copied);
  const Tensor &t = copy.tensor();
  const std::size_t n = std::size_t(t.elements());
  Piece piece;
  piece.bytes = host_bytes(n * size_of(t.type));
  piece.tensor = box_tensor(t.type, t.rank, cut(t.rank, t.lo),
                            cut(t.rank, t.shape), t.global, piece.bytes.get());
  if (n > 0)
    copy_on_host(piece.tensor, {}, t, {}, t.shape);
  if (is_low_precision(t.type)) {
    const auto wide = host_bytes(n * sizeof(float));
    widen(piece.tensor, wide.get());
    piece.bytes = wide;
    piece.tensor.data = wide.get();
    piece.tensor.type = DType::f32;
  }
  return piece;
}

} // namespace ffrt
