//===- normalize_operand.h - operands of one type, or of any ----*- C++ -*-===//
#ifndef FFRT_CUDA_NORMALIZE_OPERAND_H
#define FFRT_CUDA_NORMALIZE_OPERAND_H

#include "common/elementwise/cast.h"
#include "ffrt/cuda/group.h"

namespace ffrt::normalization {

/// In place of an element's type, where that is f32, bf16 or f16 and told apart
/// when elements are read or written, by all threads alike. A read does not
/// begin before the one before it has ended, so this is for what is seldom.
struct Any {};

/// What kernels read; may be absent.
template <class T> struct Operand {
  using Value = T; ///< as it is read
  const T *data;

  explicit Operand(const Tensor &t) : data(t.as<T>()) {}
  bool begins_group() const { return cuda::begins_group(data); }

  __device__ T operator[](int64_t at) const { return data[at]; }
  __device__ cuda::Group<T> read(int64_t at, const cuda::Span &span) const {
    return cuda::read(data + at, span);
  }
};

template <> struct Operand<Any> {
  using Value = float;
  const void *data;
  DType type;

  explicit Operand(const Tensor &t) : data(t.data), type(t.type) {}
  bool begins_group() const {
    return type == DType::f32 ? cuda::begins_group(as<float>())
                              : cuda::begins_group(as<BFloat16>());
  }

  __device__ float operator[](int64_t at) const {
    if (type == DType::f32)
      return as<float>()[at];
    // One read serves both, and nothing branches.
    const float bf16 = as<BFloat16>()[at], f16 = as<Float16>()[at];
    return type == DType::bf16 ? bf16 : f16;
  }
  __device__ cuda::Group<float> read(int64_t at, const cuda::Span &span) const {
    if (type == DType::f32)
      return cuda::read(as<float>() + at, span);
    const cuda::Group<BFloat16> bf16 = cuda::read(as<BFloat16>() + at, span);
    const cuda::Group<Float16> f16 = cuda::read(as<Float16>() + at, span);
    cuda::Group<float> result;
    FFRT_UNROLL
    for (int k = 0; k < cuda::kGroup; ++k)
      result[k] = type == DType::bf16 ? float(bf16[k]) : float(f16[k]);
    return result;
  }

private:
  template <class T> FFRT_FUNCTION const T *as() const {
    return static_cast<const T *>(data);
  }
};

/// Zeros where there is no operand.
__device__ inline cuda::Group<float>
read_if_there(const Operand<Any> &operand, int64_t at, const cuda::Span &span) {
  cuda::Group<float> nothing{};
  return operand.data ? operand.read(at, span) : nothing;
}

/// What kernels write, rounded when it is stored; may be absent.
template <class T> struct Result {
  T *data;

  explicit Result(const Tensor &t) : data(t.as<T>()) {}
  FFRT_FUNCTION explicit Result(T *data) : data(data) {}
  bool begins_group() const { return cuda::begins_group(data); }

  __device__ void set(int64_t at, float value) const { data[at] = T(value); }
  __device__ void write(int64_t at, const cuda::Span &span,
                        const cuda::Group<float> &values) const {
    cuda::Group<T> rounded;
    FFRT_UNROLL
    for (int k = 0; k < cuda::kGroup; ++k)
      rounded[k] = T(values[k]);
    cuda::write(data + at, span, rounded);
  }
};

template <> struct Result<Any> {
  void *data;
  DType type;

  explicit Result(const Tensor &t) : data(t.data), type(t.type) {}
  bool begins_group() const {
    return type == DType::f32 ? as<float>().begins_group()
                              : as<BFloat16>().begins_group();
  }

  __device__ void set(int64_t at, float value) const {
    if (type == DType::f32)
      as<float>().set(at, value);
    else if (type == DType::bf16)
      as<BFloat16>().set(at, value);
    else
      as<Float16>().set(at, value);
  }
  __device__ void write(int64_t at, const cuda::Span &span,
                        const cuda::Group<float> &values) const {
    if (type == DType::f32)
      as<float>().write(at, span, values);
    else if (type == DType::bf16)
      as<BFloat16>().write(at, span, values);
    else
      as<Float16>().write(at, span, values);
  }

private:
  template <class T> FFRT_FUNCTION Result<T> as() const {
    return Result<T>(static_cast<T *>(data));
  }
};

} // namespace ffrt::normalization

#endif // FFRT_CUDA_NORMALIZE_OPERAND_H
