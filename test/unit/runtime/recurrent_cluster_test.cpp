//===- recurrent_cluster_test.cpp - layers in clusters as step by step ----===//
//
// On an emulated GPU: clusters of one to eight blocks, the last of which may
// have fewer units, or none, and more samples than a cluster has at once.
//
//===----------------------------------------------------------------------===//
#include "cuda/recurrent/recurrent_layer.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <optional>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Kind {
  const char *name;
  int64_t gates, saved;
  bool is_lstm() const { return gates == 4; }
};
const Kind kinds[] = {{"lstm", 4, 5},
                      {"gru_reset_after", 3, 4},
                      {"rnn_tanh", 1, 1},
                      {"rnn_relu", 1, 1}};

struct Sizes {
  int64_t steps, samples, units;
};
const Sizes sizes[] = {{3, 5, 1},  {2, 4, 15},  {3, 6, 19}, {2, 3, 33},
                       {3, 5, 65}, {2, 5, 101}, {2, 9, 70}, {3, 17, 10}};

/// Operands and results of both directions; what is absent has no data.
struct Layer {
  Kind kind;
  Sizes n;
  bool reverse, whole;
  std::mt19937 random{seed()};
  Context cx;

  Tile drawn(const Shape &shape) {
    const Value value = random_value(shape, random);
    return Tile(value, value.whole());
  }
  static Tile result(const Shape &shape) {
    return blank(shape, Value(shape).whole());
  }
  static std::vector<Tile> results(const std::vector<Shape> &shapes) {
    std::vector<Tile> all;
    for (const Shape &shape : shapes)
      all.push_back(result(shape));
    return all;
  }
  Shape sequence(int64_t vectors) const {
    return {n.steps, n.samples, vectors * n.units};
  }
  Shape state() const { return {n.samples, n.units}; }

  Tile r = drawn({kind.gates * n.units, n.units}),
       x = drawn(sequence(kind.gates)), bias = drawn({kind.gates * n.units}),
       h0 = drawn(state()), c0 = drawn(state()), dy = drawn(sequence(1)),
       dh = drawn(state()), dc = drawn(state());

  RecurrentSteps steps(const char *kernel, const Tile &sequence) const {
    return RecurrentSteps(cx, kernel, kind.name, reverse, r, sequence);
  }
  /// A tensor, or none.
  Tensor if_whole(const Tile &tile) const {
    return whole ? tile.tensor : Tensor();
  }
  Tensor if_lstm(const Tensor &tensor) const {
    return kind.is_lstm() ? tensor : Tensor();
  }
};

void expect_same(const Layer &layer, const Tile &found, const Tile &expected) {
  const Shape shape(expected.tensor.global.v,
                    expected.tensor.global.v + expected.tensor.rank);
  Value a(shape), b(shape);
  add_tile(a, found, a.whole());
  add_tile(b, expected, b.whole());
  SCOPED_TRACE(std::string(layer.kind.name) + ", " +
               std::to_string(layer.n.units) + " units");
  expect_close(a, b);
}

/// None: step by step.
using Samples = std::optional<SamplesOfCluster>;

/// What a layer computes, {y, h, c, saved}.
std::vector<Tile> forward(Layer &layer, Samples samples) {
  std::vector<Tile> results =
      layer.results({layer.sequence(1), layer.state(), layer.state(),
                     layer.sequence(layer.kind.saved)});
  const Tensor in[] = {layer.x, layer.r,
                       layer.kind.gates == 3 ? layer.bias.tensor : Tensor(),
                       layer.if_whole(layer.h0),
                       layer.if_lstm(layer.if_whole(layer.c0))},
               out[] = {results[0], results[1], layer.if_lstm(results[2]),
                        results[3]};
  const RecurrentSteps steps = layer.steps("forward", layer.x);
  const auto make = [&](const ForwardOperands &t) {
    return samples ? forward_in_clusters(steps, *samples)
                   : forward_in_steps(steps, t);
  };
  const ForwardOperands t(in, out);
  const auto made = make(t);
  (*made)(t);
  (*made)(t);
  // The states in the end do not need the others.
  Tile last = layer.result(layer.state());
  const Tensor few[] = {Tensor(), last, Tensor(), Tensor()};
  const ForwardOperands without(in, few);
  const auto made_without = make(without);
  (*made_without)(without);
  cuda::device().finish();
  EXPECT_EQ(last.bytes, results[1].bytes);
  return results;
}

/// {dx, dh0, dc0, dr}, or dx alone
std::vector<Tile> backward(Layer &layer, const std::vector<Tile> &results,
                           Samples samples) {
  std::vector<Tile> gradients =
      layer.results({layer.sequence(layer.kind.gates), layer.state(),
                     layer.state(), layer.sequence(layer.kind.gates)});
  const bool is_gru = layer.kind.gates == 3, is_rnn = layer.kind.gates == 1;
  const Tensor in[] = {layer.r,
                       is_rnn ? results[0] : results[3],
                       layer.dy,
                       layer.if_whole(layer.dh),
                       layer.if_lstm(layer.if_whole(layer.dc)),
                       is_gru ? results[0].tensor : Tensor(),
                       is_gru ? layer.if_whole(layer.h0) : Tensor(),
                       layer.if_lstm(layer.if_whole(layer.c0))},
               out[] = {gradients[0], layer.if_whole(gradients[1]),
                        layer.if_lstm(layer.if_whole(gradients[2])),
                        layer.if_whole(gradients[3])};
  const RecurrentSteps steps = layer.steps("backward", results[3]);
  const BackwardOperands t(in, out);
  const auto made = samples ? backward_in_clusters(steps, *samples)
                            : backward_in_steps(steps, t);
  (*made)(t);
  (*made)(t);
  cuda::device().finish();
  return gradients;
}

TEST(RecurrentCluster, AsStepByStep) {
  for (const Kind &kind : kinds)
    for (const Sizes &n : sizes)
      for (int form = 0; form < 4; ++form) {
        Layer layer{kind, n, bool(form & 1), bool(form & 2)};
        const auto expected = forward(layer, std::nullopt),
                   gradients = backward(layer, expected, std::nullopt);
        for (auto samples : {SamplesOfCluster::few, SamplesOfCluster::many}) {
          const auto found = forward(layer, samples);
          for (std::size_t i = 0; i < found.size(); ++i)
            if (i != 2 || kind.is_lstm())
              expect_same(layer, found[i], expected[i]);
          const auto others = backward(layer, expected, samples);
          for (std::size_t i = 0; i < others.size(); ++i)
            if (i == 0 || (layer.whole && (i != 2 || kind.is_lstm())))
              expect_same(layer, others[i], gradients[i]);
        }
      }
}

TEST(RecurrentCluster, WhatClustersDoNotHave) {
  const auto message = [](const char *kind, int64_t gates, int64_t units) {
    const Value r({gates * units, units}), x({1, 1, gates * units});
    const Tile weights(r, r.whole()), sequence(x, x.whole());
    Context cx;
    const RecurrentSteps steps(cx, "forward", kind, 0, weights, sequence);
    try {
      forward_in_clusters(steps, SamplesOfCluster::many);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message("lstm", 4, 320), "");
  EXPECT_EQ(message("lstm", 4, 328), "a cluster does not hold 328 units");
  EXPECT_EQ(message("rnn_tanh", 1, 520), "a cluster does not hold 520 units");
  EXPECT_EQ(message("gru", 3, 8), "clusters have no gru");
}

} // namespace
