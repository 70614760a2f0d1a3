//===- dnnl.cpp - thin layer over oneDNN ----------------------------------===//
#include "cpu/dnnl.h"

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

/// The memory that all primitives of this process scribble on: as large as the
/// greediest one needs. It grows while primitives are made, never in a call.
static dnnl::memory &shared_scratchpad(std::size_t bytes) {
  static dnnl::memory shared;
  if (!shared || shared.get_desc().get_size() < bytes)
    shared = buffer({{int64_t(bytes)},
                     dnnl::memory::data_type::u8,
                     dnnl::memory::format_tag::a});
  return shared;
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
  shared_scratchpad(dnnl_memory_desc_get_size(desc));
  this->arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
}

void Primitive::operator()() {
  if (scratchpad)
    scratchpad.set_data_handle(shared_scratchpad(0).get_data_handle());
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

dnnl::memory buffer(const dnnl::memory::desc &desc) {
  return dnnl::memory(desc, dnnl_engine());
}

void point(dnnl::memory &memory, const Tensor &tensor) {
  memory.set_data_handle(tensor.data);
}

Converted::Converted(const dnnl::memory::desc &plain,
                     const dnnl::memory::desc &chosen, Direction direction)
    : outer(view(plain)) {
  if (plain == chosen)
    return;
  inner = buffer(chosen);
  const bool to = direction == to_primitive;
  dnnl::memory &from = to ? outer : inner, &into = to ? inner : outer;
  reorder = Primitive(dnnl::reorder(from, into),
                      {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, into}});
}

void Converted::point(const Tensor &tensor) { ffrt::point(outer, tensor); }

void Converted::convert() {
  if (reorder)
    reorder();
}

} // namespace ffrt
