//===- SharesTest.cpp - what a share of an operator needs -----------------===//

#include "Shares.h"

#include "TestGraph.h"
#include "TestTopology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace ffc::plan;
using namespace ffc::plan::testing;
using namespace ffc::search;

namespace {

using Point = std::vector<int64_t>;

/// Points of a space that a coin decides on, which is more or less fair.
std::vector<Point> somePoints(const std::vector<IterDim> &dims,
                              std::mt19937 &random) {
  std::vector<Point> all = {{}}, some;
  for (const IterDim &dim : dims) {
    std::vector<Point> next;
    for (const Point &point : all)
      for (int64_t i = 0; i < dim.extent; ++i) {
        next.push_back(point);
        next.back().push_back(i);
      }
    all = std::move(next);
  }
  const unsigned odds = 1 + random() % 16;
  for (const Point &point : all)
    if (random() % 16 < odds)
      some.push_back(point);
  return some;
}

/// The part of all points that some lie over, in some dimensions.
double projected(const std::vector<Point> &points,
                 const std::vector<IterDim> &dims, DimSet onto) {
  std::set<Point> seen;
  double all = 1;
  for (size_t d = 0; d < dims.size(); ++d)
    if (onto & DimSet(1) << d)
      all *= static_cast<double>(dims[d].extent);
  for (Point point : points) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (!(onto & DimSet(1) << d))
        point[d] = 0;
    seen.insert(point);
  }
  return static_cast<double>(seen.size()) / all;
}

/// The part of a tensor that points touch, each as a tile of its own.
double touched(const std::vector<Point> &points, const Access &access,
               const std::vector<IterDim> &dims, const Shape &shape) {
  std::set<Point> elements;
  for (const Point &point : points) {
    Tile tile(static_cast<int>(dims.size()));
    for (int d = 0; d < tile.rank(); ++d)
      tile[d] = {point[d], point[d] + 1};
    regionOf(access, dims, tile, shape).forEachBox([&](const Box &box) {
      std::vector<Point> inside = {{}};
      for (int d = 0; d < box.rank(); ++d) {
        std::vector<Point> next;
        for (const Point &element : inside)
          for (int64_t i = box[d].lo; i < box[d].hi; ++i) {
            next.push_back(element);
            next.back().push_back(i);
          }
        inside = std::move(next);
      }
      elements.insert(inside.begin(), inside.end());
    });
  }
  return static_cast<double>(elements.size()) /
         static_cast<double>(numElements(shape));
}

TEST(Shares, TouchAtLeastTheEvenPart) {
  std::mt19937 random(3);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  int even = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<IterDim> dims = {
        {"a", 1 + below(5)}, {"b", 1 + below(4)}, {"c", 1 + below(3)}};
    Access access;
    Shape shape;
    for (int d = 0; d < 2; ++d) {
      const int64_t stride = 1 + below(3), reach = 1 + below(4),
                    pad = below(4) - 1;
      switch (below(4)) {
      case 0:
        access.dims.push_back(DimMap::full());
        break;
      case 1:
        access.dims.push_back(DimMap::inverse(d, stride, reach, pad));
        break;
      default:
        access.dims.push_back(DimMap::window(d, stride, reach, pad));
      }
      shape.push_back(1 + below(9));
    }
    if (trial % 4 == 0) {
      access.dims = {DimMap::digits({1, 0}), DimMap::dim(2)};
      shape = {dims[0].extent * dims[1].extent, dims[2].extent};
    }
    const EvenAccess found = evenAccess(access, dims, shape);
    even += found.even > 0;
    EXPECT_LE(found.even, 1);
    const std::vector<Point> points = somePoints(dims, random);
    EXPECT_LE(found.even * projected(points, dims, found.dims),
              touched(points, access, dims, shape) + 1e-12)
        << trial;
  }
  EXPECT_GT(even, 150);
}

TEST(Shares, TouchTogetherAtLeastTheLeast) {
  std::mt19937 random(5);
  const std::vector<IterDim> dims = {{"a", 4}, {"b", 3}, {"c", 5}};
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Touch> touches;
    for (DimSet onto : {3, 5, 6, 7, 1})
      touches.push_back({static_cast<double>(random() % 100), onto});
    EXPECT_TRUE(hasThree({{1, 3}, {1, 5}, {1, 6}}));
    const std::vector<Point> points = somePoints(dims, random);
    double bytes = 0;
    for (const Touch &touch : touches)
      bytes += touch.bytes * projected(points, dims, touch.dims);
    const LeastTouched least(touches);
    const double share = static_cast<double>(points.size()) / 60;
    EXPECT_LE(least(share), bytes + 1e-9);
    // Concave, and nothing to gain for all.
    EXPECT_GE(least(share / 2), least(share) / 2 - 1e-9);
    double all = 0;
    for (const Touch &touch : touches)
      all += touch.bytes;
    EXPECT_NEAR(least(1), all, 1e-6);
  }
  EXPECT_FALSE(hasThree({{1, 7}, {1, 7}, {1, 7}}));
}

/// A block of a cube needs as much as there is.
TEST(Shares, BlocksOfCubesMeetTheLeast) {
  const LeastTouched least({{1, 3}, {1, 5}, {1, 6}});
  EXPECT_NEAR(least(1.0 / 8), 3.0 / 4, 1e-9);
  EXPECT_NEAR(least(1.0 / 64), 3.0 / 16, 1e-9);
}

/// Elements of a matrix product, and all of their points.
TEST(Shares, CompleteElementsTouchTheirOperands) {
  std::mt19937 random(7);
  const std::vector<IterDim> dims = {{"n", 4}, {"m", 6}, {"k", 3}};
  const DimSet result = 3;
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<Touch> operands = {
        {static_cast<double>(random() % 100), 5},
        {static_cast<double>(random() % 100), 6},
        {static_cast<double>(random() % 10), 2}};
    std::vector<Point> points;
    for (Point &element : somePoints({dims[0], dims[1]}, random))
      for (int64_t k = 0; k < dims[2].extent; ++k) {
        points.push_back(element);
        points.back().push_back(k);
      }
    double bytes = 0;
    for (const Touch &operand : operands)
      bytes += operand.bytes * projected(points, dims, operand.dims);
    const double share = static_cast<double>(points.size()) / 72;
    const LeastOfComplete leastOf(operands, result, share);
    const double least = leastOf(share);
    EXPECT_LE(least, bytes + 1e-9);
    // More than sums that others complete, and relatively more for less.
    EXPECT_GE(least, LeastTouched(operands)(share) - 1e-9);
    EXPECT_GE(leastOf(share / 2), least / 2 - 1e-9);
    EXPECT_DOUBLE_EQ(leastOf(1),
                     operands[0].bytes + operands[1].bytes + operands[2].bytes);
  }
  const double part = 1.0 / 16;
  // Squares of the result, or all rows where these are short.
  EXPECT_DOUBLE_EQ(LeastOfComplete({{1, 5}, {1, 6}}, result, part)(part), 0.5);
  EXPECT_DOUBLE_EQ(LeastOfComplete({{1, 5}, {100, 6}}, result, part)(part),
                   7.25);
  // Nothing together where elements lie beside both.
  EXPECT_DOUBLE_EQ(LeastOfComplete({{1, 4}, {1, 6}}, result, part)(part),
                   0.125);
}

TEST(Shares, ProductsMakeSumsAndWindowsDoNot) {
  TestGraph g = trainingGraph();
  const Making product = makingOf(g.graph, 0, 0),
               window = makingOf(g.graph, 1, 0);
  EXPECT_TRUE(product.isEven && product.isPartial);
  EXPECT_EQ(product.access.dims, DimSet(3));
  EXPECT_TRUE(window.isEven && !window.isPartial);
  // Blocks of a dimension along which results are equal may each make all.
  for (Schedule &schedule : g.graph.ops[0].rules.schedules)
    schedule.phases[0].writes[0].reduction = Reduction::None;
  EXPECT_FALSE(makingOf(g.graph, 0, 0).isEven);
}

} // namespace
