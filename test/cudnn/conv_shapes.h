//===- conv_shapes.h - convolutions as lines of text ------------*- C++ -*-===//
//
// FFRT_EMULATED_SHAPES names a file to which an emulated program appends the
// convolutions that it would ask the library for. It computes nothing then.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDNN_CONV_SHAPES_H
#define FFRT_CUDNN_CONV_SHAPES_H

#include "cuda/conv/conv_library.h"

#include <cmath>
#include <istream>
#include <ostream>
#include <string>

namespace ffrt::cuda {

inline void write_tensor(std::ostream &out, const Tensor &t) {
  out << ' ' << int(t.type) << ' ' << int(t.order) << ' ' << t.rank;
  for (int d = 0; d < t.rank; ++d)
    out << ' ' << t.shape[d];
}

inline Tensor read_tensor(std::istream &in) {
  Tensor t;
  int type = 0, order = 0;
  in >> type >> order >> t.rank;
  t.type = DType(type);
  t.order = Order(order);
  for (int d = 0; d < t.rank; ++d)
    in >> t.shape[d];
  return t;
}

inline void write_shape(std::ostream &out, const ConvShape &s) {
  out << int(s.kind);
  for (const Tensor *t : {&s.x, &s.w, &s.y})
    write_tensor(out, *t);
  for (const Ints *numbers : {&s.strides, &s.dilations, &s.pads})
    for (int64_t number : *numbers)
      out << ' ' << number;
  out << ' ' << s.bias;
  for (float bound : {s.clip.alpha, s.clip.beta})
    out << ' ' << (std::isinf(bound) ? "none" : std::to_string(bound));
  out << '\n';
}

/// `bound` stays where there is none.
inline void read_bound(std::istream &in, float &bound) {
  std::string word;
  if (in >> word && word != "none")
    bound = std::stof(word);
}

inline bool read_shape(std::istream &in, ConvShape &s) {
  int kind = 0;
  if (!(in >> kind))
    return false;
  s.kind = ConvShape::Kind(kind);
  for (Tensor *t : {&s.x, &s.w, &s.y})
    *t = read_tensor(in);
  for (Ints *numbers : {&s.strides, &s.dilations, &s.pads}) {
    numbers->resize(std::size_t(s.x.rank) - 2);
    for (int64_t &number : *numbers)
      in >> number;
  }
  in >> s.bias;
  read_bound(in, s.clip.alpha);
  read_bound(in, s.clip.beta);
  return bool(in);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDNN_CONV_SHAPES_H
