//===- attention.cpp - attention by our kernels and by cuDNN --------------===//
//
// Times of both for the same operands, how far results of cuDNN are from ours,
// and whether they are the same bits in every run, which is what programs
// promise and cuDNN does not say of its engines.
//
//===----------------------------------------------------------------------===//
#include "attention_graph.h"
#include "measure.h"

#include "cuda/plan_timer.h"
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
namespace at = attention_tensor;

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

/// All tensors of a shape, and what both ways make of them.
class Attention {
public:
  explicit Attention(const AttentionShape &s)
      : s(s), q(s.factors, heads()), k(s.factors, heads()),
        v(s.factors, heads()), dy(s.factors, heads()), y(DType::f32, heads()),
        dq(DType::f32, heads()), dk(DType::f32, heads()),
        dv(DType::f32, heads()), lse(DType::f32, sums()),
        library_y(s.results, heads()), library_dq(s.results, heads()),
        library_dk(s.results, heads()), library_dv(s.results, heads()),
        library_lse(DType::f32, sums()), product(DType::f32, sums()),
        mask(DType::f32, s.mask == Mask::causal
                             ? Index{s.positions, s.positions}
                             : Index{s.samples, 1, 1, s.positions}) {
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
                             {y.get(), lse.get()}, replaced, 0, 0.0, scale());
    report("forward", 4, seconds_of([&] {
             forward({q.get(), k.get(), v.get(), given}, {y.get(), lse.get()});
           }));
    // cuDNN starts from the same as our kernel.
    library_y.set(y.values());
    library_lse.set(lse.values());
    AttentionBackward backward(
        cx, {q.get(), k.get(), v.get(), y.get(), lse.get(), dy.get(), given},
        {dq.get(), dk.get(), dv.get()}, replaced, 0, 0.0, scale());
    report("backward", 10, seconds_of([&] {
             backward({q.get(), k.get(), v.get(), y.get(), lse.get(), dy.get(),
                       given},
                      {dq.get(), dk.get(), dv.get()});
           }));
    plans("backward", 10, attention_backward_graph(s),
          {{&library_dq, &dq}, {&library_dk, &dk}, {&library_dv, &dv}});
    plans("forward", 4, attention_forward_graph(s),
          {{&library_y, &y}, {&library_lse, &lse}});
  }

private:
  /// What cuDNN writes, and what it is expected to be.
  struct Result {
    Operand *found, *expected;
  };

  Index heads() const { return {s.samples, s.positions, s.heads, s.width}; }
  Index sums() const { return {s.samples, s.heads, s.positions}; }
  double scale() const { return 1.0 / std::sqrt(double(s.width)); }

  /// 1 where a position is later, or what hides the last quarter of them.
  Floats mask_values() const {
    Floats values(std::size_t(mask.get().elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int64_t position = int64_t(i) % s.positions,
                    row = int64_t(i) / s.positions;
      if (s.mask == Mask::causal)
        values[i] = position > row;
      else
        values[i] = position >= s.positions * 3 / 4 ? kHidden : 0.0f;
    }
    return values;
  }

  /// Prints a line. `products` are flops for each product of a score and the
  /// width; half of the scores count where later positions are hidden.
  void report(const char *direction, double products, double seconds,
              const std::string &more = "\"by\": \"ours\"") const {
    const double scores = double(s.samples) * double(s.heads) *
                          double(s.positions) * double(s.positions) /
                          (s.mask == Mask::causal ? 2 : 1);
    std::printf("{\"what\": \"attention\", \"shape\": \"%s\", \"direction\": "
                "\"%s\", %s, \"ms\": %.5f, \"tflop_per_s\": %.1f}\n",
                text_of(s).c_str(), direction, more.c_str(), seconds * 1e3,
                scores * double(s.width) * products / seconds / 1e12);
  }

  /// Every engine that cuDNN proposes.
  void plans(const char *direction, double products, CudnnGraph graph,
             const std::vector<Result> &results) {
    for (const CudnnProposal &proposal :
         graph.proposals(CudnnFactors::narrow)) {
      const std::string by = "\"by\": \"cuDNN, " + proposal.name + "\"";
      try {
        CudnnPlan plan(proposal);
        const DeviceMemory workspace(plan.workspace() + 1);
        auto work = [&] { plan(tensors(), workspace.as<void>()); };
        const double seconds = seconds_of(work);
        report(direction, products, seconds,
               by + ", \"workspace_mb\": " +
                   std::to_string(double(plan.workspace()) / 1e6) +
                   compared(work, results));
      } catch (const Error &error) {
        std::printf("{\"what\": \"attention\", \"shape\": \"%s\", "
                    "\"direction\": \"%s\", %s, \"ms\": null, \"error\": "
                    "\"%s\"}\n",
                    text_of(s).c_str(), direction, by.c_str(), error.what());
      }
    }
  }

  CudnnPlan::Tensors tensors() {
    CudnnPlan::Tensors all{};
    auto give = [&](int64_t id, const Operand &operand) {
      all[std::size_t(id)] = operand.get().data;
    };
    give(at::q, q);
    give(at::k, k);
    give(at::v, v);
    give(at::y, library_y);
    give(at::lse, library_lse);
    give(at::dy, dy);
    give(at::dq, library_dq);
    give(at::dk, library_dk);
    give(at::dv, library_dv);
    give(at::mask, mask);
    give(at::product, product);
    all[at::scale] = &scale_number;
    all[at::one] = &one;
    all[at::hidden] = &infinity;
    return all;
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

  const AttentionShape s;
  Operand q, k, v, dy;
  Operand y, dq, dk, dv, lse; ///< ours
  Operand library_y, library_dq, library_dk, library_dv, library_lse, product;
  Operand mask;
  float scale_number = float(scale()), one = 1, infinity = -HUGE_VALF;
};

} // namespace

int main() {
  try {
    for (const AttentionShape &shape : attention_shapes())
      Attention(shape).run();
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
