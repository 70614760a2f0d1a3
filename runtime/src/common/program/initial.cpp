//===- initial.cpp - first contents of state values -----------------------===//
#include "common/program/initial.h"

#include "common/checkpoint/global_state.h"
#include "common/data/load.h"
#include "common/device/host_tensor.h"
#include "common/elementwise/cast.h"
#include "common/kernels/check.h"
#include "common/kernels/random.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/hash.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace ffrt {

namespace {

void fill_constant(const Tensor &t, double value) {
  int64_t n = t.elements();
  switch (t.type) {
  case DType::f32:
    std::fill_n(t.as<float>(), n, float(value));
    return;
  case DType::f64:
    std::fill_n(t.as<double>(), n, value);
    return;
  case DType::i32:
    std::fill_n(t.as<int32_t>(), n, int32_t(value));
    return;
  case DType::i64:
    std::fill_n(t.as<int64_t>(), n, int64_t(value));
    return;
  case DType::u8:
  case DType::boolean:
    std::fill_n(t.as<uint8_t>(), n, uint8_t(value));
    return;
  case DType::bf16:
    std::fill_n(t.as<BFloat16>(), n, BFloat16(float(value)));
    return;
  case DType::f16:
    std::fill_n(t.as<Float16>(), n, Float16(float(value)));
    return;
  }
}

void fill_uniform(const Tensor &t, uint64_t key, float bound) {
  Real *to = t.as<Real>();
  for_random_words(
      t, key, 0,
      [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          to[at + i * stride] = (2.0f * unit_interval(words[i]) - 1.0f) * bound;
      });
}

/// One of the two normal values that a pair of words gives.
float normal(uint32_t first, uint32_t second, bool odd) {
  // (0, 1], so that the logarithm is finite.
  float u = float((first >> 8) + 1) * 0x1p-24f;
  float radius = std::sqrt(-2.0f * std::log(u));
  float angle = 6.28318530718f * unit_interval(second);
  return radius * (odd ? std::sin(angle) : std::cos(angle));
}

/// Of every element, f(where it lies, its global number), on threads. Each row
/// has an f of its own, which may remember its neighbours.
template <class F> void for_numbers(const Tensor &t, const F &f) {
  const Index numbers = global_strides(t);
  int64_t origin = 0;
  for (int d = 0; d < t.rank; ++d)
    origin += t.lo[d] * numbers[d];
  const Nest<2> nest(t.rank, t.shape, {t.strides(), numbers});
  const Nest<2>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    F own = f;
    for (int64_t i = 0; i < n; ++i)
      own(at[0] + i * s[0], origin + at[1] + i * s[1]);
  });
}

void fill_normal(const Tensor &t, uint64_t key, float deviation) {
  Real *to = t.as<Real>();
  for_numbers(t, [=, loaded = ~uint64_t(0), words = std::array<uint32_t, 4>()](
                     int64_t at, int64_t number) mutable {
    const auto e = uint64_t(number);
    if (e / 4 != loaded) {
      loaded = e / 4;
      words = philox(key, loaded, 0);
    }
    const uint32_t *pair = words.data() + e % 4 / 2 * 2;
    to[at] = deviation * normal(pair[0], pair[1], e % 2);
  });
}

void fill_positions(const Tensor &t, double first) {
  Real *to = t.as<Real>();
  for_numbers(t, [=](int64_t at, int64_t number) {
    to[at] = Real(first + double(number));
  });
}

void fill_triangle(const Tensor &t, bool upper, Real value) {
  Real *to = t.as<Real>();
  const int64_t columns = t.global[t.rank - 1], rows = t.global[t.rank - 2];
  for_numbers(t, [=](int64_t at, int64_t number) {
    const bool above = number % columns > number / columns % rows;
    to[at] = above == upper ? value : 0.0f;
  });
}

/// Where the initial values of states come from.
class Initial {
public:
  Initial(uint64_t seed, const WeightsPlace &weights, const Saved &saved)
      : seed(seed), weights(weights), saved(saved) {}
  void fill(const StateSlot &slot);

private:
  void load(const StateSlot &slot);
  void load_saved(const StateSlot &slot);
  void fill_copy(const StateSlot &slot);

  const uint64_t seed;
  const WeightsPlace &weights;
  const Saved saved;
  std::unique_ptr<WeightsFile> file; ///< the weights, opened when needed
};

void Initial::load(const StateSlot &slot) {
  const Tensor &t = slot.tensor;
  if (!file)
    file = std::make_unique<WeightsFile>(weights);
  // Numbers of f64 are f32 there.
  const DType type = t.type == DType::f64 ? DType::f32 : t.type;
  if (t.elements() == 0)
    return;
  // From the first element of the box to the last one.
  const auto size = int64_t(size_of(type));
  const Index numbers = global_strides(t);
  int64_t first = 0, last = 0;
  for (int d = 0; d < t.rank; ++d) {
    first += t.lo[d] * numbers[d];
    last += (t.lo[d] + t.shape[d] - 1) * numbers[d];
  }
  load_box(
      t,
      file->read(slot.name, slot.init.offset, first * size, (last + 1) * size),
      type);
}

void Initial::load_saved(const StateSlot &slot) {
  const bool is_parameter = slot.kind == StateKind::parameter;
  try {
    saved.values->load(slot.name, is_parameter, slot.tensor);
  } catch (const Error &error) {
    throw Error(std::string(is_parameter ? "parameter '" : "state '") +
                slot.name + "': " + error.what());
  }
}

/// What the parameter begins with, rounded.
void Initial::fill_copy(const StateSlot &slot) {
  std::vector<Real> wide(std::size_t(slot.tensor.elements()));
  StateSlot of = slot;
  of.name = slot.of;
  of.of = nullptr;
  of.kind = StateKind::parameter;
  of.tensor.type = kReal;
  of.tensor.data = wide.data();
  fill(of);
  with_float(slot.tensor.type, [&](auto *type) {
    using To = std::remove_pointer_t<decltype(type)>;
    std::transform(wide.begin(), wide.end(), slot.tensor.as<To>(),
                   convert<To, Real>);
  });
}

void Initial::fill(const StateSlot &slot) {
  if (saved.values &&
      (saved.all ? is_saved(slot) : slot.kind == StateKind::parameter))
    return load_saved(slot);
  if (slot.of)
    return fill_copy(slot);
  const Tensor &t = slot.tensor;
  const uint64_t key = seed ^ hash_name(slot.name);
  if (slot.init.kind != Init::constant && slot.init.kind != Init::file)
    expect_type(slot.name, "initial value", t, kReal);
  switch (slot.init.kind) {
  case Init::constant:
    return fill_constant(t, slot.init.value);
  case Init::uniform:
    return fill_uniform(t, key, float(slot.init.value));
  case Init::normal:
    return fill_normal(t, key, float(slot.init.value));
  case Init::file:
    return load(slot);
  case Init::positions:
    return fill_positions(t, slot.init.value);
  case Init::upper:
  case Init::lower:
    expect(slot.name, t.rank >= 2,
           "initial value: expected a matrix or several, found rank " +
               std::to_string(t.rank));
    return fill_triangle(t, slot.init.kind == Init::upper,
                         Real(slot.init.value));
  }
}

} // namespace

void initialise(const std::vector<StateSlot> &slots, uint64_t seed,
                const WeightsPlace &weights, const Saved &saved) {
  Initial initial(seed, weights, saved);
  for (const StateSlot &slot : slots) {
    const HostTensor copy(slot.tensor, HostTensor::Contents::none);
    StateSlot here = slot;
    here.tensor = copy.tensor();
    initial.fill(here);
    copy.write_back();
  }
}

void initialise_on_host(const StateSlot &slot, uint64_t seed,
                        const WeightsPlace &weights, const Saved &saved) {
  Initial(seed, weights, saved).fill(slot);
}

} // namespace ffrt
