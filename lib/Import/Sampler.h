//===- Sampler.h - images between their positions ---------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_SAMPLER_H
#define FFC_LIB_IMPORT_SAMPLER_H

#include "Expression.h"

namespace ffc::importer {

/// A position along one dimension that a sample reads, and what it counts
/// there: numbers of samples, which broadcast with those of other dimensions.
struct Tap {
  GraphValue *place = nullptr;  ///< a whole number within the extent, as float
  GraphValue *weight = nullptr; ///< null: 1
};

/// Reads images [batch, channels, extents...] at places that are computed.
/// Gradients reach the images, and by weights the places.
class Sampler {
public:
  /// An image of at most kMaxPositions positions in the whole batch, which are
  /// counted in floats; reports another.
  Sampler(NodeImporter &node, Expression &made, GraphValue *image);

  /// The linear interpolation of what lies next to `place`. Outside the image
  /// are zeros or, if `extends`, what is at its border.
  llvm::SmallVector<Tap> linear(GraphValue *place, int64_t extent,
                                bool extends);

  /// Which elements count at whole positions, given that some lie outside.
  Tap inside(GraphValue *place, GraphValue *weight, int64_t extent);

  /// What is read in every combination of one tap of each dimension: numbers
  /// [samples..., channels], which count already. `batches`: the number of the
  /// image of every sample, as floats; broadcasts to samples.
  llvm::SmallVector<GraphValue *>
  read(llvm::ArrayRef<llvm::SmallVector<Tap>> taps, GraphValue *batches);

  /// The sum of values.
  GraphValue *sum(llvm::ArrayRef<GraphValue *> values);

private:
  NodeImporter &node;
  Expression &made;
  Shape extents;
  int64_t positions = 0;      ///< of an image
  GraphValue *rows = nullptr; ///< [images * positions, channels]
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_SAMPLER_H
