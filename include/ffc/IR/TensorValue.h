//===- TensorValue.h - a global tensor of doubles ---------------*- C++ -*-===//
#ifndef FFC_IR_TENSORVALUE_H
#define FFC_IR_TENSORVALUE_H

#include "ffc/Plan/Box.h"

#include <vector>

namespace ffc::ff {

/// What goes into and comes out of the evaluators: a tensor in global
/// coordinates, whatever its element type, row-major.
struct TensorValue {
  plan::Shape shape;
  std::vector<double> data; ///< numElements(shape) values
};

} // namespace ffc::ff

#endif // FFC_IR_TENSORVALUE_H
