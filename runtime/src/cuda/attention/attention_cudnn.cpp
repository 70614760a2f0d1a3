//===- attention_cudnn.cpp - attention by cuDNN ---------------------------===//
//
// On Hopper, the graph whose last product makes dq itself keeps the gradients
// of all scores in its workspace, and adds up in one order. The one that adds
// blocks of dq to a sum in f32 is faster and does not: cudnn_frontend chooses
// between them by set_deterministic_algorithm(). Of other GPUs that is not
// known.
//
//===----------------------------------------------------------------------===//
#include "cuda/attention/attention_library.h"

#include "cuda/attention/attention_graph.h"
#include "cuda/device/scratch.h"
#include "cuda/plans/cudnn_device.h"
#include "ffrt/cuda/check.h"
#include "ffrt/error.h"

#include <cmath>
#include <optional>

namespace ffrt::cuda {

namespace at = attention_tensor;

struct AttentionLibrary::Impl {
  const AttentionShape shape;
  CudnnGraph graph; ///< outlives its proposals
  std::vector<CudnnProposal> proposals;
  std::optional<CudnnPlan> plan;
  // What plans read of the host.
  float scale, one = 1, hidden = -HUGE_VALF;

  explicit Impl(const AttentionShape &s)
      : shape(s), graph(attention_graph(s)),
        proposals(graph.proposals(CudnnPrecision::low)), scale(s.scale) {}

  /// Bytes of a number for every row of scores.
  std::size_t sums() const {
    return aligned(std::size_t(shape.samples * shape.heads * shape.rows) *
                   sizeof(float));
  }
};

/// Of compute capability 9?
static bool is_hopper() {
  int number = 0, major = 0;
  check(cudaGetDevice(&number), "cudaGetDevice");
  check(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number),
      "cudaDeviceGetAttribute");
  return major == 9;
}

AttentionLibrary::AttentionLibrary(const AttentionShape &shape) {
  if (shape.backward && !is_hopper())
    throw Error("attention: expected a GPU of compute capability 9, found "
                "another one");
  impl = std::make_unique<Impl>(shape);
}
AttentionLibrary::~AttentionLibrary() = default;
AttentionLibrary::AttentionLibrary(AttentionLibrary &&) noexcept = default;

std::string AttentionLibrary::version() {
  return "cuDNN " + std::to_string(cudnnGetVersion());
}

std::vector<std::string> AttentionLibrary::algorithms() const {
  std::vector<std::string> names;
  for (const CudnnProposal &proposal : impl->proposals)
    names.push_back(proposal.name);
  return names;
}

void AttentionLibrary::take(std::size_t algorithm) {
  impl->plan.reset();
  impl->plan.emplace(text_of(impl->shape), impl->proposals[algorithm]);
}

std::size_t AttentionLibrary::scratch() const {
  return impl->sums() + impl->plan->workspace();
}

void AttentionLibrary::operator()(const Tensor *in, const Tensor *out,
                                  char *scratch) const {
  CudnnPlan::Tensors all{};
  all[at::q] = in[0].data;
  all[at::k] = in[1].data;
  all[at::v] = in[2].data;
  if (impl->shape.backward) {
    all[at::y] = in[3].data;
    all[at::lse] = in[4].data;
    all[at::dy] = in[5].data;
    all[at::mask] = in[6].data;
    all[at::dq] = out[0].data;
    all[at::dk] = out[1].data;
    all[at::dv] = out[2].data;
    all[at::product] = scratch;
  } else {
    all[at::mask] = in[3].data;
    all[at::y] = out[0].data;
    all[at::lse] = out[1].data ? out[1].data : scratch;
  }
  if (impl->shape.mask != AttentionShape::Mask::added)
    all[at::mask] = nullptr;
  all[at::scale] = &impl->scale;
  if (impl->shape.backward)
    all[at::one] = &impl->one;
  if (impl->shape.mask == AttentionShape::Mask::causal)
    all[at::hidden] = &impl->hidden;
  (*impl->plan)(all, scratch + impl->sums());
}

} // namespace ffrt::cuda
