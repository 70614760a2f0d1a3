//===- Box.h - intervals, boxes and regions of global tensors ---*- C++ -*-===//
//
// Half-open integer intervals and their products. A *box* is a hyper-rectangle
// of a global tensor; a *region* is a product of interval lists, which is what
// a tile may read when one tensor dimension is made of several iteration
// dimensions (reshape, grouped convolution).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_BOX_H
#define FFC_PLAN_BOX_H

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ffc::plan {

/// Tensors and iteration spaces have at most this many dimensions.
constexpr int kMaxRank = 8;

using Shape = std::vector<int64_t>;

/// Number of elements; 1 for a scalar.
int64_t numElements(const Shape &shape);

/// [lo, hi). Empty when hi <= lo.
struct Interval {
  int64_t lo = 0, hi = 0;

  int64_t size() const { return hi > lo ? hi - lo : 0; }
  bool empty() const { return hi <= lo; }
  bool contains(Interval other) const {
    return other.empty() || (lo <= other.lo && other.hi <= hi);
  }
  Interval intersect(Interval other) const {
    return {lo > other.lo ? lo : other.lo, hi < other.hi ? hi : other.hi};
  }
  bool operator==(const Interval &other) const {
    return lo == other.lo && hi == other.hi;
  }
  bool operator!=(const Interval &other) const { return !(*this == other); }
  bool operator<(const Interval &other) const {
    return lo != other.lo ? lo < other.lo : hi < other.hi;
  }
};

/// A product of one interval per dimension. Rank 0 is the box of a scalar.
class Box {
public:
  Box() = default;
  explicit Box(int rank) : rank_(rank) {
    assert(rank <= kMaxRank && "rank over kMaxRank");
  }
  Box(std::initializer_list<Interval> intervals);

  /// The box of a whole tensor.
  static Box whole(const Shape &shape);

  int rank() const { return rank_; }
  Interval &operator[](int dim) { return dims_[dim]; }
  const Interval &operator[](int dim) const { return dims_[dim]; }

  /// Elements inside; 1 for rank 0.
  int64_t volume() const {
    int64_t count = 1;
    for (int d = 0; d < rank_; ++d)
      count *= dims_[d].size();
    return count;
  }
  bool empty() const {
    for (int d = 0; d < rank_; ++d)
      if (dims_[d].empty())
        return true;
    return false;
  }
  bool contains(const Box &other) const {
    for (int d = 0; d < rank_; ++d)
      if (!dims_[d].contains(other[d]))
        return other.empty();
    return true;
  }
  bool meets(const Box &other) const {
    for (int d = 0; d < rank_; ++d)
      if (dims_[d].intersect(other[d]).empty())
        return false;
    return true;
  }
  Box intersect(const Box &other) const {
    Box result(rank_);
    for (int d = 0; d < rank_; ++d)
      result[d] = dims_[d].intersect(other[d]);
    return result;
  }
  Shape shape() const;

  bool operator==(const Box &other) const {
    if (rank_ != other.rank_)
      return false;
    for (int d = 0; d < rank_; ++d)
      if (dims_[d] != other[d])
        return false;
    return true;
  }
  bool operator!=(const Box &other) const { return !(*this == other); }
  /// Lexicographic by interval, for ordered containers.
  bool operator<(const Box &other) const;

  /// "[0:4, 16:32]".
  std::string str() const;

private:
  int rank_ = 0;
  std::array<Interval, kMaxRank> dims_{};
};

/// The parts of `box` outside `hole`, as disjoint boxes.
std::vector<Box> subtract(const Box &box, const Box &hole);
/// Appends those outside of `common`, which lies in `box`.
void appendOutside(std::vector<Box> &rest, const Box &box, const Box &common);

/// A product of interval lists: per dimension, disjoint, ascending,
/// non-adjacent intervals. Stored locally as one dense tensor with the gaps
/// removed ("packed"). A box is the region with one interval per dimension;
/// only others allocate memory.
class Region {
public:
  /// The intervals of one dimension.
  class Intervals {
  public:
    Intervals(const Interval *first, size_t count)
        : first(first), count(count) {}
    const Interval *begin() const { return first; }
    const Interval *end() const { return first + count; }
    size_t size() const { return count; }
    bool empty() const { return count == 0; }
    const Interval &operator[](size_t i) const { return first[i]; }
    const Interval &front() const { return *first; }

  private:
    const Interval *first;
    size_t count;
  };

  Region() = default;
  explicit Region(const Box &box);
  explicit Region(std::vector<std::vector<Interval>> dims);

  int rank() const { return box_.rank(); }
  Intervals dim(int d) const {
    if (lists_)
      return {(*lists_)[d].data(), (*lists_)[d].size()};
    return {&box_[d], box_[d].empty() ? size_t(0) : size_t(1)};
  }

  bool empty() const {
    for (int d = 0; d < rank(); ++d)
      if (dim(d).empty())
        return true;
    return false;
  }
  /// True if every dimension has exactly one interval.
  bool isBox() const { return !lists_ && !empty(); }
  /// The box; requires isBox().
  const Box &box() const {
    assert(isBox() && "region is not one box");
    return box_;
  }
  /// Extents of the packed local tensor.
  Shape shape() const;
  int64_t volume() const;
  bool contains(const Box &box) const;

  /// One box of the region and where it starts in the packed local tensor.
  struct Piece {
    Box box;
    Shape at;
  };
  std::vector<Piece> pieces() const;
  /// What both have, of the same rank.
  Region intersect(const Region &other) const;
  /// Calls f(box) for the box of every piece, in their order.
  template <class F> void forEachBox(F f) const {
    if (isBox())
      return f(box_);
    for (const Piece &piece : pieces())
      f(piece.box);
  }

  bool operator==(const Region &other) const;
  bool operator!=(const Region &other) const { return !(*this == other); }
  /// Lexicographic by interval list, for ordered containers.
  bool operator<(const Region &other) const;
  /// As Box::str, lists joined by '+': "[0:4, 0:3+6:9]".
  std::string str() const;

private:
  /// If no dimension has several intervals, those, [0, 0) where there is none;
  /// else only the rank counts.
  Box box_;
  std::shared_ptr<const std::vector<std::vector<Interval>>> lists_;
};

} // namespace ffc::plan

#endif // FFC_PLAN_BOX_H
