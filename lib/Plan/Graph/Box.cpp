//===- Box.cpp - intervals, boxes and regions of global tensors -----------===//

#include "ffc/Plan/Box.h"

#include <algorithm>

using namespace ffc::plan;

int64_t ffc::plan::numElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

//===----------------------------------------------------------------------===//
// Box
//===----------------------------------------------------------------------===//

Box::Box(std::initializer_list<Interval> intervals)
    : Box(static_cast<int>(intervals.size())) {
  int d = 0;
  for (Interval interval : intervals)
    dims_[d++] = interval;
}

Box Box::whole(const Shape &shape) {
  Box box(static_cast<int>(shape.size()));
  for (int d = 0; d < box.rank(); ++d)
    box[d] = {0, shape[d]};
  return box;
}

Shape Box::shape() const {
  Shape shape(rank_);
  for (int d = 0; d < rank_; ++d)
    shape[d] = dims_[d].size();
  return shape;
}

bool Box::operator<(const Box &other) const {
  if (rank_ != other.rank_)
    return rank_ < other.rank_;
  for (int d = 0; d < rank_; ++d)
    if (dims_[d] != other[d])
      return dims_[d] < other[d];
  return false;
}

static std::string str(Interval interval) {
  return std::to_string(interval.lo) + ":" + std::to_string(interval.hi);
}

std::string Box::str() const { return Region(*this).str(); }

std::vector<Box> ffc::plan::subtract(const Box &box, const Box &hole) {
  std::vector<Box> rest;
  if (box.meets(hole))
    appendOutside(rest, box, box.intersect(hole));
  else
    rest = {box};
  return rest;
}

void ffc::plan::appendOutside(std::vector<Box> &rest, const Box &box,
                              const Box &common) {
  Box middle = box;
  for (int d = 0; d < box.rank(); ++d) {
    for (Interval side : {Interval{middle[d].lo, common[d].lo},
                          Interval{common[d].hi, middle[d].hi}}) {
      if (side.empty())
        continue;
      rest.push_back(middle);
      rest.back()[d] = side;
    }
    middle[d] = common[d];
  }
}

//===----------------------------------------------------------------------===//
// Region
//===----------------------------------------------------------------------===//

Region::Region(const Box &box) : box_(box) {
  for (int d = 0; d < rank(); ++d)
    if (box_[d].empty())
      box_[d] = {};
}

Region::Region(std::vector<std::vector<Interval>> dims)
    : box_(static_cast<int>(dims.size())) {
  bool several = false;
  for (int d = 0; d < rank(); ++d) {
    several |= dims[d].size() > 1;
    if (!dims[d].empty())
      box_[d] = dims[d].front();
  }
  if (!several)
    return;
  box_ = Box(rank());
  lists_ = std::make_shared<const std::vector<std::vector<Interval>>>(
      std::move(dims));
}

/// Positions in one dimension of the packed tensor.
static int64_t sizeOf(Region::Intervals intervals) {
  int64_t size = 0;
  for (Interval interval : intervals)
    size += interval.size();
  return size;
}

Shape Region::shape() const {
  Shape shape(rank());
  for (int d = 0; d < rank(); ++d)
    shape[d] = sizeOf(dim(d));
  return shape;
}

int64_t Region::volume() const {
  int64_t volume = 1;
  for (int d = 0; d < rank(); ++d)
    volume *= sizeOf(dim(d));
  return volume;
}

bool Region::contains(const Box &box) const {
  if (box.empty())
    return true;
  for (int d = 0; d < rank(); ++d) {
    bool found = false;
    for (Interval interval : dim(d))
      found |= interval.contains(box[d]);
    if (!found)
      return false;
  }
  return true;
}

bool Region::operator==(const Region &other) const {
  if (!lists_ || !other.lists_)
    return !lists_ && !other.lists_ && box_ == other.box_;
  return *lists_ == *other.lists_;
}

bool Region::operator<(const Region &other) const {
  if (rank() == other.rank() && isBox() && other.isBox())
    return box_ < other.box_;
  for (int d = 0; d < rank() && d < other.rank(); ++d) {
    Intervals a = dim(d), b = other.dim(d);
    if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()))
      return true;
    if (std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end()))
      return false;
  }
  return rank() < other.rank();
}

std::vector<Region::Piece> Region::pieces() const {
  std::vector<Piece> result;
  if (empty())
    return result;
  // Counts through the product of interval lists, last dimension fastest.
  std::vector<size_t> choice(rank(), 0);
  std::vector<Shape> starts(rank());
  for (int d = 0; d < rank(); ++d) {
    int64_t at = 0;
    for (Interval interval : dim(d)) {
      starts[d].push_back(at);
      at += interval.size();
    }
  }
  while (true) {
    Piece piece{Box(rank()), Shape(rank())};
    for (int d = 0; d < rank(); ++d) {
      piece.box[d] = dim(d)[choice[d]];
      piece.at[d] = starts[d][choice[d]];
    }
    result.push_back(std::move(piece));
    int d = rank() - 1;
    while (d >= 0 && ++choice[d] == dim(d).size())
      choice[d--] = 0;
    if (d < 0)
      return result;
  }
}

Region Region::intersect(const Region &other) const {
  if (isBox() && other.isBox())
    return Region(box_.intersect(other.box_));
  std::vector<std::vector<Interval>> common(rank());
  for (int d = 0; d < rank(); ++d) {
    const Intervals mine = dim(d), theirs = other.dim(d);
    for (size_t i = 0, j = 0; i < mine.size() && j < theirs.size();) {
      const Interval both = mine[i].intersect(theirs[j]);
      if (!both.empty())
        common[d].push_back(both);
      mine[i].hi < theirs[j].hi ? ++i : ++j;
    }
  }
  return Region(std::move(common));
}

std::string Region::str() const {
  std::string text = "[";
  for (int d = 0; d < rank(); ++d) {
    if (d)
      text += ", ";
    for (size_t i = 0; i < dim(d).size(); ++i)
      text += (i ? "+" : "") + ::str(dim(d)[i]);
  }
  return text + "]";
}
