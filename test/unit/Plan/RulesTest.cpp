//===- RulesTest.cpp - blocks, access maps and regions --------------------===//

#include "ffc/Plan/Rules.h"

#include "gtest/gtest.h"

using namespace ffc::plan;

namespace {

TEST(Rules, BlocksDifferByAtMostOneUnit) {
  IterDim dim{"c", 4096, DimKind::Parameter};
  EXPECT_EQ(blockOf(dim, 3, 0), (Interval{0, 1366}));
  EXPECT_EQ(blockOf(dim, 3, 1), (Interval{1366, 2731}));
  EXPECT_EQ(blockOf(dim, 3, 2), (Interval{2731, 4096}));
}

TEST(Rules, BlocksFollowGranularity) {
  IterDim dim{"c", 20, DimKind::Parameter, 8};
  EXPECT_EQ(maxDegree(dim), 3);
  EXPECT_EQ(blockOf(dim, 2, 0), (Interval{0, 16}));
  EXPECT_EQ(blockOf(dim, 2, 1), (Interval{16, 20}));
}

/// Every split of every extent: blocks tile the extent, in order.
TEST(Rules, BlocksTileTheExtent) {
  for (int64_t extent = 1; extent < 40; ++extent)
    for (int64_t grain : {1, 2, 3, 7}) {
      IterDim dim{"d", extent, DimKind::Attribute, grain};
      for (int64_t degree = 1; degree <= maxDegree(dim); ++degree) {
        int64_t at = 0;
        for (int64_t i = 0; i < degree; ++i) {
          Interval block = blockOf(dim, degree, i);
          EXPECT_EQ(block.lo, at);
          EXPECT_FALSE(block.empty());
          at = block.hi;
        }
        EXPECT_EQ(at, extent);
      }
    }
}

std::vector<int64_t> sizes(const IterDim &dim,
                           const std::vector<int64_t> &shares) {
  std::vector<int64_t> result;
  int64_t at = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const Interval block = blockOf(dim, shares, static_cast<int64_t>(i));
    EXPECT_EQ(block.lo, at);
    EXPECT_FALSE(block.empty());
    at = block.hi;
    result.push_back(block.size());
  }
  EXPECT_EQ(at, dim.extent);
  return result;
}

TEST(Rules, BlocksByShares) {
  using Sizes = std::vector<int64_t>;
  IterDim samples{"n", 18, DimKind::Sample};
  EXPECT_EQ(sizes(samples, {8, 8, 1, 1}), (Sizes{8, 8, 1, 1}));
  EXPECT_EQ(sizes(samples, {1, 2}), (Sizes{6, 12}));
  // Nobody is left without a unit.
  EXPECT_EQ(sizes(samples, {1, 100, 1}), (Sizes{1, 16, 1}));
  IterDim four{"n", 4, DimKind::Sample};
  EXPECT_EQ(sizes(four, {1, 1, 1, 100}), (Sizes{1, 1, 1, 1}));
  EXPECT_EQ(sizes(four, {100, 100, 1, 1}), (Sizes{1, 1, 1, 1}));
  // Units of eight, the last one cut short.
  EXPECT_EQ(sizes({"c", 30, DimKind::Parameter, 8}, {3, 1}), (Sizes{24, 6}));
}

TEST(Rules, BlocksByAnySharesTileTheExtent) {
  for (int64_t extent = 1; extent < 20; ++extent)
    for (size_t degree = 1; degree <= size_t(extent); ++degree)
      for (int64_t uneven : {1, 2, 7, 1000}) {
        std::vector<int64_t> shares(degree, 1);
        shares[degree / 2] = uneven;
        sizes({"d", extent, DimKind::Attribute}, shares);
      }
}

Region region(DimMap map, std::vector<IterDim> space, Tile tile,
              int64_t extent) {
  Access access;
  access.dims = {std::move(map)};
  return regionOf(access, space, tile, {extent});
}

TEST(Rules, WindowIsCutAtTheBorders) {
  std::vector<IterDim> space = {{"h", 4}};
  DimMap map = DimMap::window(0, 2, 3, 1);
  EXPECT_EQ(region(map, space, {{0, 2}}, 8).str(), "[0:4]");
  EXPECT_EQ(region(map, space, {{2, 4}}, 8).str(), "[3:8]");
}

/// The inverse of a window contains exactly the positions whose window touches.
TEST(Rules, InverseOfWindow) {
  for (int64_t stride : {1, 2, 3})
    for (int64_t reach : {1, 2, 3, 5})
      for (int64_t pad : {0, 1, 2}) {
        int64_t in = 13, out = (in + 2 * pad - reach) / stride + 1;
        std::vector<IterDim> inSpace = {{"i", in}}, outSpace = {{"o", out}};
        for (int64_t lo = 0; lo < in; ++lo)
          for (int64_t hi = lo + 1; hi <= in; ++hi) {
            Region found = region(DimMap::inverse(0, stride, reach, pad),
                                  inSpace, {{lo, hi}}, out);
            for (int64_t o = 0; o < out; ++o) {
              Region window = region(DimMap::window(0, stride, reach, pad),
                                     outSpace, {{o, o + 1}}, in);
              bool touches =
                  !window.empty() &&
                  !window.box()[0].intersect(Interval{lo, hi}).empty();
              bool inside = found.contains(Box{{o, o + 1}});
              // Strides over the reach leave positions between windows; the
              // inverse is then still one interval that contains all touching.
              EXPECT_TRUE(inside || !touches) << lo << " " << hi << " " << o;
            }
          }
      }
}

TEST(Rules, DigitsOfAReshape) {
  std::vector<IterDim> space = {{"c", 3}, {"h", 2}, {"w", 4}};
  DimMap map = DimMap::digits({0, 1, 2});
  EXPECT_EQ(region(map, space, {{0, 3}, {0, 2}, {0, 4}}, 24).str(), "[0:24]");
  EXPECT_EQ(region(map, space, {{1, 3}, {0, 2}, {0, 4}}, 24).str(), "[8:24]");
  EXPECT_EQ(region(map, space, {{0, 3}, {1, 2}, {0, 4}}, 24).str(),
            "[4:8+12:16+20:24]");
  EXPECT_EQ(region(map, space, {{1, 2}, {0, 2}, {1, 3}}, 24).str(),
            "[9:11+13:15]");
  EXPECT_EQ(region(map, space, {{1, 2}, {1, 2}, {1, 3}}, 24).str(), "[13:15]");
  EXPECT_TRUE(region(map, space, {{1, 2}, {1, 1}, {0, 4}}, 24).empty());
}

TEST(Rules, OnlyAtStart) {
  std::vector<IterDim> space = {{"c", 8}, {"k", 6}};
  Access bias;
  bias.dims = {DimMap::dim(0)};
  bias.onlyAtStart = {1};
  EXPECT_EQ(regionOf(bias, space, {{2, 4}, {0, 3}}, {8}).str(), "[2:4]");
  EXPECT_TRUE(regionOf(bias, space, {{2, 4}, {3, 6}}, {8}).empty());
}

TEST(Rules, PiecesOfARegion) {
  Region r({{{0, 2}, {4, 6}}, {{1, 3}}});
  EXPECT_EQ(r.shape(), (Shape{4, 2}));
  EXPECT_FALSE(r.isBox());
  std::vector<Region::Piece> pieces = r.pieces();
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].box.str(), "[4:6, 1:3]");
  EXPECT_EQ(pieces[1].at, (Shape{2, 0}));
  EXPECT_TRUE(r.contains(Box{{4, 6}, {1, 2}}));
  EXPECT_FALSE(r.contains(Box{{1, 5}, {1, 2}}));
}

TEST(Rules, IntersectionOfRegions) {
  const Region a({{{0, 4}}, {{0, 3}, {5, 9}}});
  const Region b({{{2, 8}}, {{1, 6}, {7, 8}, {9, 12}}});
  EXPECT_EQ(a.intersect(b), Region({{{2, 4}}, {{1, 3}, {5, 6}, {7, 8}}}));
  EXPECT_EQ(a.intersect(a), a);
  EXPECT_EQ(a.intersect(Region(Box{{0, 4}, {6, 7}})),
            Region(Box{{0, 4}, {6, 7}}));
  EXPECT_TRUE(a.intersect(Region(Box{{0, 4}, {3, 5}})).empty());
}

TEST(Rules, ScalarRegionIsNotEmpty) {
  Region scalar{Box(0)};
  EXPECT_FALSE(scalar.empty());
  EXPECT_EQ(scalar.volume(), 1);
  EXPECT_EQ(scalar.pieces().size(), 1u);
}

} // namespace
