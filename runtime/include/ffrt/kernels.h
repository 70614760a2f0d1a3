//===- kernels.h - all kernels ----------------------------------*- C++ -*-===//
#ifndef FFRT_KERNELS_H
#define FFRT_KERNELS_H

#include "ffrt/attention.h"
#include "ffrt/bitwise.h"
#include "ffrt/conv.h"
#include "ffrt/copy.h"
#include "ffrt/cross_entropy.h"
#include "ffrt/cum_sum.h"
#include "ffrt/dropout.h"
#include "ffrt/elementwise.h"
#include "ffrt/embedding.h"
#include "ffrt/gather.h"
#include "ffrt/gather_elements.h"
#include "ffrt/loss.h"
#include "ffrt/lrn.h"
#include "ffrt/matmul.h"
#include "ffrt/noise.h"
#include "ffrt/normalize.h"
#include "ffrt/optimizer.h"
#include "ffrt/pool.h"
#include "ffrt/recurrent.h"
#include "ffrt/reduce.h"
#include "ffrt/resize.h"
#include "ffrt/reverse_sequence.h"
#include "ffrt/shape.h"
#include "ffrt/softmax.h"
#include "ffrt/top_k.h"

#endif // FFRT_KERNELS_H
