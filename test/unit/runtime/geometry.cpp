//===- geometry.cpp - global values and random tiles for kernel tests -----===//
#include "geometry.h"

#include "common/device/target.h"

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <new>

static std::atomic<int64_t> news{0};

void *operator new(std::size_t size) {
  ++news;
  if (void *p = std::malloc(size ? size : 1))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace ffrt_test {

#ifdef FFRT_CUDA
// Emulated launches allocate.
int64_t allocations() { return 0; }
#else
int64_t allocations() { return news; }
#endif

unsigned seed() {
  const char *text = std::getenv("FFRT_TEST_SEED");
  return text ? unsigned(std::atoi(text)) : 1u;
}

bool Box::empty() const {
  return std::any_of(size.begin(), size.end(),
                     [](int64_t n) { return n <= 0; });
}

Box Box::clipped(const Shape &shape) const {
  Box result = *this;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    result.lo[d] = std::max<int64_t>(0, lo[d]);
    result.size[d] =
        std::max<int64_t>(0, std::min(shape[d], hi(int(d))) - result.lo[d]);
  }
  return result;
}

Value::Value(const Shape &shape, double fill) : shape(shape) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  data.assign(std::size_t(n), fill);
}

int64_t Value::at(const Shape &index) const {
  int64_t offset = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + index[d];
  return offset;
}

float rounded(float value, DType type) {
  return type == DType::bf16  ? float(ffrt::BFloat16(value))
         : type == DType::f16 ? float(ffrt::Float16(value))
                              : value;
}

Value random_value(const Shape &shape, std::mt19937 &random, DType type) {
  Value value(shape);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (double &x : value.data)
    x = rounded(uniform(random), type);
  return value;
}

double clamped(double value, const ffrt::Reals &clamp) {
  if (clamp.size() > 0)
    value = std::max(value, clamp[0]);
  if (clamp.size() > 1)
    value = std::min(value, clamp[1]);
  return value;
}

void for_box(const Box &box, const std::function<void(const Shape &)> &f) {
  if (box.empty())
    return;
  Shape index = box.lo;
  for (;;) {
    f(index);
    int d = int(index.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < box.hi(d))
        break;
      index[d] = box.lo[d];
    }
    if (d < 0)
      return;
  }
}

Tile::Tile(const Value &value, const Box &box, Order order, DType type) {
  tensor.type = type;
  tensor.order = order;
  tensor.rank = int(value.shape.size());
  int64_t n = 1;
  for (int d = 0; d < tensor.rank; ++d) {
    tensor.shape[d] = box.size[d];
    tensor.lo[d] = box.lo[d];
    tensor.global[d] = value.shape[d];
    n *= d == tensor.rank - 1 ? tensor.pitch() : box.size[d];
  }
  bytes.assign(std::size_t(n) * (type == DType::i64 ? 2 : 1), 0x7fc00000u);
  if (n > 0)
    tensor.data = bytes.data();
  if (value.data.empty())
    return;
  const Index strides = tensor.strides();
  for_box(box, [&](const Shape &index) {
    int64_t offset = 0;
    for (int d = 0; d < tensor.rank; ++d)
      offset += (index[d] - box.lo[d]) * strides[d];
    if (type == DType::f32)
      tensor.as<float>()[offset] = float(value(index));
    else if (type == DType::bf16)
      tensor.as<ffrt::BFloat16>()[offset] = ffrt::BFloat16(float(value(index)));
    else if (type == DType::f16)
      tensor.as<ffrt::Float16>()[offset] = ffrt::Float16(float(value(index)));
    else if (type == DType::i64)
      tensor.as<int64_t>()[offset] = int64_t(value(index));
    else
      tensor.as<int32_t>()[offset] = int32_t(value(index));
  });
}

double Tile::get(const Shape &index) const {
  // Kernels on GPUs may not have started yet.
  ffrt::finish_target();
  const Index strides = tensor.strides();
  int64_t offset = 0;
  for (int d = 0; d < tensor.rank; ++d)
    offset += (index[d] - tensor.lo[d]) * strides[d];
  if (tensor.type == DType::bf16)
    return tensor.as<ffrt::BFloat16>()[offset];
  if (tensor.type == DType::f16)
    return tensor.as<ffrt::Float16>()[offset];
  return tensor.type == DType::f32   ? double(tensor.as<float>()[offset])
         : tensor.type == DType::i64 ? double(tensor.as<int64_t>()[offset])
                                     : double(tensor.as<int32_t>()[offset]);
}

Order random_rows(std::mt19937 &random) {
  return random() % 2 ? Order::pitched : Order::row_major;
}

Tile blank(const Shape &shape, const Box &box, Order order, DType type) {
  Value no_data;
  no_data.shape = shape;
  return Tile(no_data, box, order, type);
}

Tensor absent(const Shape &shape, DType type) {
  Tensor t;
  t.type = type;
  t.rank = int(shape.size());
  for (int d = 0; d < t.rank; ++d)
    t.global[d] = shape[d];
  return t;
}

void add_tile(Value &result, const Tile &tile, const Box &box) {
  for_box(box, [&](const Shape &index) { result(index) += tile.get(index); });
}

/// The numbers of a tile, the others being 0.
static Value numbers_of(const Tile &tile, const Box &box, const Shape &shape) {
  Value numbers(shape);
  for_box(box, [&](const Shape &i) { numbers(i) = tile.get(i); });
  return numbers;
}

void check_narrow(
    const Value &x, const Box &from, const Shape &result, const Box &to,
    Order order, const std::function<void(const Tile &x, const Tile &y)> &run) {
  for (DType type : {DType::bf16, DType::f16}) {
    const auto compute = [&](const Tile &operand, DType type_of_result) {
      Tile y = blank(result, to, order, type_of_result);
      run(operand, y);
      ffrt::finish_target();
      return y;
    };
    const auto rounded = [&](const Tile &y) {
      return Tile(numbers_of(y, to, result), to, order, type);
    };
    const Tile wide(x, from, order), narrow(x, from, order, type),
        widened(numbers_of(narrow, from, x.shape), from, order);
    EXPECT_EQ(compute(wide, type).bytes,
              rounded(compute(wide, DType::f32)).bytes);
    const Tile y = compute(widened, DType::f32);
    EXPECT_EQ(compute(narrow, DType::f32).bytes, y.bytes);
    EXPECT_EQ(compute(narrow, type).bytes, rounded(y).bytes);
  }
}

void expect_rounded(const Tile &found, const Tile &whole, const Box &box) {
  for_box(box, [&](const Shape &index) {
    ASSERT_EQ(found.get(index),
              double(rounded(float(whole.get(index)), found.tensor.type)))
        << "element " << ::testing::PrintToString(index) << " (seed " << seed()
        << ")";
  });
}

void expect_close(const Value &found, const Value &expected, double tolerance) {
  ASSERT_EQ(found.shape, expected.shape);
  for (std::size_t i = 0; i < found.data.size(); ++i)
    ASSERT_TRUE(std::abs(found.data[i] - expected.data[i]) <=
                tolerance * std::max(1.0, std::abs(expected.data[i])))
        << "element " << i << ": expected " << expected.data[i] << ", found "
        << found.data[i] << " (seed " << seed() << ")";
}

Shape cut(int64_t n, int most, std::mt19937 &random) {
  Shape borders = {0, n};
  int extra = int(random() % unsigned(most));
  for (int i = 0; i < extra && n > 1; ++i)
    borders.push_back(1 + int64_t(random() % unsigned(n - 1)));
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  return borders;
}

void for_split(const Shape &shape, int most, std::mt19937 &random,
               const std::function<void(const Box &)> &f,
               const std::vector<int> &keep) {
  std::vector<Shape> borders;
  Shape counts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    bool whole = std::count(keep.begin(), keep.end(), int(d)) > 0;
    borders.push_back(cut(shape[d], whole ? 1 : most, random));
    counts.push_back(int64_t(borders.back().size()) - 1);
  }
  for_box({Shape(shape.size(), 0), counts}, [&](const Shape &block) {
    Box box;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      box.lo.push_back(borders[d][block[d]]);
      box.size.push_back(borders[d][block[d] + 1] - borders[d][block[d]]);
    }
    f(box);
  });
}

} // namespace ffrt_test
