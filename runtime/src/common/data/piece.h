//===- piece.h - what a rank has of a value, in the host's memory -*- C++
//-*-===//
#ifndef FFRT_COMMON_PIECE_H
#define FFRT_COMMON_PIECE_H

#include "ffrt/tensor.h"

#include <memory>

namespace ffrt {

/// A box of a value in the host's memory, row-major; bf16 and f16 are f32.
struct Piece {
  Tensor tensor;
  std::shared_ptr<std::byte[]> bytes;
};

/// A copy of a tensor on the device.
Piece keep_piece(const Tensor &on_device);

bool same_box(const Tensor &a, const Tensor &b);

std::shared_ptr<std::byte[]> host_bytes(std::size_t bytes);

} // namespace ffrt

#endif // FFRT_COMMON_PIECE_H
