//===- attention.cpp - attention by our kernels and by cuDNN --------------===//
//
// Times of both for the same operands, how far results of cuDNN are from ours,
// and whether they are the same bits in every run, which is what programs
// promise and cuDNN does not say of its engines.
//
//===----------------------------------------------------------------------===//
#include "attention_shapes.h"
#include "measure.h"

#include "cuda/plans/plan_timer.h"
#include "ffrt/attention.h"
#include "ffrt/bfloat16.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"

#include <cmath>
#include <string>

using namespace ffrt;
using namespace ffrt::cuda;

namespace {

using Mask = AttentionShape::Mask;
using Floats = std::vector<float>;

constexpr float kHidden = -10000;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

template <class T> Floats widened(const void *from, std::size_t n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), from, n * sizeof(T), cudaMemcpyDeviceToHost));
  return Floats(values.begin(), values.end());
}
template <class T> void write(void *to, const Floats &values) {
  std::vector<T> narrow;
  for (float value : values)
    narrow.push_back(T(value));
  CHECK(cudaMemcpy(to, narrow.data(), narrow.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
}

/// A tensor in memory of the device.
class Operand {
public:
  Operand(DType type, Index shape) : memory(bytes_of(type, shape)) {
    tensor.data = memory.as<void>();
    tensor.type = type;
    tensor.rank = 1;
    while (tensor.rank < 4 && shape[tensor.rank] > 0)
      ++tensor.rank;
    tensor.shape = tensor.global = shape;
  }

  const Tensor &get() const { return tensor; }
  Floats values() const {
    const auto n = std::size_t(tensor.elements());
    return tensor.type == DType::bf16  ? widened<BFloat16>(tensor.data, n)
           : tensor.type == DType::f16 ? widened<Float16>(tensor.data, n)
                                       : widened<float>(tensor.data, n);
  }
  void set(const Floats &values) {
    if (tensor.type == DType::bf16)
      write<BFloat16>(tensor.data, values);
    else if (tensor.type == DType::f16)
      write<Float16>(tensor.data, values);
    else
      write<float>(tensor.data, values);
  }
  /// From -1 to 1.
  void draw(uint32_t state) {
    Floats values(std::size_t(tensor.elements()));
    for (float &value : values) {
      state = state * 1664525 + 1013904223;
      value = float(int32_t(state)) * 0x1p-31f;
    }
    set(values);
  }

private:
  static std::size_t bytes_of(DType type, const Index &shape) {
    std::size_t bytes = size_of(type);
    for (int d = 0; d < 4 && shape[d] > 0; ++d)
      bytes *= std::size_t(shape[d]);
    return bytes;
  }

  DeviceMemory memory;
  Tensor tensor;
};

/// |found - expected| / |expected|, or -1 where numbers are missing.
double distance(const Floats &found, const Floats &expected) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = double(found[i]) - double(expected[i]);
    off += difference * difference;
    all += double(expected[i]) * double(expected[i]);
  }
  const double ratio = std::sqrt(off / all);
  return std::isfinite(ratio) ? ratio : -1;
}

//===----------------------------------------------------------------------===//
// A shape
//===----------------------------------------------------------------------===//

/// All tensors of a shape, and what our kernels and the library make of them.
class Attention {
public:
  explicit Attention(const ModelAttention &of)
      : of(of), s(of.shape), q(s.operand_type, heads()),
        k(s.operand_type, heads()), v(s.operand_type, heads()),
        dy(s.operand_type, heads()), y(DType::f32, heads()),
        dq(DType::f32, heads()), dk(DType::f32, heads()),
        dv(DType::f32, heads()), lse(DType::f32, sums()),
        library_y(s.y, heads()), library_dq(s.y, heads()),
        library_dk(s.y, heads()), library_dv(s.y, heads()),
        library_lse(DType::f32, sums()),
        mask(DType::f32, s.mask == Mask::causal
                             ? Index{s.rows, s.keys}
                             : Index{s.samples, 1, 1, s.keys}) {
    uint32_t seed = 0;
    for (Operand *operand : {&q, &k, &v, &dy})
      operand->draw(++seed);
    mask.set(mask_values());
  }

  void run() {
    const Tensor none;
    const Tensor &given = s.mask == Mask::none ? none : mask.get();
    const Reals replaced =
        s.mask == Mask::causal ? Reals{double(kHidden)} : Reals{};
    Context cx;
    AttentionForward forward(cx, {q.get(), k.get(), v.get(), given},
                             {y.get(), lse.get()}, s.mask == Mask::causal,
                             replaced, 0, 0.0, scale());
    report("forward", 4, seconds_of([&] {
             forward({q.get(), k.get(), v.get(), given}, {y.get(), lse.get()});
           }));
    // cuDNN starts from the same as our kernel.
    library_y.set(y.values());
    library_lse.set(lse.values());
    AttentionBackward backward(
        cx, {q.get(), k.get(), v.get(), y.get(), lse.get(), dy.get(), given},
        {dq.get(), dk.get(), dv.get()}, s.mask == Mask::causal, replaced, 0,
        0.0, scale());
    report("backward", 10, seconds_of([&] {
             backward({q.get(), k.get(), v.get(), y.get(), lse.get(), dy.get(),
                       given},
                      {dq.get(), dk.get(), dv.get()});
           }));
    plans("backward", 10, of.gradient(),
          {q.get(), k.get(), v.get(), library_y.get(), library_lse.get(),
           dy.get(), given},
          {{&library_dq, &dq}, {&library_dk, &dk}, {&library_dv, &dv}});
    plans("forward", 4, s, {q.get(), k.get(), v.get(), given},
          {{&library_y, &y}, {&library_lse, &lse}});
  }

private:
  /// What cuDNN writes, and what it is expected to be.
  struct Result {
    Operand *found, *expected;
  };

  Index heads() const { return {s.samples, s.rows, s.heads, s.width}; }
  Index sums() const { return {s.samples, s.heads, s.rows}; }
  double scale() const { return double(s.scale); }
  std::string name() const { return std::string(of.model) + ": " + text_of(s); }

  /// 1 where a position is later, or what hides the last quarter of them.
  Floats mask_values() const {
    Floats values(std::size_t(mask.get().elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int64_t position = int64_t(i) % s.keys, row = int64_t(i) / s.keys;
      if (s.mask == Mask::causal)
        values[i] = position > row;
      else
        values[i] = position >= s.keys * 3 / 4 ? kHidden : 0.0f;
    }
    return values;
  }

  /// Prints a line. `products` are flops for each product of a score and the
  /// width; half of the scores count where later positions are hidden.
  void report(const char *direction, double products, double seconds,
              const std::string &more = "\"by\": \"ours\"") const {
    const double scores = double(s.samples) * double(s.heads) * double(s.rows) *
                          double(s.keys) / (s.mask == Mask::causal ? 2 : 1);
    std::printf("{\"what\": \"attention\", \"shape\": \"%s\", \"direction\": "
                "\"%s\", %s, \"ms\": %.5f, \"tflop_per_s\": %.1f}\n",
                name().c_str(), direction, more.c_str(), seconds * 1e3,
                scores * double(s.width) * products / seconds / 1e12);
  }

  /// Every engine that cuDNN proposes.
  void plans(const char *direction, double products,
             const AttentionShape &shape, const std::vector<Tensor> &in,
             const std::vector<Result> &results) {
    std::vector<Tensor> out;
    for (const Result &result : results)
      out.push_back(result.found->get());
    auto failed = [&](const std::string &by, const Error &error) {
      std::printf("{\"what\": \"attention\", \"shape\": \"%s\", "
                  "\"direction\": \"%s\", %s, \"ms\": null, \"error\": "
                  "\"%s\"}\n",
                  name().c_str(), direction, by.c_str(), error.what());
    };
    try {
      AttentionLibrary library(shape);
      const std::vector<std::string> algorithms = library.algorithms();
      for (std::size_t algorithm = 0; algorithm < algorithms.size();
           ++algorithm) {
        const std::string by =
            "\"by\": \"cuDNN, " + algorithms[algorithm] + "\"";
        try {
          library.take(algorithm);
          const DeviceMemory scratch(library.scratch());
          auto work = [&] {
            library(in.data(), out.data(), scratch.as<char>());
          };
          const double seconds = seconds_of(work);
          report(direction, products, seconds,
                 by + ", \"scratch_mb\": " +
                     std::to_string(double(library.scratch()) / 1e6) +
                     compared(work, results));
        } catch (const Error &error) {
          failed(by, error);
        }
      }
    } catch (const Error &error) {
      failed("\"by\": \"cuDNN\"", error);
    }
  }

  /// How far each result is from ours, and whether three runs are alike.
  template <class F>
  std::string compared(F &work, const std::vector<Result> &results) {
    std::vector<Floats> first;
    std::string text = ", \"off\": [";
    bool same = true;
    for (int run = 0; run < 3; ++run) {
      work();
      device().finish();
      for (std::size_t i = 0; i < results.size(); ++i) {
        const Floats found = results[i].found->values();
        if (run > 0) {
          same = same && found == first[i];
          continue;
        }
        first.push_back(found);
        text += (i ? ", " : "") +
                std::to_string(distance(found, results[i].expected->values()));
      }
    }
    return text + "], \"same_bits\": " + (same ? "true" : "false");
  }

  const ModelAttention of;
  const AttentionShape s;
  Operand q, k, v, dy;
  Operand y, dq, dk, dv, lse; ///< ours
  Operand library_y, library_dq, library_dk, library_dv, library_lse;
  Operand mask;
};

} // namespace

int main() {
  try {
    for (const ModelAttention &attention : attention_shapes())
      Attention(attention).run();
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
