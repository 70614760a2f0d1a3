//===- scalar.cpp - single numbers of a program ---------------------------===//
#include "common/host_tensor.h"
#include "ffrt/program.h"

namespace ffrt {

double scalar_of(const Tensor &t) {
  const HostTensor copy(t, HostTensor::Contents::copied);
  return t.type == DType::f64 ? *copy.tensor().as<double>()
                              : double(*copy.tensor().as<float>());
}

} // namespace ffrt
