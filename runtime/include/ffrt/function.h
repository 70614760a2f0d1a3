//===- function.h - functions for kernels of all targets --------*- C++ -*-===//
#ifndef FFRT_FUNCTION_H
#define FFRT_FUNCTION_H

/// Before a function that kernels call, and the host may call.
#ifdef __CUDACC__
#define FFRT_FUNCTION __host__ __device__
#else
#define FFRT_FUNCTION
#endif

namespace ffrt {

/// What is not a number wins, as in numpy.
template <class T> FFRT_FUNCTION constexpr T larger(T a, T b) {
  return (a > b) | (a != a) ? a : b;
}

} // namespace ffrt

#endif // FFRT_FUNCTION_H
