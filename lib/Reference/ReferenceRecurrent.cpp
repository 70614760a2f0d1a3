//===- ReferenceRecurrent.cpp - recurrent cells in plain loops ------------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/UnaryTable.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace ffc;
using namespace ffc::ff;

namespace {
enum class Cell { Lstm, Gru, GruResetAfter, RnnTanh, RnnRelu };

/// What both directions share: the kind, and the order of steps.
struct Steps {
  Cell cell;
  bool reverse;
  int64_t count, units;

  Steps(const ReferenceCall &call, int64_t count, int64_t units)
      : reverse(call.i64("reverse") != 0), count(count), units(units) {
    llvm::StringRef kind = call.args.getAs<mlir::StringAttr>("kind").getValue();
    cell = kind == "lstm"              ? Cell::Lstm
           : kind == "gru"             ? Cell::Gru
           : kind == "gru_reset_after" ? Cell::GruResetAfter
           : kind == "rnn_tanh"        ? Cell::RnnTanh
                                       : Cell::RnnRelu;
  }
  /// The number of the step that is done as number `i`.
  int64_t at(int64_t i) const { return reverse ? count - 1 - i : i; }
};

using Vector = std::vector<double>;
} // namespace

/// Row n of a state, or zeros.
static Vector stateOf(const View &view, int64_t n, int64_t units) {
  Vector state(units);
  if (view.present())
    for (int64_t u = 0; u < units; ++u)
      state[u] = view.at({n, u});
  return state;
}

static void write(const View &view, int64_t n, const Vector &state) {
  if (view.present())
    for (size_t u = 0; u < state.size(); ++u)
      view.at({n, static_cast<int64_t>(u)}) = state[u];
}

/// Elements of weights, which may have a dimension of extent 1 in front.
static double weightAt(const View &r, int64_t row, int64_t column) {
  return r.rank() == 2 ? r.at({row, column}) : r.at({0, row, column});
}
static double biasAt(const View &bias, int64_t row) {
  return bias.rank() == 1 ? bias.at({row}) : bias.at({0, row});
}

/// Element `u` of gate `gate` of h r^T + bias.
static double recurrentPart(const ReferenceCall &call, const Vector &h,
                            int64_t gate, int64_t u) {
  const View &r = call.ins[1], &bias = call.ins[2];
  auto units = static_cast<int64_t>(h.size());
  int64_t row = gate * units + u;
  double sum = bias.present() ? biasAt(bias, row) : 0;
  for (int64_t k = 0; k < units; ++k)
    sum += h[k] * weightAt(r, row, k);
  return sum;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

namespace {
/// One sample's way through the steps.
struct Forward {
  const ReferenceCall &call;
  const Steps &steps;
  int64_t n;
  Vector h, c;

  double x(int64_t t, int64_t gate, int64_t u) const {
    return call.ins[0].at({t, n, gate * steps.units + u});
  }
  void save(int64_t t, int64_t vector, int64_t u, double value) const {
    if (call.outs[3].present())
      call.outs[3].at({t, n, vector * steps.units + u}) = value;
  }
  void lstm(int64_t t);
  void gru(int64_t t);
  void rnn(int64_t t);
};
} // namespace

void Forward::lstm(int64_t t) {
  Vector next(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double gates[4];
    for (int64_t g = 0; g < 4; ++g) {
      double sum = x(t, g, u) + recurrentPart(call, h, g, u);
      gates[g] = g == 3 ? std::tanh(sum) : logistic(sum);
      save(t, g, u, gates[g]);
    }
    c[u] = gates[2] * c[u] + gates[0] * gates[3];
    save(t, 4, u, c[u]);
    next[u] = gates[1] * std::tanh(c[u]);
  }
  h = std::move(next);
}

void Forward::gru(int64_t t) {
  Vector z(steps.units), q(steps.units), seen(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    z[u] = logistic(x(t, 0, u) + recurrentPart(call, h, 0, u));
    q[u] = logistic(x(t, 1, u) + recurrentPart(call, h, 1, u));
    seen[u] = q[u] * h[u];
  }
  Vector next(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double part;
    if (steps.cell == Cell::Gru) {
      part = recurrentPart(call, seen, 2, u);
    } else {
      double after = recurrentPart(call, h, 2, u);
      save(t, 3, u, after);
      part = q[u] * after;
    }
    double update = std::tanh(x(t, 2, u) + part);
    save(t, 0, u, z[u]);
    save(t, 1, u, q[u]);
    save(t, 2, u, update);
    next[u] = (1 - z[u]) * update + z[u] * h[u];
  }
  h = std::move(next);
}

void Forward::rnn(int64_t t) {
  Vector next(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double sum = x(t, 0, u) + recurrentPart(call, h, 0, u);
    next[u] = steps.cell == Cell::RnnTanh ? std::tanh(sum) : std::max(sum, 0.0);
    save(t, 0, u, next[u]);
  }
  h = std::move(next);
}

static void recurrentForward(const ReferenceCall &call) {
  const View &y = call.outs[0];
  Steps steps(call, call.tile[0].size(), call.tile[2].size());
  for (int64_t n = call.tile[1].lo; n < call.tile[1].hi; ++n) {
    Forward sample{call, steps, n, stateOf(call.ins[3], n, steps.units),
                   stateOf(call.ins[4], n, steps.units)};
    for (int64_t i = 0; i < steps.count; ++i) {
      int64_t t = steps.at(i);
      if (steps.cell == Cell::Lstm)
        sample.lstm(t);
      else if (steps.cell == Cell::Gru || steps.cell == Cell::GruResetAfter)
        sample.gru(t);
      else
        sample.rnn(t);
      if (y.present())
        for (int64_t u = 0; u < steps.units; ++u)
          y.at({t, n, u}) = sample.h[u];
    }
    write(call.outs[1], n, sample.h);
    write(call.outs[2], n, sample.c);
  }
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

namespace {
/// One sample's way back. dh and dc are the gradients of the state after the
/// step at hand, then of the one before it.
struct Backward {
  const ReferenceCall &call;
  const Steps &steps;
  int64_t n;
  Vector dh, dc;

  double saved(int64_t t, int64_t vector, int64_t u) const {
    return call.ins[1].at({t, n, vector * steps.units + u});
  }
  /// Element u of `view`, a sequence, before step number i, or of `first`.
  double before(const View &view, const View &first, int64_t vector, int64_t i,
                int64_t u) const {
    if (i > 0)
      return view.at({steps.at(i - 1), n, vector * steps.units + u});
    return first.present() ? first.at({n, u}) : 0;
  }
  /// Writes the gradient of a gate, which at the recurrent side is `dr`, and
  /// adds what it gives to the gradient of the states that the gate read.
  void gate(int64_t t, int64_t gate, int64_t u, double dx, double dr,
            Vector &dstates) const {
    int64_t row = gate * steps.units + u;
    if (call.outs[0].present())
      call.outs[0].at({t, n, row}) = dx;
    if (call.outs[3].present())
      call.outs[3].at({t, n, row}) = dr;
    for (int64_t k = 0; k < steps.units; ++k)
      dstates[k] += dr * weightAt(call.ins[0], row, k);
  }
  void lstm(int64_t i);
  void gru(int64_t i);
  void rnn(int64_t i);
};
} // namespace

void Backward::lstm(int64_t i) {
  int64_t t = steps.at(i);
  Vector dstates(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double in = saved(t, 0, u), out = saved(t, 1, u), forget = saved(t, 2, u),
           cell = saved(t, 3, u), squashed = std::tanh(saved(t, 4, u));
    double dcell = dc[u] + dh[u] * out * (1 - squashed * squashed);
    double c = before(call.ins[1], call.ins[7], 4, i, u);
    double slopes[] = {
        dcell * cell * in * (1 - in), dh[u] * squashed * out * (1 - out),
        dcell * c * forget * (1 - forget), dcell * in * (1 - cell * cell)};
    for (int64_t g = 0; g < 4; ++g)
      gate(t, g, u, slopes[g], slopes[g], dstates);
    dc[u] = dcell * forget;
  }
  dh = std::move(dstates);
}

void Backward::gru(int64_t i) {
  int64_t t = steps.at(i);
  bool after = steps.cell == Cell::GruResetAfter;
  Vector dstates(steps.units), dseen(steps.units), states(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double z = saved(t, 0, u), q = saved(t, 1, u), update = saved(t, 2, u);
    states[u] = before(call.ins[5], call.ins[6], 0, i, u);
    double dupdate = dh[u] * (1 - z) * (1 - update * update);
    double dz = dh[u] * (states[u] - update) * z * (1 - z);
    gate(t, 0, u, dz, dz, dstates);
    gate(t, 2, u, dupdate, after ? dupdate * q : dupdate,
         after ? dstates : dseen);
    dstates[u] += dh[u] * z;
  }
  for (int64_t u = 0; u < steps.units; ++u) {
    double z = saved(t, 0, u), q = saved(t, 1, u), update = saved(t, 2, u);
    double dq = after ? dh[u] * (1 - z) * (1 - update * update) * saved(t, 3, u)
                      : dseen[u] * states[u];
    dq *= q * (1 - q);
    gate(t, 1, u, dq, dq, dstates);
    dstates[u] += dseen[u] * q;
  }
  dh = std::move(dstates);
}

void Backward::rnn(int64_t i) {
  int64_t t = steps.at(i);
  Vector dstates(steps.units);
  for (int64_t u = 0; u < steps.units; ++u) {
    double h = saved(t, 0, u);
    double slope =
        steps.cell == Cell::RnnTanh ? 1 - h * h : (h > 0 ? 1.0 : 0.0);
    gate(t, 0, u, dh[u] * slope, dh[u] * slope, dstates);
  }
  dh = std::move(dstates);
}

static void recurrentBackward(const ReferenceCall &call) {
  const View &dy = call.ins[2];
  Steps steps(call, call.tile[0].size(), call.tile[2].size());
  for (int64_t n = call.tile[1].lo; n < call.tile[1].hi; ++n) {
    Backward sample{call, steps, n, stateOf(call.ins[3], n, steps.units),
                    stateOf(call.ins[4], n, steps.units)};
    for (int64_t i = steps.count; i-- > 0;) {
      if (dy.present())
        for (int64_t u = 0; u < steps.units; ++u)
          sample.dh[u] += dy.at({steps.at(i), n, u});
      if (steps.cell == Cell::Lstm)
        sample.lstm(i);
      else if (steps.cell == Cell::Gru || steps.cell == Cell::GruResetAfter)
        sample.gru(i);
      else
        sample.rnn(i);
    }
    write(call.outs[1], n, sample.dh);
    write(call.outs[2], n, sample.dc);
  }
}

void ff::registerReferenceRecurrent() {
  registerReference("recurrent_forward", recurrentForward);
  registerReference("recurrent_backward", recurrentBackward);
}
