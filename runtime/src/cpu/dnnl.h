//===- dnnl.h - thin layer over oneDNN --------------------------*- C++ -*-===//
//
// A prepared primitive: memory objects and the argument list are made once, a
// call sets data handles only.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_DNNL_H
#define FFRT_CPU_DNNL_H

#include "ffrt/tensor.h"

#include <dnnl.hpp>
#include <string>
#include <vector>

namespace ffrt {

/// The process-wide CPU engine and its in-order stream.
dnnl::engine &dnnl_engine();
dnnl::stream &dnnl_stream();

/// Throws Error "<kernel>: oneDNN: <cause>".
[[noreturn]] void dnnl_failed(const char *kernel, const dnnl::error &cause);

/// New attributes for a primitive descriptor: its scratchpad is ours. A library
/// that allocates megabytes in every call has the system clear them each time.
dnnl::primitive_attr dnnl_attributes();

/// A primitive with its arguments, each a memory object that the owner keeps.
/// Primitives run one after the other and share one scratchpad.
class Primitive {
public:
  Primitive() = default;
  Primitive(const dnnl::primitive &primitive,
            const std::vector<std::pair<int, dnnl::memory>> &arguments);
  void operator()();
  explicit operator bool() const { return bool(primitive); }

private:
  dnnl::primitive primitive;
  std::vector<std::pair<int, dnnl::memory>> owned;
  dnnl::memory scratchpad;
  std::vector<dnnl_exec_arg_t> arguments;
};

/// A memory object of `desc` without data.
dnnl::memory view(const dnnl::memory::desc &desc);
/// A memory object of `desc` with its own buffer.
dnnl::memory buffer(const dnnl::memory::desc &desc);
/// Points a view at the data of a tensor.
void point(dnnl::memory &memory, const Tensor &tensor);

/// A plain tensor that a primitive reads or writes in a layout of its choice:
/// with the same layout the primitive works on the tensor itself, else on a
/// private buffer.
class Converted {
public:
  enum Direction { to_primitive, from_primitive };
  Converted() = default;
  Converted(const dnnl::memory::desc &plain, const dnnl::memory::desc &chosen,
            Direction direction);
  /// What the primitive gets as argument.
  const dnnl::memory &argument() const { return inner ? inner : outer; }
  void point(const Tensor &tensor);
  /// Moves the data if layouts differ: before the primitive runs for
  /// to_primitive, after it for from_primitive.
  void convert();

private:
  dnnl::memory outer, inner;
  Primitive reorder;
};

} // namespace ffrt

#endif // FFRT_CPU_DNNL_H
