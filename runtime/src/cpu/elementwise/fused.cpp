//===- fused.cpp - the walk of fused kernels over their tensors -----------===//
#include "ffrt/cpu/fused_kernel.h"

#include "common/elementwise/cast.h"
#include "common/elementwise/check_elementwise.h"
#include "common/kernels/nest.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

namespace {

constexpr int64_t kGrain = 16384;
/// Elements for which scratch is filled at a time; a few such buffers stay in
/// the first-level cache.
constexpr int64_t kChunk = 512;

} // namespace

/// Data of all tensors.
struct FusedWalk::Pointers {
  const void *x[kMaxFused];
  void *y[kMaxFused];

  Pointers(Tensors in, Tensors out) {
    std::transform(in.begin(), in.end(), x,
                   [](const Tensor &t) { return t.data; });
    std::transform(out.begin(), out.end(), y,
                   [](const Tensor &t) { return t.data; });
  }
  Pointers() = default;
};

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

FusedWalk::FusedWalk(Tensors in, Tensors out, DTypes of_operands,
                     DTypes of_results)
    : operands(int(of_operands.size())), results(int(of_results.size())) {
  check_fused(in, out, of_operands, of_results);
  const auto bytes = [](DType type) { return int64_t(size_of(type)); };
  std::transform(of_operands.begin(), of_operands.end(), operand_size, bytes);
  std::transform(of_results.begin(), of_results.end(), result_size, bytes);
  const Tensor y = as_walked(out.begin()[0]);
  // The results come first, because they decide which dimension is innermost.
  std::array<Index, kMaxFused + 1> strides;
  strides[0] = y.strides();
  for (int k = 0; k < operands; ++k)
    strides[k + 1] = broadcast_strides(as_walked(in.begin()[k]), y.rank);
  Nest<kMaxFused + 1> nest(y.rank, y.shape, strides);

  columns = nest.inner();
  if (nest.rank > 1)
    rows = nest.extent[nest.rank - 2];
  rank = std::max(nest.rank - 2, 0);
  for (int d = 0; d < rank; ++d) {
    extent[d] = nest.extent[d];
    blocks *= extent[d];
  }
  for (int k = 0; k < operands; ++k) {
    Broadcast b;
    b.operand = k;
    b.type = of_operands.begin()[k];
    bool contiguous = true;
    for (int d = 0; d < nest.rank; ++d)
      contiguous &= nest.stride[d][k + 1] == nest.stride[d][0];
    for (int d = 0; d < rank; ++d)
      b.block[d] = nest.stride[d][k + 1];
    b.row = nest.rank > 1 ? nest.stride[nest.rank - 2][k + 1] : 0;
    b.column = nest.stride[nest.rank - 1][k + 1];
    if (!contiguous)
      broadcast[broadcasts++] = b;
  }
  flat = broadcasts == 0;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What lies so many bytes further on.
static const char *moved(const void *data, int64_t bytes) {
  return static_cast<const char *>(data) + bytes;
}
static char *moved(void *data, int64_t bytes) {
  return static_cast<char *>(data) + bytes;
}

/// Packs rows x columns elements.
template <class T>
static void pack(T *to, const T *from, int64_t rows, int64_t row,
                 int64_t columns, int64_t column) {
  for (int64_t r = 0; r < rows; ++r, to += columns, from += row) {
    if (column == 1)
      std::copy_n(from, columns, to);
    else if (column == 0)
      std::fill_n(to, columns, *from);
    else
      for (int64_t c = 0; c < columns; ++c)
        to[c] = from[c * column];
  }
}

/// Rows [begin, end) of all blocks, in pieces of whole rows or, if those are
/// long, of a part of one row.
void FusedWalk::run_rows(const Pointers &at, Loop loop, int64_t begin,
                         int64_t end) const {
  alignas(64) char scratch[kMaxFused][kChunk * sizeof(Real)];
  Pointers piece;
  const int64_t width = std::min(columns, kChunk);
  const int64_t height = kChunk / width;
  while (begin < end) {
    const int64_t first = begin % rows;
    const int64_t last = std::min(rows, first + end - begin);
    // Where the block starts in the operands that are not contiguous.
    const char *start[kMaxFused];
    for (int b = 0; b < broadcasts; ++b) {
      const Broadcast &x = broadcast[b];
      int64_t offset = 0;
      int64_t rest = begin / rows;
      for (int d = rank - 1; d >= 0; --d) {
        offset += rest % extent[d] * x.block[d];
        rest /= extent[d];
      }
      start[b] = moved(at.x[x.operand], offset * operand_size[x.operand]);
    }
    const int64_t before = (begin - first) * columns;
    begin += last - first;
    for (int64_t r = first; r < last; r += height) {
      const int64_t m = std::min(height, last - r);
      for (int64_t c = 0; c < columns; c += width) {
        const int64_t n = std::min(width, columns - c);
        const int64_t offset = before + r * columns + c;
        for (int k = 0; k < operands; ++k)
          piece.x[k] = moved(at.x[k], offset * operand_size[k]);
        for (int k = 0; k < results; ++k)
          piece.y[k] = moved(at.y[k], offset * result_size[k]);
        for (int b = 0; b < broadcasts; ++b) {
          const Broadcast &x = broadcast[b];
          const int64_t size = operand_size[x.operand];
          const char *from = start[b] + (r * x.row + c * x.column) * size;
          const bool side_by_side =
              x.column == 1 && (m == 1 || x.row == columns);
          // The rows of a block, or the parts of a row, that repeat one
          // another are packed once.
          const bool repeats = (r > first && x.row == 0 && width == columns) ||
                               (c > 0 && x.column == 0);
          if (!side_by_side && !repeats)
            with_float(x.type, [&](auto *type) {
              using T = std::remove_pointer_t<decltype(type)>;
              pack(reinterpret_cast<T *>(scratch[b]),
                   reinterpret_cast<const T *>(from), m, x.row, n, x.column);
            });
          piece.x[x.operand] = side_by_side ? from : scratch[b];
        }
        loop(piece.x, piece.y, m * n);
      }
    }
  }
}

void FusedWalk::run(Tensors in, Tensors out, Loop loop) const {
  const int64_t elements = out.begin()->span();
  if (elements == 0)
    return;
  const Pointers at(in, out);
  if (flat) {
    parallel_for(elements, kGrain, [&](int64_t begin, int64_t end) {
      Pointers part;
      for (int k = 0; k < operands; ++k)
        part.x[k] = moved(at.x[k], begin * operand_size[k]);
      for (int k = 0; k < results; ++k)
        part.y[k] = moved(at.y[k], begin * result_size[k]);
      loop(part.x, part.y, end - begin);
    });
    return;
  }
  parallel_for(
      blocks * rows, 1 + kGrain / columns,
      [&](int64_t begin, int64_t end) { run_rows(at, loop, begin, end); });
}

} // namespace ffrt
