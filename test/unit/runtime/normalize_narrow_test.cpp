//===- normalize_narrow_test.cpp - normalisations of bf16 and f16 ---------===//
#include "common/device/target.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "normalize_case.h"

#include <array>
#include <utility>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// An operand or a result.
struct Argument {
  const Value *value; ///< null: absent
  bool like;          ///< of x's shape and order: may be narrow
};
constexpr Argument kNone{nullptr, true};

template <std::size_t N> using Arguments = std::array<Argument, N>;

/// Those of x's shape have the type `narrow` where `mask` has a bit.
template <std::size_t N>
std::vector<Tile> tiles_of(const Case &c, const Arguments<N> &arguments,
                           bool results, DType narrow, unsigned &mask) {
  std::vector<Tile> tiles;
  for (const Argument &argument : arguments) {
    DType type = DType::f32;
    if (argument.like) {
      type = mask & 1 ? narrow : type;
      mask >>= 1;
    }
    const Value &value = argument.value ? *argument.value : c.x;
    const Order order = argument.like ? c.order : Order::row_major;
    tiles.push_back(results ? blank(value.shape, value.whole(), order, type)
                            : Tile(value, value.whole(), order, type));
    if (!argument.value)
      tiles.back().tensor.data = nullptr;
  }
  return tiles;
}

template <class Kernel, std::size_t... I, std::size_t... O>
std::vector<Tile> results_of(const Case &c, const Arguments<sizeof...(I)> &in,
                             const Arguments<sizeof...(O)> &out, DType narrow,
                             unsigned mask, std::index_sequence<I...>,
                             std::index_sequence<O...>) {
  const std::vector<Tile> operands = tiles_of(c, in, false, narrow, mask);
  std::vector<Tile> results = tiles_of(c, out, true, narrow, mask);
  call<Kernel>(c, {operands[I]...}, {results[O]...});
  finish_target();
  return results;
}

/// Narrow operands give what they give when widened, bit for bit, and narrow
/// results are the f32 ones, rounded: any of them beside f32 in bf16, all of
/// them in f16, which is converted in other instructions at the same places.
template <class Kernel, std::size_t N, std::size_t M>
void expect_as_widened(const Case &c, DType narrow, const Arguments<N> &in,
                       const Arguments<M> &out) {
  const auto run = [&](unsigned mask) {
    return results_of<Kernel>(c, in, out, narrow, mask,
                              std::make_index_sequence<N>(),
                              std::make_index_sequence<M>());
  };
  unsigned like = 0;
  for (const Argument &argument : in)
    like += argument.like;
  for (const Argument &argument : out)
    like += argument.like;
  const std::vector<Tile> whole = run(0);
  const unsigned all = (1u << like) - 1;
  for (unsigned mask = narrow == DType::f16 ? all : 1; mask <= all; ++mask) {
    const std::vector<Tile> found = run(mask);
    for (std::size_t r = 0; r < M; ++r) {
      const Value *value = out[r].value;
      if (!value)
        continue;
      const bool rounds = found[r].tensor.type == narrow;
      for_box(value->whole(), [&](const Shape &i) {
        const double f32 = whole[r].get(i);
        ASSERT_EQ(found[r].get(i), rounds ? rounded(float(f32), narrow) : f32)
            << "result " << r << ", narrow tensors " << mask;
      });
    }
  }
}

void check(Case c, DType narrow) {
  for (Value *value : {&c.x, &c.dy, &c.addend})
    for (double &v : value->data)
      v = rounded(float(v), narrow);
  const Argument x{&c.x, true}, dy{&c.dy, true},
      addend = c.adds ? Argument{&c.addend, true} : kNone,
      back = c.adds_to_dx() ? Argument{&c.addend, true} : kNone;
  const Argument mean{&c.mean, false}, var{&c.var, false},
      scale{&c.scale, false}, bias{&c.bias, false};
  // Any numbers serve as sums.
  const Argument &first = mean, &second = var, &dscale = scale, &dbias = bias;
  expect_as_widened<NormalizeForward, 4, 3>(
      c, narrow, {{x, scale, bias, addend}}, {{x, mean, var}});
  expect_as_widened<NormalizeSum, 1, 1>(c, narrow, {{x}}, {{first}});
  expect_as_widened<NormalizeSquares, 2, 1>(c, narrow, {{x, first}},
                                            {{second}});
  expect_as_widened<NormalizeApply, 6, 3>(
      c, narrow, {{x, first, second, scale, bias, addend}}, {{x, mean, var}});
  expect_as_widened<NormalizeBackward, 7, 3>(
      c, narrow, {{dy, x, mean, var, scale, bias, back}}, {{x, dscale, dbias}});
  expect_as_widened<NormalizeBackward, 7, 3>(
      c, narrow, {{dy, x, mean, var, scale, bias, kNone}},
      {{kNone, dscale, dbias}});
  expect_as_widened<NormalizeBackwardSums, 6, 4>(
      c, narrow, {{dy, x, mean, var, scale, bias}},
      {{first, second, dscale, dbias}});
  expect_as_widened<NormalizeBackwardData, 9, 1>(
      c, narrow, {{dy, x, mean, var, scale, bias, first, second, back}}, {{x}});
  if (c.groups > 1 || c.kept() != c.params)
    return;
  expect_as_widened<NormalizeChannelSums, 6, 2>(
      c, narrow, {{dy, x, mean, var, scale, bias}}, {{first, second}});
  expect_as_widened<NormalizeChannelData, 9, 3>(
      c, narrow, {{dy, x, mean, var, scale, bias, first, second, back}},
      {{x, dscale, dbias}});
}

void check(const Shape &shape, const Ints &axes, const Ints &params,
           int64_t groups = 1) {
  std::mt19937 random(seed());
  struct Finish {
    Reals clamp;
    bool adds;
  };
  std::vector<Order> orders = {Order::row_major};
  if (shape.size() > 2) // otherwise the two are one
    orders.push_back(Order::channels_last);
  for (Order order : orders)
    for (const auto &[clamp, adds] :
         {Finish{{}, false}, Finish{{0.0}, false}, Finish{{0.0}, true}}) {
      const Case c(shape, axes, params, order, /*offset=*/3.0, random, clamp,
                   groups, adds);
      check(c, DType::bf16);
      check(c, DType::f16);
    }
}

TEST(NormalizeNarrow, Batch) {
  // By columns where channels are last, which a GPU reads in groups of
  // neighbours, one by one and as one row.
  check({5, 24, 6, 9}, {0, 2, 3}, {1});
  check({5, 7, 6, 9}, {0, 2, 3}, {1});
  check({33, 5}, {0}, {1});
  // More columns than are widened at once.
  check({3, 4999}, {0}, {1});
}

TEST(NormalizeNarrow, LayerAndInstance) {
  // Row by row, in groups of neighbours or not, strided, and longer than
  // registers hold.
  check({130, 40}, {1}, {1});
  check({2, 12300}, {1}, {1});
  check({3, 4, 35}, {2}, {2});
  check({3, 4, 5, 6}, {1}, {1});
  check({3, 18, 50}, {2}, {1});
  check({2, 9001}, {1}, {1});
  check({2, 3, 70, 71}, {2, 3}, {1});
}

TEST(NormalizeNarrow, GroupsOfSamples) {
  check({6, 7, 5, 9}, {0, 2, 3}, {1}, 3);
  check({6, 8, 6, 4}, {0, 2, 3}, {1}, 6);
  check({4, 3, 5}, {0, 1, 2}, {1, 2}, 2);
}

/// A tensor of x's shape, or a statistic.
Tile typed(const Value &value, DType type) {
  return Tile(value, value.whole(), Order::row_major, type);
}

template <class F> void expect_error(const char *text, F f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), text);
  }
}

TEST(NormalizeNarrow, RefusesOtherTypes) {
  std::mt19937 random(seed());
  const Shape shape = {3, 4};
  const Case c(shape, {0}, {1}, Order::row_major, 0.0, random);
  const Tile scale(c.scale, c.scale.whole()), bias(c.bias, c.bias.whole()),
      var = typed(c.var, DType::f32);
  auto forward = [&](DType x, DType addend, DType y, DType mean) {
    call<NormalizeForward>(
        c, {typed(c.x, x), scale, bias, typed(c.addend, addend)},
        {typed(c.y, y), typed(c.mean, mean), var});
  };
  auto backward = [&](DType dy, DType x, DType dx) {
    call<NormalizeBackward>(c,
                            {typed(c.dy, dy), typed(c.x, x),
                             typed(c.mean, DType::f32), var, scale, bias,
                             absent(shape)},
                            {typed(c.dx, dx), scale, bias});
  };
  const DType f32 = DType::f32, bf16 = DType::bf16, f16 = DType::f16,
              i32 = DType::i32;
  expect_error("normalize forward: mean: expected type f32, found bf16",
               [&] { forward(f32, f32, f32, bf16); });
  expect_error("normalize forward: operand: expected type f32, bf16 or f16, "
               "found i32",
               [&] { forward(i32, f32, f32, f32); });
  expect_error("normalize forward: addend: expected type f32, bf16 or f16, "
               "found i32",
               [&] { forward(f32, i32, f32, f32); });
  expect_error("normalize forward: y: expected type f32, bf16 or f16, found "
               "i32",
               [&] { forward(f32, f32, i32, f32); });
  expect_error("normalize forward: addend: expected type f32 or bf16, found "
               "f16",
               [&] { forward(bf16, f16, f32, f32); });
  expect_error("normalize forward: y: expected type f32 or f16, found bf16",
               [&] { forward(f32, f16, bf16, f32); });
  expect_error("normalize backward: x: expected type f32 or f16, found bf16",
               [&] { backward(f16, bf16, f32); });
  expect_error("normalize backward: dx: expected type f32 or bf16, found f16",
               [&] { backward(f32, bf16, f16); });
}

} // namespace
