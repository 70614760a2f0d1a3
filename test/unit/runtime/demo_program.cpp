//===- demo_program.cpp - a program as the compiler emits it --------------===//
//
// x[12,1,8,8] -> conv 3x3, 4 channels -> relu -> dropout -> flatten -> fc 10 ->
// cross-entropy, data parallel over RANKS ranks, with momentum. DEMO_FAULT
// makes it misbehave for tests of messages: "guard", "throw", "hole" or
// "tasks". Or its last rank does: "exchange" leaves out an exchange that the
// others begin a step with; it is "slow", computing for a while; it never comes
// to the "start", to make a "group", or to the "end". With DEMO_EVALUATE it
// ends with the result of fc; with DEMO_PROFILE it starts as programs that
// measure do. Of its tasks, only communication is traced.
//
//===----------------------------------------------------------------------===//
#include "ffrt/error.h"
#include "ffrt/hash.h"
#include "ffrt/kernels.h"
#include "ffrt/mpi.h"
#include "ffrt/profile.h"
#include "ffrt/program.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <unistd.h>

using namespace ffrt;

namespace {

constexpr int64_t kBatch = 12, kChannels = 4, kClasses = 10;
constexpr int64_t kFeatures = kChannels * 64;

bool fault(const char *name) {
  const char *text = std::getenv("DEMO_FAULT");
  return text && std::strcmp(text, name) == 0;
}

bool evaluates() { return std::getenv("DEMO_EVALUATE") != nullptr; }

/// A tensor at `*at`, cut along its first dimension to [lo, lo + size).
Tensor take(std::byte **at, Index global, int rank, int64_t lo, int64_t size,
            Order order = Order::row_major, DType type = DType::f32) {
  Tensor t;
  t.data = *at;
  t.type = type;
  t.order = order;
  t.rank = rank;
  t.shape = t.global = global;
  if (rank > 0) {
    t.lo[0] = lo;
    t.shape[0] = size;
  }
  *at += (t.elements() * int64_t(size_of(type)) + 63) / 64 * 64;
  return t;
}

Tensor none() { return {}; }

class Demo final : public RankProgram {
public:
  explicit Demo(Host &h) : host(h) {
    if (fault("throw") && h.context.rank == RANKS - 1)
      throw Error("demo fault");
  }

  ~Demo() override {
    if (fault("end") && is_last())
      pause();
  }

  std::vector<StateSlot> states() override {
    const Init zero{Init::constant, 0.0, 0};
    return {{"conv.weight", StateKind::parameter, {Init::uniform, 0.3, 0}, wc},
            {"conv.bias", StateKind::parameter, zero, bc},
            {"fc/weight",
             StateKind::parameter,
             {Init::normal, 0.05, 0},
             fault("unread") ? half(wf) : wf},
            {"fc/bias", StateKind::parameter, zero, bf},
            {"fc/weight/momentum", StateKind::slot, zero, vf}};
  }

  std::vector<InputSlot> inputs() override {
    return {{"x", x}, {"target", target}};
  }

  std::vector<TaskId> tasks() override {
    if (evaluates())
      return {};
    std::vector<TaskId> sums;
    for (int i = 0; i < (fault("tasks") ? 4 : 5); ++i)
      sums.push_back({"gra\"dients", 0, 0, i});
    return sums;
  }

  void step() override {
    if (fault("exchange") && !is_last())
      pass_on();
    if (fault("slow"))
      compute_for(std::chrono::milliseconds(is_last() ? 6 : 2));
    conv({x, wc, bc}, {c});
    relu({c}, {r});
    if (evaluates())
      std::memcpy(d.data, r.data, std::size_t(r.elements()) * sizeof(float));
    else
      dropout({r}, {d});
    flatten({d}, {f});
    fc({f, wf, bf, none()}, {y});
    host.probe.offer("out/logits", y);
    if (evaluates())
      return;
    loss_forward({y, target}, {loss_value});
    loss_backward({y, target, none()}, {none(), dy});
    fc_weights({dy, f, none(), none()}, {dwf});
    fc_bias({dy}, {dbf});
    fc_data({dy, wf, none(), none()}, {df});
    unflatten({df}, {dd});
    dropout({dd}, {dr});
    relu_backward({dr, r}, {dc});
    conv_weights({x, dc}, {dwc});
    conv_bias({dc}, {dbc});
    for (Tensor t : {dwc, dbc, dwf, dbf, loss_value})
      host.comm.wait(
          host.comm.all_reduce("gradients", world, t, ReduceOp::sum));
    host.probe.offer("grad/fc/weight", fault("hole") ? half(dwf) : dwf);
    update_fc({wf, dwf, none(), vf}, {wf, vf});
    update_fc_bias({bf, dbf, none()}, {bf});
    update_conv({wc, dwc, none()}, {wc});
    update_conv_bias({bc, dbc, none()}, {bc});
    if (fault("guard"))
      at[0] = std::byte{1};
  }

  Tensor loss() override { return loss_value; }

private:
  static void compute_for(std::chrono::nanoseconds time) {
    using Clock = std::chrono::steady_clock;
    for (const auto start = Clock::now(); Clock::now() - start < time;)
      ;
  }
  bool is_last() const { return cx.rank == RANKS - 1; }
  /// Something from the rank before, something else to the next.
  void pass_on() {
    const int next = (cx.rank + 1) % RANKS,
              before = (cx.rank + RANKS - 1) % RANKS;
    Tensor received = bf;
    received.data = passed;
    host.comm.wait(
        host.comm.exchange("conv <- x", 0, {{next, bf}}, {{before, received}}));
  }
  static Tensor half(Tensor t) {
    t.shape[0] /= 2;
    return t;
  }
  static Group everyone(Comm &comm) {
    if (fault("group") && comm.rank() == RANKS - 1)
      pause();
    std::vector<int> ranks(RANKS);
    std::iota(ranks.begin(), ranks.end(), 0);
    return comm.make_group(ranks);
  }

  Host host;
  Context &cx = host.context;
  const int64_t lo = kBatch * cx.rank / RANKS;
  const int64_t n = kBatch * (cx.rank + 1) / RANKS - lo;
  Group world = everyone(host.comm);
  static constexpr Order nhwc = Order::channels_last;

  std::byte *st = host.state + 0;
  Tensor wc = take(&st, {kChannels, 1, 3, 3}, 4, 0, kChannels);
  Tensor bc = take(&st, {kChannels}, 1, 0, kChannels);
  Tensor wf = take(&st, {kClasses, kFeatures}, 2, 0, kClasses);
  Tensor bf = take(&st, {kClasses}, 1, 0, kClasses);
  Tensor vf = take(&st, {kClasses, kFeatures}, 2, 0, kClasses);
  float passed[kClasses];

  std::byte *at = host.arena + 0;
  Tensor x = take(&at, {kBatch, 1, 8, 8}, 4, lo, n, nhwc);
  Tensor target = take(&at, {kBatch}, 1, lo, n, Order::row_major, DType::i32);
  Tensor c = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor r = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor d = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor f = take(&at, {kBatch, kFeatures}, 2, lo, n);
  Tensor y = take(&at, {kBatch, kClasses}, 2, lo, n);
  Tensor loss_value = take(&at, {}, 0, 0, 0);
  Tensor dy = take(&at, {kBatch, kClasses}, 2, lo, n);
  Tensor df = take(&at, {kBatch, kFeatures}, 2, lo, n);
  Tensor dd = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor dr = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor dc = take(&at, {kBatch, kChannels, 8, 8}, 4, lo, n, nhwc);
  Tensor dwc = take(&at, {kChannels, 1, 3, 3}, 4, 0, kChannels);
  Tensor dbc = take(&at, {kChannels}, 1, 0, kChannels);
  Tensor dwf = take(&at, {kClasses, kFeatures}, 2, 0, kClasses);
  Tensor dbf = take(&at, {kClasses}, 1, 0, kClasses);

  ConvForward conv{cx, {x, wc, bc}, {c}, {}, {1, 1}, 1, {1, 1, 1, 1}, {1, 1}};
  ReluForward relu{cx, {c}, {r}};
  Dropout dropout{cx, {r}, {d}, int64_t(hash_name("drop")), 0.25};
  Reshape flatten{cx, {d}, {f}};
  MatMul fc{cx, {f, wf, bf, none()}, {y}, 1.0, 1.0, {}, 0, 1};
  CrossEntropyForward loss_forward{cx, {y, target}, {loss_value}, 1};
  CrossEntropyBackward loss_backward{cx, {y, target, none()}, {none(), dy}, 1};
  MatMul fc_weights{cx, {dy, f, none(), none()}, {dwf}, 1.0, 1.0, {}, 1, 0};
  ReduceSum fc_bias{cx, {dy}, {dbf}, {0}, 0};
  MatMul fc_data{cx, {dy, wf, none(), none()}, {df}, 1.0, 1.0, {}, 0, 0};
  Reshape unflatten{cx, {df}, {dd}};
  ReluBackward relu_backward{cx, {dr, r}, {dc}};
  ConvBackwardWeights conv_weights{cx, {x, dc},      {dwc}, {1, 1},
                                   1,  {1, 1, 1, 1}, {1, 1}};
  ReduceSum conv_bias{cx, {dc}, {dbc}, {0, 2, 3}, 0};
  SgdUpdate update_fc{cx, {wf, dwf, none(), vf}, {wf, vf}, 0.9, 0};
  SgdUpdate update_fc_bias{cx, {bf, dbf, none()}, {bf}, 0.0, 0};
  SgdUpdate update_conv{cx, {wc, dwc, none()}, {wc}, 0.0, 0};
  SgdUpdate update_conv_bias{cx, {bc, dbc, none()}, {bc}, 0.0, 0};
};

/// The bytes that take() hands out in Demo.
RankInfo bytes(int rank) {
  auto whole = [](int64_t elements) { return (elements * 4 + 63) / 64 * 64; };
  const int64_t n = kBatch * (rank + 1) / RANKS - kBatch * rank / RANKS;
  const int64_t weights = whole(kChannels * 9) + whole(kChannels) +
                          whole(kClasses * kFeatures) + whole(kClasses);
  return {weights + whole(kClasses * kFeatures),
          weights + whole(n * 64) + whole(n) + 8 * whole(n * kFeatures) +
              2 * whole(n * kClasses) + whole(1),
          1e6, 1e-3, 0};
}

} // namespace

int main(int argc, char **argv) {
  if (fault("start") && launched() && launched_rank() == RANKS - 1)
    pause();
  ProgramInfo info{"demo.onnx", "m0", "t0", "s0", RANKS, true, kBatch,
                   0.05,        0.0,  1e-3, {},   {},    {}};
  info.inputs = {{"x", DType::f32, 4, {kBatch, 1, 8, 8}, false, 0},
                 {"target", DType::i32, 1, {kBatch}, true, kClasses}};
  info.outputs = {{"out/logits", DType::f32, 2, {kBatch, kClasses}},
                  {"grad/fc/weight", DType::f32, 2, {kClasses, kFeatures}}};
  info.updated = {"conv.weight", "conv.bias", "fc/weight", "fc/bias"};
  if (evaluates()) {
    info.training = false;
    info.outputs.pop_back();
  }
  for (int rank = 0; rank < RANKS; ++rank)
    info.rank_info.push_back(bytes(rank));
  const MakeProgram make = [](Host &host) -> std::unique_ptr<RankProgram> {
    return std::make_unique<Demo>(host);
  };
  if (std::getenv("DEMO_PROFILE"))
    return run_profile(argc, argv,
                       {"demo.onnx", "cpu-core", "0", {}, {{info, make, {}}}});
  return run(argc, argv, info, make);
}
