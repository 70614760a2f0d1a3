//===- synthetic.cpp - random inputs --------------------------------------===//
#include "common/data/source.h"
#include "common/kernels/check.h"
#include "common/kernels/random.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/hash.h"

namespace ffrt {

namespace {

/// Uniform in +-sqrt(3), which has variance 1.
float real(uint32_t word) {
  return (2.0f * unit_interval(word) - 1.0f) * 1.7320508f;
}

/// Uniform in [0, range).
struct Below {
  uint64_t range;
  uint64_t operator()(uint32_t word) const { return (word * range) >> 32; }
};

class Synthetic final : public Source {
public:
  Synthetic(const ProgramInfo &info, uint64_t seed) : info(info), seed(seed) {}

  void fill(int64_t step, std::size_t index, const Tensor &t) override {
    const InputInfo &input = info.inputs[index];
    const uint64_t range = input.classes > 0 ? uint64_t(input.classes) : 2;
    switch (t.type) {
    case DType::f32:
      return fill_real<float>(step, input, t);
    case DType::f64:
      return fill_real<double>(step, input, t);
    case DType::i32:
      return fill_as<int32_t>(step, input, t, Below{range});
    case DType::i64:
      return fill_as<int64_t>(step, input, t, Below{range});
    case DType::u8:
    case DType::boolean:
      return fill_as<uint8_t>(step, input, t, Below{range});
    case DType::bf16:
      return fill_real<BFloat16>(step, input, t);
    case DType::f16:
      return fill_real<Float16>(step, input, t);
    }
  }

private:
  /// Of reals, or of whole numbers where the program reads them so.
  template <class T>
  void fill_real(int64_t step, const InputInfo &input, const Tensor &t) {
    if (input.classes == 0)
      return fill_as<T>(step, input, t, real);
    const Below below{uint64_t(input.classes)};
    fill_as<T>(step, input, t,
               [=](uint32_t word) { return float(below(word)); });
  }

  template <class T, class F>
  void fill_as(int64_t step, const InputInfo &input, const Tensor &t, F f) {
    T *to = t.as<T>();
    for_random_words(
        t, seed ^ hash_name(input.name), uint64_t(step),
        [=](int64_t at, int64_t stride, const uint32_t *words, int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            to[at + i * stride] = T(f(words[i]));
        });
  }

  const ProgramInfo &info;
  uint64_t seed;
};

} // namespace

std::unique_ptr<Source> make_synthetic(const ProgramInfo &info, uint64_t seed) {
  return std::make_unique<Synthetic>(info, seed);
}

} // namespace ffrt
