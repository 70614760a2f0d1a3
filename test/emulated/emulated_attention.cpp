//===- emulated_attention.cpp - attention as plain loops ------------------===//
//
// As with cuDNN, a causal mask is not read.
//
//===----------------------------------------------------------------------===//
#include "cuda/attention/attention_library.h"

#include "common/elementwise/cast.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace ffrt::cuda {

struct AttentionLibrary::Impl {
  AttentionShape shape;
};

AttentionLibrary::AttentionLibrary(const AttentionShape &shape)
    : impl(new Impl{shape}) {}
AttentionLibrary::~AttentionLibrary() = default;
AttentionLibrary::AttentionLibrary(AttentionLibrary &&) noexcept = default;

std::string AttentionLibrary::version() { return "emulated"; }

std::vector<std::string> AttentionLibrary::algorithms() const {
  return {"fails", "plain"};
}

void AttentionLibrary::take(std::size_t algorithm) {
  if (algorithm == 0)
    throw Error("attention: expected another algorithm");
}

namespace {

std::size_t bytes_of_sums(const AttentionShape &s) {
  return std::size_t(s.samples * s.heads * s.rows) * sizeof(float);
}

/// The numbers of a tensor [N, P, H, W].
using Numbers = std::vector<double>;
Numbers read(const Tensor &t) {
  Numbers numbers(std::size_t(t.elements()));
  with_float(t.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::transform(t.as<T>(), t.as<T>() + t.elements(), numbers.begin(),
                   [](T number) { return double(float(number)); });
  });
  return numbers;
}
void write(const Numbers &numbers, const Tensor &t) {
  with_float(t.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    std::transform(numbers.begin(), numbers.end(), t.as<T>(),
                   [](double number) { return T(float(number)); });
  });
}

/// The rows of all heads.
class Loops {
public:
  Loops(const AttentionShape &s, const Tensor &q, const Tensor &k,
        const Tensor &v, const float *mask)
      : s(s), q(read(q)), k(read(k)), v(read(v)), mask(mask) {}

  void attend(Numbers &y, float *lse) const {
    for_rows([&](int64_t n, int64_t h, int64_t t) {
      Numbers p = scores(n, h, t);
      const double top = *std::max_element(p.begin(), p.end());
      double sum = 0;
      for (double &score : p)
        sum += score = std::exp(score - top);
      lse[row(n, h, t)] = float(top + std::log(sum));
      for (int64_t j = 0; j < s.keys; ++j)
        for (int64_t e = 0; e < s.values; ++e)
          y[place(n, t, h, s.rows, s.values) + e] +=
              p[j] / sum * v[place(n, j, h, s.keys, s.values) + e];
    });
  }

  void differentiate(const Numbers &y, const float *lse, const Numbers &dy,
                     Numbers &dq, Numbers &dk, Numbers &dv) const {
    for_rows([&](int64_t n, int64_t h, int64_t t) {
      const std::size_t out = place(n, t, h, s.rows, s.values),
                        in = place(n, t, h, s.rows, s.width);
      const double product = dot(&dy[out], &y[out], s.values);
      const Numbers row_scores = scores(n, h, t);
      for (int64_t j = 0; j < s.keys; ++j) {
        const std::size_t value = place(n, j, h, s.keys, s.values),
                          key = place(n, j, h, s.keys, s.width);
        const double p = std::exp(row_scores[j] - double(lse[row(n, h, t)])),
                     ds = double(s.scale) * p *
                          (dot(&dy[out], &v[value], s.values) - product);
        for (int64_t e = 0; e < s.values; ++e)
          dv[value + e] += p * dy[out + e];
        for (int64_t d = 0; d < s.width; ++d) {
          dq[in + d] += ds * k[key + d];
          dk[key + d] += ds * q[in + d];
        }
      }
    });
  }

private:
  template <class F> void for_rows(F f) const {
    for (int64_t n = 0; n < s.samples; ++n)
      for (int64_t h = 0; h < s.heads; ++h)
        for (int64_t t = 0; t < s.rows; ++t)
          f(n, h, t);
  }
  std::size_t place(int64_t n, int64_t p, int64_t h, int64_t positions,
                    int64_t width) const {
    return std::size_t(((n * positions + p) * s.heads + h) * width);
  }
  std::size_t row(int64_t n, int64_t h, int64_t t) const {
    return std::size_t((n * s.heads + h) * s.rows + t);
  }
  static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += a[i] * b[i];
    return sum;
  }
  double added(int64_t n, int64_t h, int64_t t, int64_t j) const {
    const int64_t at[] = {n, h, t, j};
    int64_t number = 0;
    for (std::size_t d = 0; d < 4; ++d)
      number = number * s.added[d] + (s.added[d] == 1 ? 0 : at[d]);
    return double(mask[number]);
  }
  Numbers scores(int64_t n, int64_t h, int64_t t) const {
    Numbers all(std::size_t(s.keys));
    for (int64_t j = 0; j < s.keys; ++j) {
      all[j] =
          double(s.scale) * dot(&q[place(n, t, h, s.rows, s.width)],
                                &k[place(n, j, h, s.keys, s.width)], s.width);
      if (s.mask == AttentionShape::Mask::added)
        all[j] += added(n, h, t, j);
      else if (s.mask == AttentionShape::Mask::causal && j > t)
        all[j] = -HUGE_VAL;
    }
    return all;
  }

  const AttentionShape &s;
  const Numbers q, k, v;
  const float *const mask;
};

Numbers zeros(const Tensor &t) { return Numbers(std::size_t(t.elements())); }

} // namespace

std::size_t AttentionLibrary::scratch() const {
  return bytes_of_sums(impl->shape);
}

void AttentionLibrary::operator()(const Tensor *given, const Tensor *made,
                                  char *scratch) const {
  const AttentionShape shape = impl->shape;
  const std::vector<Tensor> in(given, given + (shape.backward ? 7 : 4)),
      out(made, made + (shape.backward ? 3 : 2));
  device().start_deferred();
  emulated::compute([=] {
    const Loops loops(shape, in[0], in[1], in[2], in.back().as<float>());
    if (!shape.backward) {
      Numbers y = zeros(out[0]);
      loops.attend(y, out[1].data ? out[1].as<float>()
                                  : reinterpret_cast<float *>(scratch));
      write(y, out[0]);
      return;
    }
    Numbers dq = zeros(out[0]), dk = zeros(out[1]), dv = zeros(out[2]);
    loops.differentiate(read(in[3]), in[4].as<float>(), read(in[5]), dq, dk,
                        dv);
    write(dq, out[0]);
    write(dk, out[1]);
    write(dv, out[2]);
  });
}

} // namespace ffrt::cuda
