//===- BufferContents.cpp - what the bytes of a buffer stand for ----------===//

#include "BufferContents.h"

#include <algorithm>

using namespace ffc::plan;

void Contents::write(const Box &box, const Origin &origin) {
  std::vector<Piece> next;
  for (const Piece &piece : pieces_)
    for (const Box &rest : subtract(piece.box, box))
      next.push_back({rest, piece.origin});
  next.push_back({box, origin});
  pieces_ = std::move(next);
}

bool Contents::combine(const Box &box, const Origin &origin) {
  for (Piece &piece : within(box)) {
    if (piece.origin.value != origin.value)
      return false;
    std::vector<int64_t> parts;
    std::set_union(piece.origin.parts.begin(), piece.origin.parts.end(),
                   origin.parts.begin(), origin.parts.end(),
                   std::back_inserter(parts));
    if (parts.size() != piece.origin.parts.size() + origin.parts.size())
      return false;
    piece.origin.parts = std::move(parts);
    write(piece.box, piece.origin);
  }
  return true;
}

bool Contents::covers(const Box &box) const {
  std::vector<Box> rest = {box};
  for (const Piece &piece : pieces_) {
    std::vector<Box> next;
    for (const Box &part : rest)
      for (const Box &r : subtract(part, piece.box))
        next.push_back(r);
    rest = std::move(next);
  }
  return rest.empty();
}

std::vector<Contents::Piece> Contents::within(const Box &box) const {
  std::vector<Piece> result;
  for (const Piece &piece : pieces_) {
    Box common = piece.box.intersect(box);
    if (!common.empty())
      result.push_back({common, piece.origin});
  }
  return result;
}
