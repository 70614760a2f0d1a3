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

struct Origin {
  ValueId value = -1;         ///< below 0: an operator's internal tensor
  std::vector<int64_t> parts; ///< ascending numbers of partial results
  int64_t total = 1;          ///< how many there are
  bool complete() const { return static_cast<int64_t>(parts.size()) == total; }
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
  std::vector<Piece> pieces_; ///< disjoint
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BUFFERCONTENTS_H
