//===- cudnn_graph.cpp - operations of cuDNN ------------------------------===//
#include "cuda/cudnn_graph.h"

#include "cuda/cudnn_device.h"
#include "ffrt/error.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ffrt::cuda {

void check(cudnnStatus_t status, const char *what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Error(std::string(what) + ": " + cudnnGetErrorString(status));
}

namespace {

/// A faster engine that takes more than this is passed over.
constexpr int64_t kMostWorkspace = int64_t(1) << 30;

/// Buffers of programs and scratch memory begin at multiples of more.
constexpr int64_t kAlignment = 16;

/// The engines that cuDNN proposes for a graph, best first.
std::vector<CudnnDescriptor> proposals(const CudnnDescriptor &graph,
                                       cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  set_heuristics_device(heuristics);
  heuristics.finalize();
  int64_t count = 0;
  check(cudnnBackendGetAttribute(
            heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
        "CUDNN_ATTR_ENGINEHEUR_RESULTS");
  std::vector<CudnnDescriptor> result;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int64_t i = 0; i < count; ++i) {
    result.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    places.push_back(result.back().get());
  }
  check(cudnnBackendGetAttribute(
            heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, places.data()),
        "CUDNN_ATTR_ENGINEHEUR_RESULTS");
  while (int64_t(result.size()) > count)
    result.pop_back();
  return result;
}

std::vector<cudnnBackendNumericalNote_t>
notes_of(const CudnnDescriptor &configuration) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t place = engine.get();
  int64_t count = 0;
  check(cudnnBackendGetAttribute(
            configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &place),
        "CUDNN_ATTR_ENGINECFG_ENGINE");
  std::vector<cudnnBackendNumericalNote_t> notes(
      CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  check(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE,
                                 int64_t(notes.size()), &count, notes.data()),
        "CUDNN_ATTR_ENGINE_NUMERICAL_NOTE");
  notes.resize(std::size_t(count));
  return notes;
}

/// Tensor cores round factors of f32; Winograd's transforms round those of
/// bf16, and lose digits of all where tiles are large.
bool is_exact(const CudnnDescriptor &configuration, CudnnFactors factors) {
  const auto notes = notes_of(configuration);
  return std::none_of(notes.begin(), notes.end(), [&](auto note) {
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return true;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      return factors == CudnnFactors::f32;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      return factors != CudnnFactors::tf32;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      return factors == CudnnFactors::bf16;
    default:
      return false;
    }
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check(cudnnBackendCreateDescriptor(type, &made),
        "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (made)
    cudnnBackendDestroyDescriptor(made);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor &&other) noexcept
    : made(std::exchange(other.made, nullptr)) {}

void CudnnDescriptor::put(cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, std::size_t count,
                          const void *values) {
  check(cudnnBackendSetAttribute(made, name, type, int64_t(count), values),
        "cudnnBackendSetAttribute");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, bool value) {
  put(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name, int64_t value) {
  put(name, CUDNN_TYPE_INT64, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name, float value) {
  put(name, CUDNN_TYPE_FLOAT, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnDataType_t value) {
  put(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnConvolutionMode_t value) {
  put(name, CUDNN_TYPE_CONVOLUTION_MODE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnPointwiseMode_t value) {
  put(name, CUDNN_TYPE_POINTWISE_MODE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnBackendHeurMode_t value) {
  put(name, CUDNN_TYPE_HEUR_MODE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          cudnnHandle_t value) {
  put(name, CUDNN_TYPE_HANDLE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const CudnnDescriptor &value) {
  put(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.made);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const std::vector<CudnnDescriptor> &values) {
  std::vector<cudnnBackendDescriptor_t> all;
  for (const CudnnDescriptor &value : values)
    all.push_back(value.made);
  put(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, all.size(), all.data());
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const Ints &values) {
  put(name, CUDNN_TYPE_INT64, values.size(), values.data());
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t name, void *const *values,
                          std::size_t count) {
  put(name, CUDNN_TYPE_VOID_PTR, count, values);
}

void CudnnDescriptor::finalize() {
  check(cudnnBackendFinalize(made), "cudnnBackendFinalize");
}

CudnnDescriptor cudnn_tensor(const Tensor &t, int64_t id, bool between) {
  const Index strides = t.strides();
  CudnnDescriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE,
             t.type == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT);
  result.set(CUDNN_ATTR_TENSOR_DIMENSIONS, Ints(t.shape.v, t.shape.v + t.rank));
  result.set(CUDNN_ATTR_TENSOR_STRIDES, Ints(strides.v, strides.v + t.rank));
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  result.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, between);
  result.finalize();
  return result;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

CudnnPlan::CudnnPlan(const std::vector<CudnnDescriptor> &operations,
                     CudnnFactors factors)
    : chosen(choose(operations, factors)) {}

CudnnPlan::Chosen
CudnnPlan::choose(const std::vector<CudnnDescriptor> &operations,
                  CudnnFactors factors) {
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set_graph_device(graph);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph.finalize();
  std::string cause = "no engine is exact";
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (const CudnnDescriptor &configuration : proposals(graph, mode)) {
      if (!is_exact(configuration, factors))
        continue;
      // What is proposed need not work.
      try {
        CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        set_plan_device(plan);
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
        plan.finalize();
        int64_t workspace = 0, count = 0;
        check(cudnnBackendGetAttribute(plan.get(),
                                       CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &count, &workspace),
              "CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE");
        if (workspace <= kMostWorkspace)
          return {std::move(plan), std::size_t(workspace)};
      } catch (const Error &error) {
        cause = error.what();
      }
    }
  throw Error(cause);
}

void CudnnPlan::operator()(const std::array<void *, 3> &tensors,
                           void *workspace) {
  const std::array<void *, 4> all = {tensors[0], tensors[1], tensors[2],
                                     workspace};
  if (!pack || packed != all) {
    pack.emplace(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, Ints{0, 1, 2});
    pack->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, all.data(), 3);
    pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &workspace, 1);
    pack->finalize();
    packed = all;
  }
  check(cudnnBackendExecute(cudnn_handle(), chosen.plan.get(), pack->get()),
        "cudnnBackendExecute");
}

} // namespace ffrt::cuda
