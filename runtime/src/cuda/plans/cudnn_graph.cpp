//===- cudnn_graph.cpp - operations of cuDNN ------------------------------===//
#include "cuda/plans/cudnn_graph.h"

#include "cuda/plans/cudnn_device.h"
#include "ffrt/error.h"

#include <algorithm>
#include <map>
#include <set>
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

/// Up to `most` descriptors that are an attribute of another one.
std::vector<CudnnDescriptor> parts_of(const CudnnDescriptor &whole,
                                      cudnnBackendAttributeName_t name,
                                      cudnnBackendDescriptorType_t type,
                                      int64_t most) {
  std::vector<CudnnDescriptor> result;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int64_t i = 0; i < most; ++i) {
    result.emplace_back(type);
    places.push_back(result.back().get());
  }
  int64_t count = 0;
  check(cudnnBackendGetAttribute(whole.get(), name,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count,
                                 places.data()),
        "cudnnBackendGetAttribute");
  while (int64_t(result.size()) > count)
    result.pop_back();
  return result;
}

template <class T>
T value_of(const CudnnDescriptor &descriptor, cudnnBackendAttributeName_t name,
           cudnnBackendAttributeType_t type) {
  T value{};
  int64_t count = 0;
  check(
      cudnnBackendGetAttribute(descriptor.get(), name, type, 1, &count, &value),
      "cudnnBackendGetAttribute");
  return value;
}

std::vector<CudnnDescriptor> configurations(const CudnnDescriptor &graph,
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
  return parts_of(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
}

CudnnDescriptor engine_of(const CudnnDescriptor &configuration) {
  return std::move(parts_of(configuration, CUDNN_ATTR_ENGINECFG_ENGINE,
                            CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1)
                       .at(0));
}

/// "engine 38, settings 2=1 7=4"
std::string name_of(const CudnnDescriptor &configuration) {
  std::string name =
      "engine " + std::to_string(value_of<int64_t>(
                      engine_of(configuration), CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                      CUDNN_TYPE_INT64));
  std::map<int, int64_t> settings;
  for (const CudnnDescriptor &knob :
       parts_of(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS))
    settings[value_of<cudnnBackendKnobType_t>(
        knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE)] =
        value_of<int64_t>(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                          CUDNN_TYPE_INT64);
  const char *before = ", settings ";
  for (const auto &[knob, value] : settings) {
    name += before + std::to_string(knob) + "=" + std::to_string(value);
    before = " ";
  }
  return name;
}

/// Up to `most` words of cuDNN about the engine.
template <class Note>
std::vector<Note> notes_of(const CudnnDescriptor &configuration,
                           cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int most) {
  const CudnnDescriptor engine = engine_of(configuration);
  std::vector<Note> notes(static_cast<std::size_t>(most));
  int64_t count = 0;
  check(cudnnBackendGetAttribute(engine.get(), name, type,
                                 int64_t(notes.size()), &count, notes.data()),
        "cudnnBackendGetAttribute");
  notes.resize(std::size_t(count));
  return notes;
}

std::vector<cudnnBackendNumericalNote_t>
numerical_notes(const CudnnDescriptor &configuration) {
  return notes_of<cudnnBackendNumericalNote_t>(
      configuration, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
      CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

bool uses_tensor_cores(const CudnnDescriptor &configuration) {
  const auto notes = numerical_notes(configuration);
  return std::count(notes.begin(), notes.end(),
                    CUDNN_NUMERICAL_NOTE_TENSOR_CORE) > 0;
}

bool is_compiled_late(const CudnnDescriptor &configuration) {
  const auto notes = notes_of<cudnnBackendBehaviorNote_t>(
      configuration, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
      CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  return std::count(notes.begin(), notes.end(),
                    CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) > 0;
}

/// Tensor cores round operands of f32; Winograd's transforms round those of low
/// precision again, and lose digits of all where tiles are large.
bool is_exact(const CudnnDescriptor &configuration, CudnnPrecision precision) {
  const auto notes = numerical_notes(configuration);
  return std::none_of(notes.begin(), notes.end(), [&](auto note) {
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return true;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      return precision == CudnnPrecision::f32;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      return precision != CudnnPrecision::tf32;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      return precision == CudnnPrecision::low;
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
void CudnnDescriptor::set(cudnnBackendAttributeName_t name, double value) {
  put(name, CUDNN_TYPE_DOUBLE, 1, &value);
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
                          cudnnReduceTensorOp_t value) {
  put(name, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &value);
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

cudnnDataType_t cudnn_type(DType type) {
  return type == DType::bf16  ? CUDNN_DATA_BFLOAT16
         : type == DType::f16 ? CUDNN_DATA_HALF
                              : CUDNN_DATA_FLOAT;
}

CudnnDescriptor cudnn_tensor(cudnnDataType_t type, const Ints &shape,
                             const Ints &strides, int64_t id,
                             CudnnPlace place) {
  CudnnDescriptor result(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  result.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  result.set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape);
  result.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  result.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  result.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, place == CudnnPlace::between);
  result.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, place == CudnnPlace::host);
  result.finalize();
  return result;
}

CudnnDescriptor cudnn_tensor(const Tensor &t, int64_t id, bool between) {
  const Index strides = t.strides();
  return cudnn_tensor(cudnn_type(t.type), Ints(t.shape.v, t.shape.v + t.rank),
                      Ints(strides.v, strides.v + t.rank), id,
                      between ? CudnnPlace::between : CudnnPlace::device);
}

//===----------------------------------------------------------------------===//
// Graphs and plans
//===----------------------------------------------------------------------===//

const CudnnDescriptor &CudnnGraph::keep(CudnnDescriptor &&part) {
  return parts.emplace_back(std::move(part));
}

void CudnnGraph::add(CudnnDescriptor &&operation) {
  operations.push_back(std::move(operation));
}

std::vector<CudnnProposal> CudnnGraph::proposals(CudnnPrecision precision) {
  whole.emplace(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set_graph_device(*whole);
  whole->set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  whole->finalize();
  std::vector<CudnnProposal> result;
  std::set<std::string> names;
  std::string cause = "no engine is exact";
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    try {
      for (CudnnDescriptor &configuration : configurations(*whole, mode)) {
        if (!is_exact(configuration, precision))
          continue;
        std::string name = name_of(configuration);
        if (!names.insert(name).second)
          continue;
        const bool tensor_cores = uses_tensor_cores(configuration),
                   compiles = is_compiled_late(configuration);
        result.push_back({std::move(configuration), std::move(name),
                          tensor_cores, compiles});
      }
    } catch (const Error &error) {
      cause = error.what();
    }
  if (result.empty())
    throw Error(cause);
  return result;
}

static std::shared_ptr<const CudnnDescriptor>
make_plan(const CudnnProposal &proposal) {
  auto plan = std::make_shared<CudnnDescriptor>(
      CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  set_plan_device(*plan);
  plan->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal.configuration);
  plan->finalize();
  return plan;
}

CudnnPlan::CudnnPlan(const std::string &problem,
                     const CudnnProposal &proposal) {
  // Never destroyed: when the process ends, cuDNN may be gone before.
  static auto &made =
      *new std::map<std::string, std::shared_ptr<const CudnnDescriptor>>;
  auto &known = made[problem + " -> " + proposal.name];
  if (!known)
    known = make_plan(proposal);
  plan = known;
  const auto workspace = value_of<int64_t>(
      *plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64);
  if (workspace > kMostWorkspace)
    throw Error("expected engines that take up to " +
                std::to_string(kMostWorkspace) +
                " bytes, found one that takes " + std::to_string(workspace));
  bytes = std::size_t(workspace);
}

void CudnnPlan::operator()(const Tensors &tensors, void *workspace) {
  if (!pack || packed != tensors || packed_workspace != workspace) {
    pack.emplace(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    Ints numbers;
    std::vector<void *> places;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i]) {
        numbers.push_back(int64_t(i));
        places.push_back(tensors[i]);
      }
    pack->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers);
    pack->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, places.data(),
              places.size());
    pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &workspace, 1);
    pack->finalize();
    packed = tensors;
    packed_workspace = workspace;
  }
  check(cudnnBackendExecute(cudnn_handle(), plan->get(), pack->get()),
        "cudnnBackendExecute");
}

} // namespace ffrt::cuda
