//===- tensor.h - local view of a global tensor -----------------*- C++ -*-===//
//
// The one data type of kernels and communication: a dense local buffer that
// holds a hyper-rectangle ("box") of a global tensor.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_TENSOR_H
#define FFRT_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ffrt {

constexpr int kMaxRank = 8;

/// Element types. The numbers are written into emitted programs.
enum class DType : int {
  f32 = 0,
  f64 = 1,
  i32 = 2,
  i64 = 3,
  u8 = 4,
  boolean = 5,
  bf16 = 6, ///< BFloat16
  f16 = 7,  ///< Float16
};

/// Bytes of one element.
std::size_t size_of(DType type);

/// Up to kMaxRank integers, one per tensor dimension, outermost logical
/// dimension first. Missing trailing entries are zero.
struct Index {
  int64_t v[kMaxRank] = {};
  Index() = default;
  Index(std::initializer_list<int64_t> values) {
    int i = 0;
    for (int64_t value : values)
      if (i < kMaxRank)
        v[i++] = value;
  }
  int64_t operator[](int i) const { return v[i]; }
  int64_t &operator[](int i) { return v[i]; }
};

/// Order of a buffer's elements in memory.
enum class Order : int {
  row_major = 0,     ///< logical order, last dimension fastest
  channels_last = 1, ///< rank >= 3: dimension 1 is moved to the end (NHWC)
  /// Rank >= 2: row-major, but rows begin at multiples of kPitch elements, so
  /// that those of 16 bits begin at multiples of the 16 bytes that tensor cores
  /// are fed with. What lies between rows has no meaning.
  pitched = 2,
};

/// Elements.
constexpr int64_t kPitch = 8;

/// A local buffer and where it lies in its global tensor.
///
/// `data` is not owned. A tensor of rank 0 has one element. An *absent*
/// operand (a convolution without bias, a concatenation input that this tile
/// does not read) has data == nullptr and elements() == 0.
struct Tensor {
  void *data = nullptr;
  DType type = DType::f32;
  Order order = Order::row_major;
  int rank = 0;
  Index shape;  ///< local extents
  Index lo;     ///< global coordinate of local element 0, per dimension
  Index global; ///< extents of the global tensor
  /// Of a result, f32: the kernel adds its partial values to what is there.
  bool accumulates = false;

  int64_t elements() const {
    if (!data)
      return 0;
    int64_t n = 1;
    for (int d = 0; d < rank; ++d)
      n *= shape[d];
    return n;
  }
  bool is_pitched() const { return order == Order::pitched && rank >= 2; }
  /// Elements from one row to the next, of rank 1 or more.
  int64_t pitch() const {
    const int64_t columns = shape[rank - 1];
    return is_pitched() ? (columns + kPitch - 1) / kPitch * kPitch : columns;
  }
  /// Elements of the memory, with what lies between pitched rows.
  int64_t span() const {
    const int64_t n = elements();
    return n > 0 && is_pitched() ? n / shape[rank - 1] * pitch() : n;
  }
  /// Distance in elements between neighbours along each dimension.
  Index strides() const;
  template <class T> T *as() const { return static_cast<T *>(data); }
};

} // namespace ffrt

#endif // FFRT_TENSOR_H
