//===- dnnl.cpp - thin layer over oneDNN ----------------------------------===//
#include "cpu/kernels/dnnl.h"

#include "common/elementwise/cast.h"
#include "ffrt/error.h"

namespace ffrt {

dnnl::engine &dnnl_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream &dnnl_stream() {
  static dnnl::stream stream(dnnl_engine());
  return stream;
}

void dnnl_failed(const char *kernel, const dnnl::error &cause) {
  throw Error(std::string(kernel) + ": oneDNN: " + cause.what());
}

dnnl::primitive_attr dnnl_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void SharedMemory::reserve(std::size_t bytes) {
  if (!memory || memory.get_desc().get_size() < bytes)
    memory = dnnl::memory({{int64_t(bytes)},
                           dnnl::memory::data_type::u8,
                           dnnl::memory::format_tag::a},
                          dnnl_engine());
}

/// What primitives scribble on.
static SharedMemory &shared_scratchpad() {
  static SharedMemory shared;
  return shared;
}

/// Where converted tensors lie.
static SharedMemory &shared_slot(int slot) {
  static SharedMemory shared[Converted::kSlots];
  return shared[slot];
}

/// Where operands as f32 lie.
static SharedMemory &shared_operand(int slot) {
  static SharedMemory shared[Converted::kSlots];
  return shared[slot];
}

/// Where results as f32 lie.
static SharedMemory &shared_result() {
  static SharedMemory shared;
  return shared;
}

dnnl::memory::data_type data_type(DType type) {
  return type == DType::bf16 ? dnnl::memory::data_type::bf16
                             : dnnl::memory::data_type::f32;
}

/// oneDNN computes with bf16 from AVX-512 with VL, BW and DQ on.
static bool has_bfloat16() {
  constexpr int needed = int(dnnl::cpu_isa::avx512_core);
  return (int(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

Operand::Operand(const Tensor &tensor, int slot, bool widen)
    : as_read(tensor), slot(slot),
      widened(tensor.data &&
              (tensor.type == DType::f16 ||
               (tensor.type == DType::bf16 && (widen || !has_bfloat16())))) {
  if (!widened)
    return;
  as_read.type = DType::f32;
  shared_operand(slot).reserve(std::size_t(tensor.span()) * sizeof(float));
}

Tensor Operand::read(const Tensor &tensor) {
  if (!widened)
    return tensor;
  Tensor result = tensor;
  result.type = DType::f32;
  result.data = shared_operand(slot).data();
  cast_elements(tensor, result);
  return result;
}

Result::Result(const Tensor &tensor, DType operand_type)
    : as_written(tensor),
      rounds(tensor.type != DType::f32 && tensor.type != operand_type) {
  if (!rounds)
    return;
  as_written.type = DType::f32;
  shared_result().reserve(std::size_t(tensor.span()) * sizeof(float));
}

Tensor Result::target(const Tensor &tensor) const {
  if (!rounds)
    return tensor;
  Tensor result = tensor;
  result.type = DType::f32;
  result.data = shared_result().data();
  return result;
}

void Result::round(const Tensor &tensor) const {
  if (rounds)
    cast_elements(target(tensor), tensor);
}

void append_clip(dnnl::post_ops &after, const fn::Clip &clip) {
  if (clip.alpha == 0.0f && clip.beta == HUGE_VALF)
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
  else
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_clip, clip.alpha,
                         clip.beta);
}

Primitive::Primitive(const dnnl::primitive &primitive,
                     const std::vector<std::pair<int, dnnl::memory>> &arguments)
    : primitive(primitive), owned(arguments) {
  for (auto &[index, memory] : owned)
    this->arguments.push_back({index, memory.get()});
  const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(
      primitive.get_primitive_desc(), dnnl_query_scratchpad_md, 0);
  if (!desc || dnnl_memory_desc_get_size(desc) == 0)
    return;
  scratchpad = view(dnnl::memory::desc(*desc));
  shared_scratchpad().reserve(dnnl_memory_desc_get_size(desc));
  this->arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
}

void Primitive::operator()() {
  if (scratchpad)
    scratchpad.set_data_handle(shared_scratchpad().data());
  dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), dnnl_stream().get(),
                             int(arguments.size()), arguments.data());
  if (status != dnnl_success)
    throw Error("oneDNN: execution failed with status " +
                std::to_string(int(status)));
}

dnnl::memory view(const dnnl::memory::desc &desc) {
  return dnnl::memory(desc, dnnl_engine(), DNNL_MEMORY_NONE);
}

void point(dnnl::memory &memory, const Tensor &tensor) {
  memory.set_data_handle(tensor.data);
}

int64_t spaced_rows(int64_t columns) {
  // Lines of equal offsets in pages of 4 KiB meet in a set of the first cache;
  // at 1 KiB a column of 32 rows still does not fit.
  return columns % 256 == 0 ? columns + 16 : columns;
}

Converted::Converted(const dnnl::memory::desc &plain) : outer(view(plain)) {}

Converted::Converted(const dnnl::memory::desc &plain,
                     const dnnl::memory::desc &chosen, Direction direction,
                     int slot)
    : outer(view(plain)), slot(slot) {
  if (plain == chosen)
    return;
  inner = view(chosen);
  shared_slot(slot).reserve(chosen.get_size());
  const bool to = direction == to_primitive;
  const dnnl::memory &from = to ? outer : inner, &into = to ? inner : outer;
  dnnl::reorder::primitive_desc pd(dnnl_engine(), from.get_desc(),
                                   dnnl_engine(), into.get_desc(),
                                   dnnl_attributes());
  reorder = Primitive(dnnl::reorder(pd),
                      {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, into}});
}

void Converted::point(void *data) {
  outer.set_data_handle(data);
  if (inner)
    inner.set_data_handle(shared_slot(slot).data());
}

void Converted::convert() {
  if (reorder)
    reorder();
}

} // namespace ffrt
