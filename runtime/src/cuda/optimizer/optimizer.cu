//===- optimizer.cu - parameter updates -----------------------------------===//
#include "ffrt/optimizer.h"

#include "cuda/optimizer/update_queue.h"

namespace ffrt {

using rules::Scale;

namespace {

/// Operands w, g, what R::scale() takes, and slots of type T; results as
/// ffrt/optimizer.h says.
template <class T, class R>
void update_with(const R &rule, const Context &cx, Tensors in, Tensors out,
                 const float *skipped) {
  const auto data = [&](int i) { return in.begin()[i].as<float>(); };
  const UpdateRates rates = R::kHasRates ? cx.rates_of(data(0)) : UpdateRates();
  cuda::Update<R::kSlots, T> parameter(data(0), data(1), data(2),
                                       rules::OwnRates(rates),
                                       in.begin()[0].elements());
  for (int s = 0; s < R::kSlots; ++s)
    parameter.slots[s] = in.begin()[3 + s].as<T>();
  if (has_rounded(in, out)) {
    const Tensor &rounded = out.begin()[out.size() - 1];
    parameter.rounded = rounded.data;
    parameter.is_f16 = rounded.type == DType::f16;
  }
  cuda::update(rule, cuda::device().scalars(cx), skipped, parameter);
}

template <class R>
void update(const R &rule, const Context &cx, Tensors in, Tensors out,
            const float *skipped = nullptr) {
  if constexpr (R::kSlots > 0)
    if (in.begin()[3].type == DType::bf16)
      return update_with<BFloat16>(rule, cx, in, out, skipped);
  update_with<float>(rule, cx, in, out, skipped);
}

} // namespace

void SgdUpdate::operator()(Tensors in, Tensors out) {
  if (in.size() == 3)
    update(rules::Sgd(), cx, in, out);
  else
    update(rules::Momentum(momentum, nesterov), cx, in, out);
}

void AdamUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adam(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void AdamwUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adamw(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void HfAdamwUpdate::operator()(Tensors in, Tensors out) {
  update(rules::HfAdamw(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void LionUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Lion(beta1, beta2), cx, in, out);
}

void EmaUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Ema(decay), cx, in, out);
}

void AdagradUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Adagrad(epsilon), cx, in, out);
}

void RmspropUpdate::operator()(Tensors in, Tensors out) {
  const rules::RmspropNumbers by{alpha, epsilon, momentum};
  if (in.size() == 4)
    update(rules::Rmsprop(by), cx, in, out);
  else
    update(rules::RmspropMomentum(by), cx, in, out);
}

void LambUpdate::operator()(Tensors in, Tensors out) {
  update(rules::Lamb(), cx, in, out);
}

} // namespace ffrt
