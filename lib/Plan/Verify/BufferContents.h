//===- BufferContents.h - what the bytes of a buffer stand for --*- C++ -*-===//
//
// Internal to the verifier: for disjoint boxes, in global coordinates, of which
// value they are a part and which partial results have been added up in them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_BUFFERCONTENTS_H
#define FFC_LIB_PLAN_BUFFERCONTENTS_H

#include "ffc/Plan/Graph.h"

#include <vector>

namespace ffc::plan {

/// Numbers of partial results. A sum over thousands of devices has all of them,
/// on each device: runs of numbers, not numbers, are kept.
class Parts {
public:
  Parts() = default;
  explicit Parts(int64_t only) : runs{{only, only + 1}} {}

  int64_t count() const;
  /// Adds all of `others`. False, and nothing is added, if one is there
  /// already.
  bool add(const Parts &others);
  bool operator==(const Parts &o) const { return runs == o.runs; }

private:
  std::vector<Interval> runs; ///< ascending; none touches the next one
};

struct Origin {
  ValueId value = -1; ///< below 0: an operator's internal tensor
  Parts parts;        ///< of the partial results
  int64_t total = 1;  ///< how many there are
  bool complete() const { return parts.count() == total; }
  bool operator==(const Origin &o) const {
    return value == o.value && total == o.total && parts == o.parts;
  }
};

class Contents {
public:
  struct Piece {
    Box box;
    Origin origin;
  };

  void clear() { pieces_.clear(); }
  const std::vector<Piece> &pieces() const { return pieces_; }

  /// Replaces what was in `box`.
  void write(const Box &box, const Origin &origin);
  /// Adds the partial results of `origin` to those in `box`, which must be
  /// covered. False if one is there already or another value is.
  bool combine(const Box &box, const Origin &origin);
  bool covers(const Box &box) const;
  /// The pieces cut to `box`.
  std::vector<Piece> within(const Box &box) const;

private:
  /// Disjoint. What is written right behind the last piece, and stands for the
  /// same, is one with it.
  std::vector<Piece> pieces_;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BUFFERCONTENTS_H
