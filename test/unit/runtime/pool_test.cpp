//===- pool_test.cpp - pooling against plain loops, whole and tiled -------===//
#include "common/device/target.h"
#include "ffrt/pool.h"
#include "geometry.h"

#include <gtest/gtest.h>
#include <limits>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Problem {
  Shape x;
  Ints kernel, dilations, pads, strides;
  bool ceil;
  int spatial() const { return int(kernel.size()); }
  Shape y() const {
    Shape s = {x[0], x[1]};
    for (int i = 0; i < spatial(); ++i) {
      int64_t free = x[2 + i] + pads[i] + pads[i + spatial()] -
                     (kernel[i] - 1) * dilations[i] - 1;
      s.push_back(free / strides[i] + 1 + (ceil && free % strides[i] ? 1 : 0));
    }
    return s;
  }
  int64_t row(int axis, int64_t o, int64_t k) const {
    return o * strides[axis] - pads[axis] + k * dilations[axis];
  }
  /// Calls f(position, inside) for the window of output index o, where inside
  /// tells input positions from padding; ceil-mode excess is left out.
  template <class F> void window(const Shape &o, F f) const {
    for_box({Shape(kernel.size(), 0), kernel}, [&](const Shape &k) {
      Shape at = {o[0], o[1]};
      bool inside = true;
      for (int d = 0; d < spatial(); ++d) {
        at.push_back(row(d, o[2 + d], k[d]));
        if (at[2 + d] >= x[2 + d] + pads[d + spatial()])
          return;
        inside &= at[2 + d] >= 0 && at[2 + d] < x[2 + d];
      }
      f(at, inside);
    });
  }
  /// The number of an input position in its image.
  double number(const Shape &i) const {
    int64_t number = 0;
    for (int d = 0; d < spatial(); ++d)
      number = number * x[2 + d] + i[2 + d];
    return double(number);
  }
  /// Input positions that output positions of `box` read.
  Box reads(const Box &box) const {
    Box r = box;
    for (int i = 0; i < spatial(); ++i) {
      r.lo[2 + i] = row(i, box.lo[2 + i], 0);
      r.size[2 + i] =
          row(i, box.hi(2 + i) - 1, kernel[i] - 1) - r.lo[2 + i] + 1;
    }
    return r.clipped(x);
  }
  /// Output positions whose windows may meet input positions of `box`.
  Box readers(const Box &box) const {
    Box r = box;
    for (int i = 0; i < spatial(); ++i) {
      int64_t reach = (kernel[i] - 1) * dilations[i];
      int64_t first = box.lo[2 + i] + pads[i] - reach;
      first = first <= 0 ? 0 : (first + strides[i] - 1) / strides[i];
      int64_t last = (box.hi(2 + i) - 1 + pads[i]) / strides[i];
      r.lo[2 + i] = first;
      r.size[2 + i] = last - first + 1;
    }
    return r.clipped(y());
  }
};

const std::vector<Problem> &problems() {
  static const std::vector<Problem> list = {
      {{2, 5, 8, 9}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {2, 2}, false},
      {{2, 20, 13, 11}, {3, 3}, {1, 1}, {1, 1, 1, 1}, {2, 2}, false},
      {{2, 17, 14, 14}, {3, 3}, {1, 1}, {0, 0, 0, 0}, {2, 2}, true},
      {{1, 3, 12, 10}, {3, 2}, {1, 1}, {1, 0, 0, 1}, {1, 3}, true},
      {{2, 4, 7, 7}, {7, 7}, {1, 1}, {0, 0, 0, 0}, {1, 1}, false},
      {{1, 3, 12, 13}, {2, 3}, {3, 2}, {1, 2, 1, 0}, {2, 1}, false},
      {{2, 100, 6, 5}, {3, 3}, {1, 1}, {1, 1, 1, 1}, {2, 1}, false},
      {{2, 7, 15}, {4}, {2}, {1, 2}, {3}, true},
      {{3, 70, 9}, {3}, {1}, {1, 1}, {1}, false},
      {{2, 3, 5, 6, 7},
       {2, 3, 2},
       {1, 1, 2},
       {1, 1, 0, 0, 1, 1},
       {2, 1, 2},
       true},
      {{1, 21, 4, 5, 4},
       {4, 5, 4},
       {1, 1, 1},
       {0, 0, 0, 0, 0, 0},
       {1, 1, 1},
       false},
  };
  return list;
}

class Pool : public testing::TestWithParam<int> {
protected:
  void check_max(const Problem &p, Order order, int most,
                 std::mt19937 &random) {
    Value x = random_value(p.x, random);
    // Equal values make the first maximum matter.
    for (double &v : x.data)
      v = std::round(v * 4.0) / 4.0;
    const Value dy = random_value(p.y(), random);
    Value y(p.y()), index(p.y()), dx(p.x), y2(p.y()), index2(p.y()), dx2(p.x);
    for_box(y.whole(), [&](const Shape &o) {
      double best = -std::numeric_limits<double>::infinity();
      Shape where;
      p.window(o, [&](const Shape &i, bool inside) {
        if (inside && x(i) > best) {
          best = x(i);
          where = i;
        }
      });
      y(o) = best;
      index(o) = p.number(where);
      dx(where) += dy(o);
    });
    Context cx;
    for_split(p.y(), most, random, [&](const Box &box) {
      const Tile tx(x, p.reads(box), order);
      const Tile ty = blank(p.y(), box, order);
      const Tile ti = blank(p.y(), box, order, DType::i32);
      MaxPoolForward k{cx,       {tx},   {ty, ti}, p.dilations,
                       p.kernel, p.pads, p.strides};
      int64_t before = allocations();
      k({tx}, {ty, ti});
      EXPECT_EQ(allocations(), before);
      add_tile(y2, ty, box);
      add_tile(index2, ti, box);
      const Tile only = blank(p.y(), box, order);
      const Tensor none = absent(p.y());
      MaxPoolForward without{cx,       {tx},   {only, none}, p.dilations,
                             p.kernel, p.pads, p.strides};
      without({tx}, {only, none});
      EXPECT_EQ(only.bytes, ty.bytes);
    });
    expect_close(y2, y, 0.0);
    expect_close(index2, index, 0.0);
    for_split(p.x, most, random, [&](const Box &box) {
      const Tile ty(dy, p.readers(box), order);
      const Tile ti(index, p.readers(box), order, DType::i32);
      const Tile tx = blank(p.x, box, order);
      MaxPoolBackward k{cx,       {ty, ti}, {tx},     p.dilations,
                        p.kernel, p.pads,   p.strides};
      int64_t before = allocations();
      k({ty, ti}, {tx});
      EXPECT_EQ(allocations(), before);
      add_tile(dx2, tx, box);
    });
    expect_close(dx2, dx);
  }

  void check_average(const Problem &p, bool include, Order order, int most,
                     std::mt19937 &random) {
    const Value x = random_value(p.x, random);
    const Value dy = random_value(p.y(), random);
    Value y(p.y()), dx(p.x), y2(p.y()), dx2(p.x);
    for_box(y.whole(), [&](const Shape &o) {
      double count = 0.0;
      p.window(o,
               [&](const Shape &, bool inside) { count += inside || include; });
      p.window(o, [&](const Shape &i, bool inside) {
        if (!inside)
          return;
        y(o) += x(i) / count;
        dx(i) += dy(o) / count;
      });
    });
    Context cx;
    for_split(p.y(), most, random, [&](const Box &box) {
      const Tile tx(x, p.reads(box), order);
      const Tile ty = blank(p.y(), box, order);
      AveragePoolForward k{cx,       {tx},   {ty},     int64_t(include),
                           p.kernel, p.pads, p.strides};
      k({tx}, {ty});
      add_tile(y2, ty, box);
    });
    expect_close(y2, y);
    for_split(p.x, most, random, [&](const Box &box) {
      const Tile ty(dy, p.readers(box), order);
      const Tile tx = blank(p.x, box, order);
      AveragePoolBackward k{cx,       {ty},   {tx},     int64_t(include),
                            p.kernel, p.pads, p.strides};
      k({ty}, {tx});
      add_tile(dx2, tx, box);
    });
    expect_close(dx2, dx);
  }

  void check_narrow_max(const Problem &p, Order order, int most,
                        std::mt19937 &random) {
    // Equal values make the first maximum matter; rounded to any type they
    // have the same order, so that the index is the same.
    Value x = random_value(p.x, random);
    for (double &v : x.data)
      v = std::round(v * 4.0) / 3.0;
    const Value dy = random_value(p.y(), random);
    Value index(p.y());
    Context cx;
    for_split(p.y(), most, random, [&](const Box &box) {
      const auto run = [&](const Tile &tx, const Tile &ty, const Tile &ti) {
        MaxPoolForward k{cx,       {tx},   {ty, ti}, p.dilations,
                         p.kernel, p.pads, p.strides};
        k({tx}, {ty, ti});
      };
      const Tile expected = blank(p.y(), box, order, DType::i32);
      run(Tile(x, p.reads(box), order), blank(p.y(), box, order), expected);
      add_tile(index, expected, box);
      check_narrow(x, p.reads(box), p.y(), box, order,
                   [&](const Tile &tx, const Tile &ty) {
                     const Tile ti = blank(p.y(), box, order, DType::i32);
                     run(tx, ty, ti);
                     finish_target();
                     EXPECT_EQ(ti.bytes, expected.bytes);
                   });
    });
    for_split(p.x, most, random, [&](const Box &box) {
      const Tile ti(index, p.readers(box), order, DType::i32);
      check_narrow(dy, p.readers(box), p.x, box, order,
                   [&](const Tile &ty, const Tile &tx) {
                     MaxPoolBackward k{cx,          {ty, ti}, {tx},
                                       p.dilations, p.kernel, p.pads,
                                       p.strides};
                     k({ty, ti}, {tx});
                   });
    });
  }

  void check_narrow_average(const Problem &p, bool include, Order order,
                            int most, std::mt19937 &random) {
    const Value x = random_value(p.x, random), dy = random_value(p.y(), random);
    Context cx;
    for_split(p.y(), most, random, [&](const Box &box) {
      check_narrow(x, p.reads(box), p.y(), box, order,
                   [&](const Tile &tx, const Tile &ty) {
                     AveragePoolForward k{cx,       {tx},   {ty},     include,
                                          p.kernel, p.pads, p.strides};
                     k({tx}, {ty});
                   });
    });
    for_split(p.x, most, random, [&](const Box &box) {
      check_narrow(dy, p.readers(box), p.x, box, order,
                   [&](const Tile &ty, const Tile &tx) {
                     AveragePoolBackward k{cx,       {ty},   {tx},     include,
                                           p.kernel, p.pads, p.strides};
                     k({ty}, {tx});
                   });
    });
  }
};

TEST_P(Pool, Max) {
  for (unsigned round = 0; round < 6; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    check_max(problems()[GetParam()],
              round % 2 ? Order::row_major : Order::channels_last,
              round < 2 ? 1 : 3, random);
  }
}

TEST_P(Pool, Average) {
  Problem p = problems()[GetParam()];
  p.dilations.assign(p.kernel.size(), 1);
  for (unsigned round = 0; round < 8; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    check_average(p, round / 2 % 2,
                  round % 2 ? Order::row_major : Order::channels_last,
                  round < 4 ? 1 : 3, random);
  }
}

TEST_P(Pool, NarrowImages) {
  const Problem &p = problems()[GetParam()];
  Problem close = p;
  close.dilations.assign(p.kernel.size(), 1);
  for (unsigned round = 0; round < 4; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Order order = round % 2 ? Order::row_major : Order::channels_last;
    const int most = round < 2 ? 1 : 3;
    check_narrow_max(p, order, most, random);
    check_narrow_average(close, round % 3 == 0, order, most, random);
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, Pool, testing::Range(0, 11));

} // namespace
