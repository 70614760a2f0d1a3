//===- optimizer_program.cpp - runs updates on numbers from outside -------===//
//
// For optimizers.py. Standard input: the optimizer, its numbers in the order of
// the kernel's, "rate", "decay", the steps done before, the number of steps, of
// slots and of elements; then w, the slots, and a gradient per step, all as
// text. Standard output: w and the slots after every step, a line each.
//
//===----------------------------------------------------------------------===//
#include "ffrt/optimizer.h"

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace ffrt;

namespace {

std::vector<double> numbers(std::size_t count) {
  std::vector<double> result(count);
  for (double &number : result)
    std::cin >> number;
  return result;
}

/// One update of operands {w, g, scale, slots...}.
using Update = std::function<void(Context &, const std::vector<double> &,
                                  const std::vector<Tensor> &)>;

template <class Kernel, class... Numbers>
void run(Context &cx, const std::vector<Tensor> &t, Numbers... numbers) {
  if (t.size() == 3) {
    Kernel(cx, {t[0], t[1], t[2]}, {t[0]}, numbers...)({t[0], t[1], t[2]},
                                                       {t[0]});
  } else if (t.size() == 4) {
    Kernel kernel(cx, {t[0], t[1], t[2], t[3]}, {t[0], t[3]}, numbers...);
    kernel({t[0], t[1], t[2], t[3]}, {t[0], t[3]});
  } else {
    Kernel kernel(cx, {t[0], t[1], t[2], t[3], t[4]}, {t[0], t[3], t[4]},
                  numbers...);
    kernel({t[0], t[1], t[2], t[3], t[4]}, {t[0], t[3], t[4]});
  }
}

/// By name: how many numbers it has, and how it is run.
const std::map<std::string, std::pair<int, Update>> updates = {
    {"sgd",
     {2,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) {
        run<SgdUpdate>(cx, t, n[0], int64_t(n[1]));
      }}},
    {"adam",
     {3,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) {
        run<AdamUpdate>(cx, t, n[0], n[1], n[2]);
      }}},
    {"adamw",
     {3,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) {
        run<AdamwUpdate>(cx, t, n[0], n[1], n[2]);
      }}},
    {"hf_adamw",
     {3,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) {
        run<HfAdamwUpdate>(cx, t, n[0], n[1], n[2]);
      }}},
    {"adagrad",
     {1,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) { run<AdagradUpdate>(cx, t, n[0]); }}},
    {"rmsprop",
     {3,
      [](Context &cx, const std::vector<double> &n,
         const std::vector<Tensor> &t) {
        run<RmspropUpdate>(cx, t, n[0], n[1], n[2]);
      }}},
};

} // namespace

int main() {
  std::string name;
  std::cin >> name;
  const auto &[count, update] = updates.at(name);
  const std::vector<double> hyper = numbers(std::size_t(count));
  Context cx;
  int64_t steps = 0, slots = 0, elements = 0;
  std::cin >> cx.learning_rate >> cx.weight_decay >> cx.step >> steps >>
      slots >> elements;
  // w, the gradient, no scale, the slots.
  std::vector<std::vector<float>> data(std::size_t(3 + slots));
  std::vector<Tensor> tensors(data.size());
  auto read = [&](std::size_t i) {
    const std::vector<double> values = numbers(std::size_t(elements));
    data[i].assign(values.begin(), values.end());
    tensors[i].data = data[i].data();
    tensors[i].rank = 1;
    tensors[i].shape = tensors[i].global = {elements};
  };
  read(0);
  for (std::size_t i = 3; i < data.size(); ++i)
    read(i);
  for (; steps-- > 0; ++cx.step) {
    read(1);
    update(cx, hyper, tensors);
    for (std::size_t i = 0; i < data.size(); ++i)
      if (i == 0 || i > 2) {
        for (float value : data[i])
          std::printf("%.9g ", double(value));
        std::printf("\n");
      }
  }
  return std::cin ? 0 : 1;
}
