//===- update_queue.h - updates of many parameters at once ------*- C++ -*-===//
//
// Updates by one rule that follow each other are one launch: most parameters of
// a model are so small that starting a kernel takes longer than running it.
// Rules are those of common/optimizer/update_rules.h.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_UPDATE_QUEUE_H
#define FFRT_CUDA_UPDATE_QUEUE_H

#include "common/optimizer/update_rules.h"
#include "cuda/optimizer/step_numbers.h"
#include "ffrt/bfloat16.h"
#include "ffrt/cuda/chunks.h"
#include "ffrt/cuda/footprint.h"
#include "ffrt/float16.h"

#include <utility>

namespace ffrt::cuda {

/// One parameter, and its slots of type T.
template <int Slots, class T> struct Update {
  float *w;
  T *slots[Slots > 0 ? Slots : 1];
  const float *gradient, *scale;
  rules::OwnRates rates;
  /// Where the parameter is wanted rounded, or null: to f16 or else bf16.
  void *rounded = nullptr;
  int64_t n;
  bool is_f16 = false;
  bool grouped;

  Update() = default;
  Update(float *w, const float *gradient, const float *scale,
         const rules::OwnRates &rates, int64_t n)
      : w(w), gradient(gradient), scale(scale), rates(rates), n(n) {}
};

template <class T>
__device__ void write_rounded(void *to, const Span &span,
                              const Group<float> &values) {
  Group<T> rounded;
  FFRT_UNROLL
  for (int i = 0; i < kGroup; ++i)
    rounded[i] = T(values[i]);
  write(static_cast<T *>(to), span, rounded);
}

template <class Rule, class T> struct UpdateTable {
  using Parameter = Update<Rule::kSlots, T>;
  static constexpr int kMost =
      int((kParameterBytes - sizeof(Rule) - 64) / (sizeof(Parameter) + 4));

  Rule rule;
  const Scalars *now;
  const float *skipped; ///< steps; null: none
  Chunks<kMost> chunks;
  Parameter of[kMost];
};

/// S: the slots from 0 on.
template <class Rule, class T, std::size_t... S>
__device__ void update_group(const Rule &rule, const typename Rule::Step &step,
                             float scale, const Group<float> &gradient,
                             Group<float> &w, Group<T> *slots,
                             std::index_sequence<S...>) {
  FFRT_UNROLL
  for (int i = 0; i < kGroup; ++i) {
    float here[] = {w[i], float(slots[S][i])...};
    rule(step, scale, gradient[i], here[0], here[1 + S]...);
    w[i] = here[0];
    ((slots[S][i] = T(here[1 + S])), ...);
  }
}

template <class Rule, class T>
__global__ void
update_kernel(const __grid_constant__ UpdateTable<Rule, T> table) {
  constexpr int kSlots = Rule::kSlots;
  __shared__ typename Rule::Step step;
  if (threadIdx.x == 0)
    step = table.rule.step(numbers_of(*table.now, table.skipped));
  __syncthreads();
  for (int chunk = int(blockIdx.x); chunk < table.chunks.total();
       chunk += int(gridDim.x)) {
    const int which = table.chunks.array_of(chunk);
    const Update<kSlots, T> &p = table.of[which];
    const float scale = Rule::scale(p.scale);
    if (Rule::skips(scale))
      continue;
    typename Rule::Step own = step;
    own.of(p.rates);
    table.chunks.for_spans(chunk, which, p.n, p.grouped, [&](const Span &span) {
      const Group<float> gradient = read(p.gradient, span);
      Group<float> w = read(p.w, span);
      Group<T> slots[kSlots > 0 ? kSlots : 1];
      FFRT_UNROLL
      for (int s = 0; s < kSlots; ++s)
        slots[s] = read(p.slots[s], span);
      update_group(table.rule, own, scale, gradient, w, slots,
                   std::make_index_sequence<kSlots>());
      write(p.w, span, w);
      FFRT_UNROLL
      for (int s = 0; s < kSlots; ++s)
        write(p.slots[s], span, slots[s]);
      if (p.rounded && p.is_f16)
        write_rounded<Float16>(p.rounded, span, w);
      else if (p.rounded)
        write_rounded<BFloat16>(p.rounded, span, w);
    });
  }
}

template <class Rule, class T> class UpdateQueue final : public Deferred {
public:
  using Parameter = Update<Rule::kSlots, T>;

  void add(const Rule &rule, const Scalars *now, const float *skipped,
           Parameter parameter) {
    if (parameter.n == 0)
      return;
    Footprint::Task task;
    // What a scale is made of: two numbers at most.
    task.reads = {{parameter.gradient, parameter.n}, {parameter.scale, 2}};
    task.writes.push_back({parameter.w, parameter.n});
    parameter.grouped =
        begins_group(parameter.gradient) && begins_group(parameter.w);
    for (int s = 0; s < Rule::kSlots; ++s) {
      task.writes.push_back({parameter.slots[s], parameter.n});
      parameter.grouped &= begins_group(parameter.slots[s]);
    }
    const auto *rounded = static_cast<const BFloat16 *>(parameter.rounded);
    task.writes.push_back({rounded, parameter.n});
    parameter.grouped &= begins_group(rounded);
    if (!device().has_deferred(*this) || !(table.rule == rule) ||
        table.skipped != skipped || table.chunks.full() ||
        !footprint.allows(task)) {
      device().defer(*this);
      table.rule = rule;
      table.now = now;
      table.skipped = skipped;
    }
    table.of[table.chunks.arrays()] = parameter;
    table.chunks.add(parameter.n);
    footprint.add(task);
  }

  void start() override {
    launch(blocks_for(table.chunks.total(), 1), kThreads,
           update_kernel<Rule, T>, table);
    table.chunks.clear();
    footprint.clear();
  }

private:
  static_assert(sizeof(UpdateTable<Rule, T>) <= kParameterBytes);
  UpdateTable<Rule, T> table;
  Footprint footprint;
};

/// Updates a parameter, now or together with those that follow. `skipped`: so
/// many steps have been, or null.
template <class Rule, class T>
void update(const Rule &rule, const Scalars *now, const float *skipped,
            const Update<Rule::kSlots, T> &parameter) {
  static UpdateQueue<Rule, T> queue;
  queue.add(rule, now, skipped, parameter);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_UPDATE_QUEUE_H
