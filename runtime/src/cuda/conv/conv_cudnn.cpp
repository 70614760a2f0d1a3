//===- conv_cudnn.cpp - convolutions by cuDNN -----------------------------===//
//
// Weights get the order of the images, or are left to engines that do it
// themselves; bias and bounds are part of the plan, or a kernel of ours, which
// reads sums in f32. Weight gradients of bf16 or f16 are rounded to their
// type and cast, as PyTorch's are: for those cuDNN brings compiled engines that
// split the sum. What it compiles itself for sums in f32 takes seconds, and was
// wrong on an H100 where an image had 4 channels (engine 2 of cuDNN 9.19). Time
// tells. What cuDNN has no engine for is tried again with operands as f32, then
// with row-major images: copies in scratch memory.
//
//===----------------------------------------------------------------------===//
#include "cuda/conv/conv_library.h"

#include "common/elementwise/cast.h"
#include "cuda/conv/conv_graph.h"
#include "cuda/device/scratch.h"
#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/copy.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ffrt::cuda {

namespace {

using Kind = ConvShape::Kind;

/// Of a dense tensor, with or without data.
std::size_t bytes_of(const Tensor &t) {
  return std::size_t(t.shape[0] * t.strides()[0]) * size_of(t.type);
}

/// Do both orders mean the same layout?
bool is_flat(const Tensor &t) {
  int64_t space = 1;
  for (int d = 2; d < t.rank; ++d)
    space *= t.shape[d];
  return t.shape[1] == 1 || space == 1;
}

/// A tensor in the form that the library takes: itself, or copies.
class Operand {
public:
  /// Takes scratch memory from `top` on.
  Operand(const Tensor &given, DType type, Order order, std::size_t &top)
      : given(given), ordered(given), used(given) {
    if (is_flat(given))
      this->given.order = order;
    ordered.order = used.order = order;
    used.type = type;
    ordered_at = top;
    top += reorders() ? aligned(bytes_of(ordered)) : 0;
    used_at = top;
    top += converts() ? aligned(bytes_of(used)) : 0;
  }

  const Tensor &form() const { return used; }
  /// What the library works on.
  void *place(void *data, char *scratch) const {
    return converts() ? scratch + used_at : place_ordered(data, scratch);
  }
  /// Before the library reads the operand.
  void read(void *data, char *scratch) const {
    if (reorders())
      copy(in(ordered, scratch + ordered_at), {}, in(given, data), {},
           given.shape);
    if (converts())
      cast_elements(in(ordered, place_ordered(data, scratch)),
                    in(used, scratch + used_at));
  }
  /// After the library wrote it.
  void write(void *data, char *scratch) const {
    if (converts())
      cast_elements(in(used, scratch + used_at),
                    in(ordered, place_ordered(data, scratch)));
    reorder(data, scratch);
  }
  /// After it wrote sums of f32, to which bias and bounds are still missing.
  void finish(void *data, char *scratch, const float *bias,
              const fn::Clip &clip) const {
    finish_conv(static_cast<float *>(place(data, scratch)), bias, clip,
                in(ordered, place_ordered(data, scratch)));
    reorder(data, scratch);
  }

private:
  void *place_ordered(void *data, char *scratch) const {
    return reorders() ? scratch + ordered_at : data;
  }
  void reorder(void *data, char *scratch) const {
    if (reorders())
      copy(in(given, data), {}, in(ordered, scratch + ordered_at), {},
           given.shape);
  }
  static Tensor in(Tensor form, void *data) {
    form.data = data;
    return form;
  }
  bool reorders() const { return ordered.order != given.order; }
  bool converts() const { return used.type != given.type; }

  Tensor given, ordered, used;
  std::size_t ordered_at = 0, used_at = 0;
};

/// The operands of a convolution in one form.
struct Operands {
  std::size_t workspace_at = 0; ///< beside copies
  Operand x, w, y;

  Operands(const ConvShape &s, DType operand_type, DType result, Order order,
           Order weights)
      : x(s.x, s.kind == Kind::image_gradient ? result : operand_type, order,
          workspace_at),
        w(s.w, s.kind == Kind::weight_gradient ? result : operand_type, weights,
          workspace_at),
        y(s.y, s.kind == Kind::forward ? result : operand_type, order,
          workspace_at) {}

  ConvShape shape(ConvShape s) const {
    const bool was_low = s.operand_type() != DType::f32;
    s.x = x.form();
    s.w = w.form();
    s.y = y.form();
    // bf16 and f16 as f32 are TF32 without loss.
    s.tf32 |= was_low && s.operand_type() == DType::f32;
    return s;
  }
};

/// An algorithm for a convolution.
struct Algorithm {
  Operands operands;
  bool stored;   ///< weights are as given, not like images
  bool finishes; ///< bias and bounds are part of the plan
};

/// A convolution, and how cuDNN computes it with operands of a type and images
/// in an order.
class Form {
public:
  /// Throws Error when there is no engine for it.
  Form(const ConvShape &shape, DType operand_type, Order order)
      : given(shape), operand_type(operand_type), order(order) {
    choose();
  }
  Form(const Form &) = delete;
  Form &operator=(const Form &) = delete;

  std::size_t scratch() const {
    return algorithm->operands.workspace_at + plan->workspace();
  }

  void operator()(void *px, void *pw, void *py, const float *bias,
                  char *scratch) {
    const auto &[workspace_at, x, w, y] = algorithm->operands;
    if (given.kind != Kind::image_gradient)
      x.read(px, scratch);
    if (given.kind != Kind::weight_gradient)
      w.read(pw, scratch);
    if (given.kind != Kind::forward)
      y.read(py, scratch);
    (*plan)({x.place(px, scratch), w.place(pw, scratch), y.place(py, scratch),
             algorithm->finishes ? const_cast<float *>(bias) : nullptr},
            scratch + workspace_at);
    switch (given.kind) {
    case Kind::forward:
      if (algorithm->finishes || given.is_finished())
        return y.write(py, scratch);
      return y.finish(py, scratch, bias, given.clip);
    case Kind::image_gradient:
      return x.write(px, scratch);
    case Kind::weight_gradient:
      return w.write(pw, scratch);
    }
  }

private:
  class Algorithms;

  /// What is still to be added to, and what comes of f32, is f32; gradients of
  /// weights are what their operands are.
  Algorithm algorithm_with(bool stored, bool finishes) const {
    const bool whole = finishes || given.is_finished();
    const DType result = given.kind == Kind::weight_gradient ? operand_type
                         : whole && operand_type == given.operand_type()
                             ? given.result().type
                             : DType::f32;
    return {Operands(given, operand_type, result, order,
                     stored ? Order::row_major : order),
            stored, finishes};
  }
  void choose();

  const ConvShape given;
  const DType operand_type;
  const Order order; ///< of images
  std::optional<Algorithm> algorithm;
  std::optional<CudnnPlan> plan;
};

/// All algorithms that cuDNN proposes.
class Form::Algorithms : public Candidates {
public:
  explicit Algorithms(Form &form) : form(form) {
    const auto copies = [&](bool stored) {
      return form.algorithm_with(stored, true).operands.workspace_at;
    };
    for (bool stored : {false, true})
      if (!stored || copies(true) != copies(false)) {
        add(form.algorithm_with(stored, true));
        add(form.algorithm_with(stored, false));
      }
    std::vector<const Group *> order;
    for (const Group &group : groups)
      order.push_back(&group);
    // A single proposal is the engine that can do everything, and slow.
    std::stable_partition(order.begin(), order.end(), [](const Group *group) {
      return group->proposals.size() > 1;
    });
    // The best guess of every group, then the second ones.
    for (std::size_t i = 0, left = 1; left; ++i) {
      left = 0;
      for (const Group *group : order)
        if (i < group->proposals.size()) {
          all.push_back({&group->algorithm, &group->proposals[i]});
          ++left;
        }
    }
    if (all.empty())
      throw Error(cause);
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> result;
    for (const auto &[algorithm, proposal] : all)
      result.push_back(proposal->name + about(*algorithm));
    return result;
  }

  void take(std::size_t i) override {
    const auto &[algorithm, proposal] = all[i];
    form.plan.reset();
    form.plan.emplace(text_of(algorithm->operands.shape(form.given)) +
                          about(*algorithm),
                      *proposal);
    form.algorithm.emplace(*algorithm);
  }

  double seconds() override {
    if (!y) {
      x = operands.add(bytes_of(form.given.x));
      w = operands.add(bytes_of(form.given.w));
      y = operands.add(bytes_of(form.given.y));
      bias = operands.add(std::size_t(form.given.y.shape[1]) * sizeof(float));
    }
    TimedOperands more;
    void *const scratch = more.add(form.scratch());
    return seconds_of([&] {
      form(x, w, y, static_cast<float *>(bias), static_cast<char *>(scratch));
    });
  }

private:
  /// What its operands do not say.
  static std::string about(const Algorithm &algorithm) {
    return std::string(algorithm.stored ? ", weights as stored" : "") +
           (algorithm.finishes ? ", with bias and bounds" : "");
  }

  struct Group {
    Algorithm algorithm;
    CudnnGraph graph; ///< outlives its proposals
    std::vector<CudnnProposal> proposals;
  };

  void add(const Algorithm &algorithm) {
    const ConvShape shape = algorithm.operands.shape(form.given);
    if (algorithm.finishes && !can_finish(shape))
      return;
    try {
      CudnnGraph graph = conv_graph(shape, algorithm.finishes);
      auto proposals = graph.proposals(shape.operand_type() != DType::f32
                                           ? CudnnPrecision::low
                                       : shape.tf32 ? CudnnPrecision::tf32
                                                    : CudnnPrecision::f32);
      groups.push_back({algorithm, std::move(graph), std::move(proposals)});
    } catch (const Error &error) {
      cause = error.what();
    }
  }

  Form &form;
  std::vector<Group> groups;
  std::vector<std::pair<const Algorithm *, const CudnnProposal *>> all;
  std::string cause;
  TimedOperands operands;
  void *x = nullptr, *w = nullptr, *y = nullptr, *bias = nullptr;
};

void Form::choose() {
  Algorithms algorithms(*this);
  tuner().choose(ConvLibrary::version() + "; " +
                     text_of(algorithm_with(true, true).operands.shape(given)),
                 algorithms);
}

} // namespace

struct ConvLibrary::Impl {
  std::optional<Form> form;

  explicit Impl(const ConvShape &s) {
    std::string cause;
    for (const auto &[type, order] :
         {std::pair(s.operand_type(), s.y.order),
          std::pair(DType::f32, s.y.order),
          std::pair(DType::f32, Order::row_major)}) {
      try {
        form.emplace(s, type, order);
        return;
      } catch (const Error &error) {
        cause = error.what();
      }
    }
    throw Error("conv: expected an engine of cuDNN, found none (" + cause +
                ")");
  }
};

ConvLibrary::ConvLibrary(const ConvShape &shape)
    : impl(std::make_unique<Impl>(shape)) {}
ConvLibrary::~ConvLibrary() = default;
ConvLibrary::ConvLibrary(ConvLibrary &&) noexcept = default;

std::string ConvLibrary::version() {
  return "cuDNN " + std::to_string(cudnnGetVersion());
}

std::size_t ConvLibrary::scratch() const { return impl->form->scratch(); }

void ConvLibrary::operator()(void *x, void *w, void *y, const float *bias,
                             void *scratch) const {
  (*impl->form)(x, w, y, bias, static_cast<char *>(scratch));
}

} // namespace ffrt::cuda
