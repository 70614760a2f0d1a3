//===- result_check.cpp - looks at what tasks compute ---------------------===//
#include "ffrt/result_check.h"

#include "common/device/host_tensor.h"
#include "common/device/target.h"
#include "common/kernels/check.h"
#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace ffrt {

namespace {

/// Does number `e` of a buffer lie between its rows?
bool is_between_rows(const Tensor &t, int64_t e) {
  return t.is_pitched() && e % t.pitch() >= t.shape[t.rank - 1];
}

/// Where element number `e` of a buffer lies in its value.
Index place_of(const Tensor &t, int64_t e) {
  const Index strides = t.strides();
  Index at;
  for (int d = 0; d < t.rank; ++d) {
    const int64_t extent = d == t.rank - 1 ? t.pitch() : t.shape[d];
    at[d] = t.lo[d] + e / strides[d] % extent;
  }
  return at;
}

/// Bits but for the sign order numbers by their size; what is not finite comes
/// last. A loop that is vectorised.
template <class Word>
bool all_below(const void *data, int64_t n, Word infinity) {
  const Word *bits = static_cast<const Word *>(data);
  const auto size = Word(~Word(0) >> 1);
  Word largest = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max(largest, Word(bits[i] & size));
  return largest < infinity;
}

template <class T>
std::optional<BadValues> find_bad(const Tensor &t, const Tensor &here) {
  const T *values = here.as<T>();
  const int64_t n = here.span();
  BadValues bad;
  for (int64_t i = 0; i < n; ++i) {
    const double value = double(values[i]);
    if (std::isfinite(value) || is_between_rows(t, i) || bad.count++ > 0)
      continue;
    bad.tensor = t;
    bad.at = place_of(t, i);
    bad.value = value;
  }
  if (bad.count == 0)
    return std::nullopt;
  return bad;
}

} // namespace

std::optional<BadValues> find_bad_values(const Tensor &tensor) {
  if (tensor.elements() == 0)
    return std::nullopt;
  switch (tensor.type) {
  case DType::f32:
  case DType::f64:
  case DType::bf16:
  case DType::f16:
    break;
  default:
    return std::nullopt;
  }
  finish_target();
  const HostTensor copy(tensor, HostTensor::Contents::copied);
  const Tensor &here = copy.tensor();
  const int64_t n = here.span();
  switch (tensor.type) {
  case DType::f64:
    if (all_below<uint64_t>(here.data, n, uint64_t(0x7ff) << 52))
      return std::nullopt;
    return find_bad<double>(tensor, here);
  case DType::bf16:
    if (all_below<uint16_t>(here.data, n, 0x7f80))
      return std::nullopt;
    return find_bad<BFloat16>(tensor, here);
  case DType::f16:
    if (all_below<uint16_t>(here.data, n, 0x7c00))
      return std::nullopt;
    return find_bad<Float16>(tensor, here);
  default:
    if (all_below<uint32_t>(here.data, n, 0x7f800000))
      return std::nullopt;
    return find_bad<float>(tensor, here);
  }
}

std::string to_string(const BadValues &bad) {
  const Tensor &t = bad.tensor;
  const std::string shape = to_string(t.rank, t.shape),
                    global = to_string(t.rank, t.global);
  std::string text = "shape " + shape;
  if (shape != global)
    text += " at " + to_string(t.rank, t.lo) + " of " + global;
  return text + ": element " + to_string(t.rank, bad.at) + " is " +
         (std::isnan(bad.value) ? "nan"
          : bad.value > 0       ? "inf"
                                : "-inf") +
         ", " + std::to_string(bad.count) + " of " +
         std::to_string(t.elements()) + " are not finite";
}

void ResultCheck::begin_step() {
  statement = 0;
  found.reset();
  bad.clear();
}

void ResultCheck::look(std::size_t task, int result, const Tensor &tensor) {
  if (usual.count(task))
    return;
  const std::optional<BadValues> values = find_bad_values(tensor);
  if (!values)
    return;
  bad.insert(task);
  if (found)
    return;
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  found = Finding{task, result, *values, by_clock ? now : statement};
}

void ResultCheck::accept() { usual.insert(bad.begin(), bad.end()); }

} // namespace ffrt
