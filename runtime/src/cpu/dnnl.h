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
/// Points a view at the data of a tensor.
void point(dnnl::memory &memory, const Tensor &tensor);

/// Elements from row to row of a matrix such that rows do not share lines of
/// the first cache: `columns`, or a few more.
int64_t spaced_rows(int64_t columns);

/// The element type of a tensor of floats.
dnnl::memory::data_type data_type(const Tensor &tensor);

/// A factor of a product in a type that oneDNN has kernels for on this
/// processor: the tensor itself, or, where bf16 lacks instructions, its place
/// in shared memory number `slot` of kSlots, as f32. Those of one kernel have
/// slots of their own. For making a primitive.
Tensor factor(const Tensor &tensor, int slot);
/// The same with the data, for a call.
Tensor read_factor(const Tensor &tensor, int slot);

/// A plain tensor that a primitive reads or writes in a layout of its choice:
/// with the same layout the primitive works on the tensor itself, else on
/// memory that all kernels share, since they run one after the other. What is
/// there lasts for one call.
class Converted {
public:
  enum Direction { to_primitive, from_primitive };
  Converted() = default;
  /// In the tensor's own layout.
  explicit Converted(const dnnl::memory::desc &plain);
  /// In shared memory number `slot` of kSlots, unless the layouts are the same.
  /// Those of one kernel have slots of their own.
  Converted(const dnnl::memory::desc &plain, const dnnl::memory::desc &chosen,
            Direction direction, int slot);
  /// What the primitive gets as argument.
  const dnnl::memory &argument() const { return inner ? inner : outer; }
  /// Before every call: where the plain tensor is.
  void point(void *data);
  /// Moves the data if layouts differ: before the primitive runs for
  /// to_primitive, after it for from_primitive.
  void convert();

  static constexpr int kSlots = 3;

private:
  dnnl::memory outer, inner;
  int slot = 0;
  Primitive reorder;
};

} // namespace ffrt

#endif // FFRT_CPU_DNNL_H
