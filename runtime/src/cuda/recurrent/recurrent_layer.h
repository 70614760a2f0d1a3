//===- recurrent_layer.h - algorithms for a layer's steps -------*- C++ -*-===//
#ifndef FFRT_CUDA_RECURRENT_LAYER_H
#define FFRT_CUDA_RECURRENT_LAYER_H

#include "common/recurrent/recurrent.h"

namespace ffrt {

/// A few kernels for every step.
std::unique_ptr<ForwardLayer> forward_in_steps(const RecurrentSteps &steps,
                                               const ForwardOperands &t);
std::unique_ptr<BackwardLayer> backward_in_steps(const RecurrentSteps &steps,
                                                 const BackwardOperands &t);

/// Few, so that all multiprocessors have work; or many, so that the weights are
/// read for more of them.
enum class SamplesOfCluster { few, many };

/// One kernel for all of them (cuda/recurrent/recurrent_cluster.h). Throw Error
/// where the cell, the size of the layer, or the GPU does not allow it.
std::unique_ptr<ForwardLayer> forward_in_clusters(const RecurrentSteps &steps,
                                                  SamplesOfCluster samples);
std::unique_ptr<BackwardLayer> backward_in_clusters(const RecurrentSteps &steps,
                                                    SamplesOfCluster samples);

} // namespace ffrt

#endif // FFRT_CUDA_RECURRENT_LAYER_H
