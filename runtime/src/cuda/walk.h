//===- walk.h - walks of nests ----------------------------------*- C++ -*-===//
#ifndef FFRT_CUDA_NEST_WALK_H
#define FFRT_CUDA_NEST_WALK_H

#include "common/nest.h"
#include "ffrt/cuda/walk.h"

#endif // FFRT_CUDA_NEST_WALK_H
