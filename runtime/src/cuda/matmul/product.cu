//===- product.cu - a product, of padded copies if they are faster --------===//
#include "cuda/matmul/product.h"

#include "cuda/device/scratch.h"
#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ffrt::cuda {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t kBytes = 16; ///< that rows begin at multiples of

/// Neighbours that are written at once.
template <class T> struct alignas(kBytes) Chunk {
  static constexpr int kCount = kBytes / int(sizeof(T));
  T of[kCount];
};

/// Blocks have a row at a time.
template <class T>
__global__ void pad_kernel(PaddedMatrix m, const T *from, Chunk<T> *to) {
  const int64_t chunks = m.padded_pitch / Chunk<T>::kCount;
  for (int64_t row = blockIdx.x; row < m.padded_rows; row += gridDim.x)
    for (int64_t c = threadIdx.x; c < chunks; c += blockDim.x) {
      Chunk<T> chunk;
      FFRT_UNROLL
      for (int i = 0; i < Chunk<T>::kCount; ++i) {
        const int64_t column = c * Chunk<T>::kCount + i;
        chunk.of[i] = row < m.rows && column < m.columns
                          ? from[row * m.pitch + column]
                          : T(0);
      }
      to[row * chunks + c] = chunk;
    }
}

/// Elements `first` to `first` + kCount - 1 of two neighbouring chunks, as
/// words: shifts by constants, since registers have no index.
template <class T>
__device__ Chunk<T> shifted(const Chunk<T> &low, const Chunk<T> &high,
                            int first) {
  constexpr int kWords = kBytes / 4;
  uint32_t words[2 * kWords];
  std::memcpy(words, &low, kBytes);
  std::memcpy(words + kWords, &high, kBytes);
  const int bytes = first * int(sizeof(T)), whole = bytes / 4;
  FFRT_UNROLL
  for (int by = kWords / 2; by > 0; by /= 2) {
    FFRT_UNROLL
    for (int i = 0; i + by < 2 * kWords; ++i)
      words[i] = whole & by ? words[i + by] : words[i];
  }
  FFRT_UNROLL
  for (int i = 0; i < kWords; ++i)
    words[i] = bytes % 4 ? words[i] >> 16 | words[i + 1] << 16 : words[i];
  Chunk<T> result;
  std::memcpy(&result, words, kBytes);
  return result;
}

/// Threads have chunks of what is written, whose rows begin anywhere.
template <class T>
__global__ void unpad_kernel(PaddedMatrix m, const Chunk<T> *from, T *to,
                             bool aligned) {
  constexpr int kCount = Chunk<T>::kCount;
  const int64_t n = m.rows * m.columns, apart = m.padded_pitch / kCount,
                step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
       i * kCount < n; i += step) {
    const int64_t row = i * kCount / m.columns,
                  column = i * kCount - row * m.columns;
    const Chunk<T> *const part = from + row * apart + column / kCount;
    if (aligned && column + kCount <= m.columns) {
      const Chunk<T> low = part[0],
                     high = column % kCount ? part[1] : Chunk<T>();
      reinterpret_cast<Chunk<T> *>(to)[i] =
          shifted(low, high, int(column % kCount));
      continue;
    }
    for (int64_t k = i * kCount; k < n && k < (i + 1) * kCount; ++k) {
      const int64_t r = k / m.columns, c = k - r * m.columns;
      to[k] = from[r * apart + c / kCount].of[c % kCount];
    }
  }
}

/// f(a number of `bytes`, whose bits matter).
template <class F> void with_bits(std::size_t bytes, F f) {
  if (bytes == sizeof(uint16_t))
    f(uint16_t());
  else
    f(uint32_t());
}

/// Whole warps, for rows of so many items.
unsigned threads_for(int64_t items) {
  return unsigned(std::min<int64_t>((items + 31) / 32 * 32, kThreads));
}

} // namespace

const void *PaddedMatrix::read(const void *given, char *scratch) const {
  if (!is_padded() || !given)
    return given;
  with_bits(element, [&](auto bits) {
    using T = decltype(bits);
    const unsigned threads = threads_for(padded_pitch / Chunk<T>::kCount);
    launch(blocks_for(padded_rows, 1, int(threads)), threads, pad_kernel<T>,
           *this, static_cast<const T *>(given),
           reinterpret_cast<Chunk<T> *>(scratch + at));
  });
  return scratch + at;
}

void PaddedMatrix::write(void *given, char *scratch) const {
  if (!is_padded())
    return;
  with_bits(element, [&](auto bits) {
    using T = decltype(bits);
    const int64_t chunks =
        (rows * columns + Chunk<T>::kCount - 1) / Chunk<T>::kCount;
    launch(blocks_for(chunks), kThreads, unpad_kernel<T>, *this,
           reinterpret_cast<const Chunk<T> *>(scratch + at),
           static_cast<T *>(given),
           reinterpret_cast<std::uintptr_t>(given) % kBytes == 0);
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Copies that take more are not made.
static constexpr std::size_t kMostBytes = std::size_t(2) << 30;

/// The product of copies; none if rows begin at multiples of kBytes already,
/// where extents are so small that much is added to them, or where nothing is
/// gained. Extents are rounded up, but where a matrix is pitched, in which
/// there is no room for zeros: then what is copied is pitched, too.
static std::optional<GemmShape> padded_shape(const GemmShape &s) {
  if (s.count != 1 || (s.operand_type == DType::f32 && !s.tf32))
    return std::nullopt;
  const int64_t step = kBytes / int64_t(size_of(s.operand_type));
  const auto up = [&](int64_t extent) {
    return (extent + step - 1) / step * step;
  };
  const auto is_pitched = [](const GemmShape::Stored &matrix) {
    return matrix.pitch != matrix.columns;
  };
  GemmShape padded = s;
  // Dimensions in which some matrix is contiguous.
  if (!is_pitched(s.a()) && !is_pitched(s.b()) && !is_pitched(s.y())) {
    if (!s.trans_a || s.trans_b)
      padded.k = up(s.k);
    padded.n = up(s.n);
    if (s.trans_a)
      padded.m = up(s.m);
  }
  padded.pitch_a = up(padded.a().pitch);
  padded.pitch_b = up(padded.b().pitch);
  padded.pitch_y = up(padded.y().pitch);
  const bool pads_y =
      padded.m != s.m || padded.n != s.n || padded.pitch_y != s.y().pitch;
  const bool pads = pads_y || padded.k != s.k ||
                    padded.pitch_a != s.a().pitch ||
                    padded.pitch_b != s.b().pitch;
  const auto grows_little = [&](int64_t from) {
    constexpr int64_t kShare = 8;
    return (up(from) - from) * kShare <= from;
  };
  // What is added lies as y does.
  if (!pads || (pads_y && s.addend != GemmShape::Addend::none) ||
      !grows_little(s.a().columns) || !grows_little(s.b().columns) ||
      !grows_little(s.n))
    return std::nullopt;
  return padded;
}

Product::Padded::Padded(const GemmShape &s, const GemmShape &p)
    : a(s.a(), p.a(), size_of(s.operand_type)),
      b(s.b(), p.b(), size_of(s.operand_type)),
      row({1, s.n, s.n}, {1, p.n, p.n}, size_of(s.result)),
      y(s.y(), p.y(), size_of(s.result)), product(p) {
  for (PaddedMatrix *matrix : {&a, &b, &row, &y})
    if (matrix->is_padded()) {
      matrix->at = bytes;
      bytes += aligned(matrix->bytes());
    }
  if (bytes > kMostBytes)
    throw Error("product: expected copies of up to " +
                std::to_string(kMostBytes) + " bytes, found " +
                std::to_string(bytes));
}

void Product::Padded::operator()(const void *given_a, const void *given_b,
                                 const void *given_row, const float *matrix,
                                 void *given_y, char *scratch) const {
  product(a.read(given_a, scratch), b.read(given_b, scratch),
          row.read(given_row, scratch), matrix, y.place(given_y, scratch));
  y.write(given_y, scratch);
}

class Product::Choice : public Candidates {
public:
  Choice(Product &product, const GemmShape &shape, const GemmShape &padded)
      : product(product), shape(shape), padded(padded) {}

  std::vector<std::string> names() const override {
    return {"as it is", "padded"};
  }
  void take(std::size_t i) override {
    product.plain.reset();
    product.padded.reset();
    if (i == 0)
      product.plain.emplace(shape);
    else
      product.padded.emplace(shape, padded);
  }
  double seconds() override {
    if (!a) {
      const std::size_t y_bytes =
          std::size_t(shape.y().span()) * size_of(shape.result);
      a = operands.add(std::size_t(shape.a().span()) *
                       size_of(shape.operand_type));
      b = operands.add(std::size_t(shape.b().span()) *
                       size_of(shape.operand_type));
      c = operands.add(y_bytes);
      y = operands.add(y_bytes);
    }
    const float *const matrix = static_cast<const float *>(c);
    if (product.plain)
      return seconds_of([&] { (*product.plain)(a, b, c, matrix, y); });
    TimedOperands more;
    char *const scratch = static_cast<char *>(more.add(product.padded->bytes));
    return seconds_of([&] { (*product.padded)(a, b, c, matrix, y, scratch); });
  }

private:
  Product &product;
  const GemmShape &shape, &padded;
  TimedOperands operands;
  void *a = nullptr, *b = nullptr, *c = nullptr, *y = nullptr;
};

Product::Product(const GemmShape &shape, std::size_t scratch_at)
    : scratch_at(scratch_at) {
  const auto more = padded_shape(shape);
  if (!more) {
    plain.emplace(shape);
    return;
  }
  {
    Choice choice(*this, shape, *more);
    tuner().choose(Gemm::version() + "; algorithm of " + text_of(shape),
                   choice);
  }
  // Without what was measured with.
  if (padded)
    device().reserve(scratch_at + padded->bytes);
}

void Product::operator()(const void *a, const void *b, const void *row,
                         const float *matrix, void *y) const {
  if (padded)
    (*padded)(a, b, row, matrix, y, device().scratch<char>() + scratch_at);
  else
    (*plain)(a, b, row, matrix, y);
}

} // namespace ffrt::cuda
