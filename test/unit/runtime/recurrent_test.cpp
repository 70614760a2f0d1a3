//===- recurrent_test.cpp - recurrent layers, whole and tiled -------------===//
#include "ffrt/error.h"
#include "ffrt/recurrent.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Cell {
  const char *kind;
  int64_t gates, saved;
  bool is_lstm() const { return gates == 4; }
  bool is_gru() const { return gates == 3; }
  bool has_bias() const { return saved == 4; }
};

const Cell cells[] = {{"lstm", 4, 5},
                      {"gru", 3, 3},
                      {"gru_reset_after", 3, 4},
                      {"rnn_tanh", 1, 1},
                      {"rnn_relu", 1, 1}};

constexpr int64_t T = 3, N = 5, H = 4;

/// Operands of a layer, or gradients of them.
struct Layer {
  Value x, r, bias, h0, c0;
};
struct Results {
  Value y, h, c;
};

Layer random_layer(const Cell &cell, std::mt19937 &random) {
  return {random_value({T, N, cell.gates * H}, random),
          random_value({cell.gates * H, H}, random),
          random_value({cell.gates * H}, random), random_value({N, H}, random),
          random_value({N, H}, random)};
}

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// As ff.recurrent says, in doubles.
Results reference(const Cell &cell, const Layer &in, bool reverse) {
  Results out{Value({T, N, H}), in.h0, in.c0};
  const std::string kind = cell.kind;
  for (int64_t n = 0; n < N; ++n)
    for (int64_t i = 0; i < T; ++i) {
      const int64_t t = reverse ? T - 1 - i : i;
      std::vector<double> h(H), next(H);
      for (int64_t u = 0; u < H; ++u)
        h[u] = out.h({n, u});
      auto product = [&](const std::vector<double> &states, int64_t row) {
        double sum = cell.has_bias() ? in.bias({row}) : 0.0;
        for (int64_t k = 0; k < H; ++k)
          sum += states[k] * in.r({row, k});
        return sum;
      };
      auto x = [&](int64_t row) { return in.x({t, n, row}); };
      auto gate = [&](int64_t row) { return x(row) + product(h, row); };
      std::vector<double> seen(H);
      for (int64_t u = 0; cell.is_gru() && u < H; ++u)
        seen[u] = logistic(gate(H + u)) * h[u];
      for (int64_t u = 0; u < H; ++u) {
        if (cell.is_lstm()) {
          double &c = out.c({n, u});
          c = logistic(gate(2 * H + u)) * c +
              logistic(gate(u)) * std::tanh(gate(3 * H + u));
          next[u] = logistic(gate(H + u)) * std::tanh(c);
        } else if (cell.is_gru()) {
          const double z = logistic(gate(u)), q = logistic(gate(H + u));
          const int64_t row = 2 * H + u;
          const double update =
              std::tanh(x(row) + (cell.has_bias() ? q * product(h, row)
                                                  : product(seen, row)));
          next[u] = (1 - z) * update + z * h[u];
        } else {
          next[u] =
              kind == "rnn_tanh" ? std::tanh(gate(u)) : std::max(gate(u), 0.0);
        }
      }
      for (int64_t u = 0; u < H; ++u)
        out.h({n, u}) = out.y({t, n, u}) = next[u];
    }
  return out;
}

/// The part of a sequence, or a state, of some samples.
Box of_sequence(int64_t lo, int64_t n, int64_t width) {
  return {{0, lo, 0}, {T, n, width}};
}
Box of_state(int64_t lo, int64_t n) { return {{lo, 0}, {n, H}}; }

/// Forward in parts of samples; `saved` is of the whole.
Results forward(const Cell &cell, const Layer &in, bool reverse, bool stateful,
                Value &saved) {
  Context cx;
  Results found{Value({T, N, H}), Value({N, H}), Value({N, H})};
  saved = Value({T, N, cell.saved * H});
  for (auto [lo, n] : {std::pair<int64_t, int64_t>(0, 2), {2, 3}}) {
    const Tile x(in.x, of_sequence(lo, n, cell.gates * H)),
        r(in.r, in.r.whole()), bias(in.bias, in.bias.whole()),
        h0(in.h0, of_state(lo, n)), c0(in.c0, of_state(lo, n));
    const Tile y = blank({T, N, H}, of_sequence(lo, n, H)),
               h = blank({N, H}, of_state(lo, n)),
               c = blank({N, H}, of_state(lo, n)),
               s = blank(saved.shape, of_sequence(lo, n, cell.saved * H));
    const Tensor none;
    const std::vector<Tensor> from = {x, r,
                                      cell.has_bias() ? bias.tensor : none,
                                      stateful ? h0.tensor : none,
                                      stateful && cell.is_lstm() ? c0.tensor
                                                                 : none},
                              to = {y, h, cell.is_lstm() ? c.tensor : none, s};
    RecurrentForward layer(cx, from, to, cell.kind, reverse);
    // What is absent is made up for.
    RecurrentForward short_layer(cx, from, {none, h, none, none}, cell.kind,
                                 reverse);
    short_layer(from, {none, h, none, none});
    Value last({N, H});
    add_tile(last, h, of_state(lo, n));
    // The second call of one object is as the first.
    layer(from, to);
    layer(from, to);
    add_tile(found.y, y, of_sequence(lo, n, H));
    add_tile(found.h, h, of_state(lo, n));
    if (cell.is_lstm())
      add_tile(found.c, c, of_state(lo, n));
    add_tile(saved, s, of_sequence(lo, n, cell.saved * H));
    for_box(of_state(lo, n), [&](const Shape &at) {
      EXPECT_EQ(last(at), found.h(at)) << cell.kind;
    });
  }
  return found;
}

TEST(Recurrent, Forward) {
  std::mt19937 random(seed());
  for (const Cell &cell : cells)
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(cell.kind);
      const bool reverse = form & 1, stateful = form & 2;
      Layer layer = random_layer(cell, random);
      if (!stateful)
        layer.h0 = layer.c0 = Value({N, H});
      Value saved;
      const Results expected = reference(cell, layer, reverse),
                    found = forward(cell, layer, reverse, stateful, saved);
      expect_close(found.y, expected.y);
      expect_close(found.h, expected.h);
      if (cell.is_lstm())
        expect_close(found.c, expected.c);
    }
}

/// Gradients against central differences of the reference.
TEST(Recurrent, Backward) {
  std::mt19937 random(seed());
  Context cx;
  for (const Cell &cell : cells)
    for (int form = 0; form < 8; ++form) {
      SCOPED_TRACE(std::string(cell.kind) + " " + std::to_string(form));
      const bool reverse = form & 1, stateful = form & 2, only_y = form & 4;
      Layer layer = random_layer(cell, random);
      if (!stateful)
        layer.h0 = layer.c0 = Value({N, H});
      const Results slopes{random_value({T, N, H}, random),
                           random_value({N, H}, random),
                           random_value({N, H}, random)};
      auto weighted = [&](const Layer &at) {
        const Results out = reference(cell, at, reverse);
        double sum = 0;
        auto add = [&](const Value &value, const Value &slope) {
          for (std::size_t i = 0; i < value.data.size(); ++i)
            sum += value.data[i] * slope.data[i];
        };
        add(out.y, slopes.y);
        if (!only_y) {
          add(out.h, slopes.h);
          if (cell.is_lstm())
            add(out.c, slopes.c);
        }
        return sum;
      };
      auto differences = [&](Value Layer::*operand) {
        Value result((layer.*operand).shape);
        Layer at = layer;
        for (std::size_t i = 0; i < result.data.size(); ++i) {
          double &element = (at.*operand).data[i];
          const double here = element, step = 1e-6;
          element = here + step;
          const double above = weighted(at);
          element = here - step;
          result.data[i] = (above - weighted(at)) / (2 * step);
          element = here;
        }
        return result;
      };

      Value saved;
      const Results out = forward(cell, layer, reverse, stateful, saved);
      const bool is_rnn = cell.gates == 1;
      const Tensor none;
      const Tile r(layer.r, layer.r.whole()),
          s(is_rnn ? out.y : saved, of_sequence(0, N, cell.saved * H)),
          dy(slopes.y, slopes.y.whole()), dh(slopes.h, slopes.h.whole()),
          dc(slopes.c, slopes.c.whole()), y(out.y, out.y.whole()),
          h0(layer.h0, layer.h0.whole()), c0(layer.c0, layer.c0.whole());
      const Tile dx = blank(layer.x.shape, layer.x.whole()),
                 dr = blank(layer.x.shape, layer.x.whole()),
                 dh0 = blank({N, H}, layer.h0.whole()),
                 dc0 = blank({N, H}, layer.h0.whole());
      const std::vector<Tensor> from = {r,
                                        s,
                                        dy,
                                        only_y ? none : dh.tensor,
                                        only_y || !cell.is_lstm() ? none
                                                                  : dc.tensor,
                                        cell.is_gru() ? y.tensor : none,
                                        cell.is_gru() && stateful ? h0.tensor
                                                                  : none,
                                        cell.is_lstm() && stateful ? c0.tensor
                                                                   : none},
                                to = {dx, dh0,
                                      cell.is_lstm() ? dc0.tensor : none, dr};
      RecurrentBackward layer_back(cx, from, to, cell.kind, reverse);
      layer_back(from, to);
      layer_back(from, to);
      auto expect_gradient = [&](const Tile &tile, Value Layer::*operand) {
        Value found((layer.*operand).shape);
        add_tile(found, tile, found.whole());
        expect_close(found, differences(operand), 5e-5);
      };
      expect_gradient(dx, &Layer::x);
      expect_gradient(dh0, &Layer::h0);
      if (cell.is_lstm())
        expect_gradient(dc0, &Layer::c0);
      // The gradient of what the states add to the gates, by the bias that is
      // part of it, or by x.
      Value found(layer.x.shape);
      add_tile(found, dr, found.whole());
      if (!cell.has_bias()) {
        expect_close(found, differences(&Layer::x), 5e-5);
        continue;
      }
      Value sum(layer.bias.shape);
      for_box(found.whole(),
              [&](const Shape &at) { sum({at[2]}) += found(at); });
      expect_close(sum, differences(&Layer::bias), 5e-5);
    }
}

TEST(Recurrent, WrongOperands) {
  Context cx;
  const Value x({T, N, 4 * H}), r({4 * H, H}), state({N, H});
  const Tensor none;
  auto message = [&](const Tile &of_x, const Tile &of_r, const Tensor &h0,
                     const char *kind) {
    const Tile y = blank({T, N, H}, {{0, 0, 0}, {T, N, H}});
    try {
      RecurrentForward(cx, {of_x, of_r, none, h0, none}, {y, none, none, none},
                       kind, 0);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Tile whole(x, x.whole()), weights(r, r.whole()),
      two_steps(x, {{0, 0, 0}, {2, N, 4 * H}}), half(r, {{0, 0}, {2 * H, H}}),
      few(state, {{0, 0}, {2, H}});
  EXPECT_EQ(message(whole, weights, none, "lstm"), "");
  EXPECT_EQ(message(whole, weights, none, "elman"),
            "recurrent forward: kind: expected lstm, gru, gru_reset_after, "
            "rnn_tanh or rnn_relu, found elman");
  EXPECT_EQ(message(whole, half, none, "lstm"),
            "recurrent forward: r: expected 4 * H rows and H columns, found "
            "local shape [8, 4]");
  EXPECT_EQ(message(two_steps, weights, none, "lstm"),
            "recurrent forward: expected all steps (3), found 2");
  EXPECT_EQ(message(whole, weights, few, "lstm"),
            "recurrent forward: h0: expected local shape [5, 4], found "
            "[2, 4]");
}

} // namespace
