//===- geometry.h - global values and random tiles for kernel tests -------===//
//
// A Value is a global tensor in plain row-major doubles, the form in which
// tests compute references. A Tile is a box of it as kernels see it: f32, bf16,
// f16, i32 or i64, in either order. Split cuts dimensions into random uneven
// blocks.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_TEST_GEOMETRY_H
#define FFRT_TEST_GEOMETRY_H

#include "ffrt/kernel.h"

#include <functional>
#include <new>
#include <random>
#include <vector>

namespace ffrt_test {

using ffrt::DType;
using ffrt::Index;
using ffrt::Order;
using ffrt::Tensor;

using Shape = std::vector<int64_t>;

struct Box {
  Shape lo, size;
  int64_t hi(int d) const { return lo[d] + size[d]; }
  bool empty() const;
  /// The part inside [0, shape).
  Box clipped(const Shape &shape) const;
};

struct Value {
  Shape shape;
  std::vector<double> data;
  Value() = default;
  explicit Value(const Shape &shape, double fill = 0.0);
  int64_t at(const Shape &index) const;
  double &operator()(const Shape &index) { return data[at(index)]; }
  double operator()(const Shape &index) const { return data[at(index)]; }
  Box whole() const { return {Shape(shape.size(), 0), shape}; }
};

/// As `type`, f32, bf16 or f16, has it.
float rounded(float value, DType type);

/// Uniform in [-1, 1), rounded to `type`, f32, bf16 or f16.
Value random_value(const Shape &shape, std::mt19937 &random,
                   DType type = DType::f32);

/// `value` cut to bounds: none, the lower one, or both.
double clamped(double value, const ffrt::Reals &clamp);

/// Calls f(index) for all of a box, in row-major order.
void for_box(const Box &box, const std::function<void(const Shape &)> &f);

/// Aligned as buffers of programs are.
template <class T> struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  T *allocate(std::size_t n) {
    return static_cast<T *>(::operator new(n * sizeof(T), kAlignment));
  }
  void deallocate(T *p, std::size_t) { ::operator delete(p, kAlignment); }
  bool operator==(const Aligned &) const { return true; }
  bool operator!=(const Aligned &) const { return false; }
};

/// A box of a value in a buffer of its own.
struct Tile {
  Tensor tensor;
  std::vector<uint32_t, Aligned<uint32_t>> bytes;
  /// Filled with the box of `value`, or with a pattern that shows unwritten
  /// elements when `value` has no data.
  Tile(const Value &value, const Box &box, Order order = Order::row_major,
       DType type = DType::f32);
  double get(const Shape &global_index) const;
  operator const Tensor &() const { return tensor; }
};

/// Row-major or pitched.
Order random_rows(std::mt19937 &random);

/// An output tile of a global shape, full of NaN.
Tile blank(const Shape &shape, const Box &box, Order order = Order::row_major,
           DType type = DType::f32);

/// An absent operand that exists in the model.
Tensor absent(const Shape &shape, DType type = DType::f32);

/// result(box) += or = tile.
void add_tile(Value &result, const Tile &tile, const Box &box);

/// A kernel `run` with an operand x, of which it sees the box `from`, and a
/// result of a global shape, of which it computes the box `to`: of a narrow
/// operand it makes what it makes of the same numbers in f32, and its narrow
/// results are those in f32, rounded.
void check_narrow(const Value &x, const Box &from, const Shape &result,
                  const Box &to, Order order,
                  const std::function<void(const Tile &x, const Tile &y)> &run);
/// `found`, f32, bf16 or f16, has the f32 of `whole`, rounded.
void expect_rounded(const Tile &found, const Tile &whole, const Box &box);

/// |found - expected| <= tolerance * max(1, |expected|) everywhere.
void expect_close(const Value &found, const Value &expected,
                  double tolerance = 2e-5);

/// Cuts extent `n` into 1 to `most` blocks of random sizes: their borders.
Shape cut(int64_t n, int most, std::mt19937 &random);

/// Calls f for every box of a random split; dimensions in `keep` stay whole.
void for_split(const Shape &shape, int most, std::mt19937 &random,
               const std::function<void(const Box &)> &f,
               const std::vector<int> &keep = {});

/// Seed of the process's random tests: FFRT_TEST_SEED or 1. Printed on failure.
unsigned seed();

/// Number of times operator new was called in this process.
int64_t allocations();

} // namespace ffrt_test

#endif // FFRT_TEST_GEOMETRY_H
